//! One limit for a whole fleet, without a round trip per request, and with a bound that holds.
//!
//! A shared store (L2) keeps the count; each node keeps a little of it in memory (L1). [`TwoTier`] is that limiter, in
//! one of three modes:
//!
//! | mode | asks the shared store | admitted per window, at most |
//! |---|---|---|
//! | [`Mode::Strict`] | for every request | the limit |
//! | [`Mode::CachedDeny`] | for every request that may be allowed | the limit |
//! | [`Mode::Leased`], window coupled | about once per batch | the limit, for any number of nodes |
//! | [`Mode::Leased`], carried over | about once per batch | limit + nodes × (batch - 1) |
//!
//! [`LeaseSpender`] is the same for a client that talks to a limit service instead of a store. Both drive one
//! state machine, [`LeaseLedger`], and so do the model checker and the fleet simulation: what is checked is what ships.
//!
//! # Why the bound holds
//!
//! The store deducts a whole batch when it grants it, so that units can be spent later without asking. That is safe as long as they are spent
//! in the window that they were deducted from, and a node cannot see that window: clocks differ, messages take their
//! time, nodes stop and go on. Each rule of the protocol removes one way in which a unit could be spent in a window
//! that did not pay for it, or be paid back twice:
//!
//! 1. **One lease in flight** per key and node. Else a stampede would hold a batch per request.
//! 2. **The store says how long a grant lasts**, by its own clock, as a length of time. An instant would have to be read on another clock.
//! 3. **The node counts that time from the instant it sent the request**, on its monotonic clock, less a margin for drift, and less
//!    what the clock says its readings may be [behind](tk_core::Clock::lag). The store measured it
//!    later, so the node's end is never later than the store's, however slow request and reply are. Counting from
//!    the reply's arrival, or comparing the store's reset time with the node's wall clock, breaks the bound.
//! 4. **A grant that is over when it arrives is dropped**; **waiters are charged in the step that applies their grant**; and **a carried-over grant
//!    that nobody waits for is trimmed** to a batch less one. So no node enters a window with a whole batch: that is the "- 1" of the bound.
//! 5. **A hand-back carries its grant's tag and is sent once.** The store refuses it when the window, the slice or the
//!    count that it came from is gone.
//! 6. **Refills in the background** are grants that nobody waits for: kept whole, they raise the carried-over bound to limit + nodes ×
//!    (batch + low water), and leave the coupled one alone.
//! 7. **When the store fails**, credits are served first, then the [`FailurePolicy`] answers.
//! 8. **A reset voids** this node's credits and the grants under way.
//!
//! A strategy without windows (GCRA, token bucket, log) has no edge that all units share, and coupling changes little: in any
//! span of time a fleet admits at most what the strategy allows there and nodes × batch.
//!
//! What is assumed: the clocks' rates differ by less than the margin; the monotonic clock counts the time a machine sleeps (Linux's does
//! not: the feature `boot-clock` has one that does) and lags by no more than it says; the store's clock does not step forward within
//! a window, and it forgets nothing. A breach admits at most
//! the credits outstanding.

#![forbid(unsafe_code)]

#[cfg(all(feature = "boot-clock", target_os = "linux"))]
mod boot_clock;
mod ledger;
mod line;
mod queue;
mod reading;
mod sizing;
mod spender;
mod sync;
mod tier;

#[cfg(all(feature = "boot-clock", target_os = "linux"))]
pub use boot_clock::BootClock;
#[cfg(feature = "faults")]
pub use ledger::Fault;
pub use ledger::{
    Ask, HandBack, LeaseLedger, LeaseRules, Served, Settlement, Spend, Verdict, Waiter,
};
pub use sizing::{LeaseSizer, PredictiveSizer, Sizer, SizerOptions, Sizers, Sizing, eoq_optimum};
pub use spender::{
    Applied, Demand, LeaseSpender, LeaseSpenderBuilder, Refresh, SpendError, Spending,
};
pub use tier::{
    DenyCache, FailurePolicy, Lease, LeaseAnswer, Local, Mode, Observer, Outcome, Stats, Tier,
    TierError, TwoTier, TwoTierBuilder,
};
