//! The lease protocol for one key: what a node may spend, asks for, keeps and hands back.
//!
//! A node that spends units which a shared store has charged in advance is safe only as long as the store's
//! window still counts them. The node cannot see that window. It knows how long it had left when the
//! store answered, and that this was after the request was sent. All rules here follow from making the
//! pessimistic choice at each step:
//!
//! - a grant ends its span after its request was *sent*, less a margin for drift and for a clock that lags: never after the window itself;
//! - a grant that is over when it arrives is dropped, for the window that it was charged to is gone;
//! - waiters are charged in the very step that applies the grant, so that no node enters a window with a whole batch;
//! - a carried-over grant that nobody waits for is trimmed to one unit less than a batch, for the same reason;
//! - a unit is handed back at most once, with the tag of the grant that it came from.
//!
//! The ledger performs no I/O and reads no clock: each transition takes the instant as an argument, and what has to be
//! done comes out as a value: an [`Ask`] to send, a [`Settlement`] to tell the waiters,
//! [`HandBack`]s to send. [`TwoTier`](crate::TwoTier), [`LeaseSpender`](crate::LeaseSpender) and the breadth-first
//! checker of the specifications drive this one type, which is why it is comparable and hashable.

mod answer;
mod aside;
mod ask;
mod credits;
mod explore;
mod fault;
mod purse;
mod rules;
mod settlement;

pub use ask::Ask;
pub use credits::HandBack;
#[cfg(feature = "faults")]
pub use fault::Fault;
pub(crate) use purse::{Packed, Purse, WallOffset};
pub use rules::LeaseRules;
pub use settlement::{Settlement, Verdict};

use std::collections::VecDeque;

use tk_core::{Monotonic, Timestamp};

use self::{aside::Aside, ask::Flight, credits::Credits};
use crate::queue::place_of;

/// Names a request that waits for a lease, among those of one ledger.
pub type Waiter = u64;

/// One key's credits, lease in flight and waiters.
///
/// The driver keeps three habits: after a [`spend`](Self::spend) that missed it [`join`](Self::join)s or gives up; after
/// joining, after an answer that left waiters, and after a spend that left no more than the low-water mark, it calls
/// [`begin`](Self::begin) and sends what comes out; and it brings every answer, or the news that none will come.
///
/// ```
/// use core::time::Duration;
/// use tk_core::{FixedWindow, Grant, Monotonic, Strategy, Timestamp};
/// use tk_twotier::{LeaseLedger, LeaseRules, Spend};
///
/// let rules = LeaseRules::new(10)?.coupled(true);
/// let mut ledger = LeaseLedger::new();
/// let sent = Monotonic::from_micros(5);
/// assert_eq!(ledger.spend(sent, 1), Spend::Miss);
/// ledger.join(0, 1);
/// let ask = ledger.begin(&rules, sent).expect("a request waits and nothing is in flight");
///
/// // Elsewhere, the store that all nodes share:
/// let strategy = FixedWindow::per_second(100)?;
/// let mut state = Default::default();
/// let now = Timestamp::from_secs(7);
/// let grant = Grant::charge::<_, ()>(&strategy, &mut state, now, ask.want(), ask.at_least(), 0)
///     .expect("the batch is below the capacity");
///
/// let settlement = ledger.granted(&rules, ask, Monotonic::from_micros(900), now, &grant);
/// assert_eq!(settlement.verdicts.len(), 1);
/// assert_eq!(ledger.credits(), 9);
/// # Ok::<(), tk_core::ConfigError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LeaseLedger {
    credits: Credits,
    /// Rule 1: one lease in flight at most.
    flight: Option<Flight>,
    /// Who waits for it, first come first served.
    waiters: VecDeque<(Waiter, u64)>,
    /// Grants in a row that were over when they arrived.
    late: u8,
    estimate: Aside<Estimate>,
    tally: Aside<Tally>,
}

/// What is told about the span of the newest grant. No transition reads it.
#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    ends: Monotonic,
    reset_at: Timestamp,
}

impl Estimate {
    /// Credits that outlive their span are replenished now, as far as this node can tell.
    #[inline]
    fn reset_at(&self, now: Monotonic) -> Timestamp {
        self.reset_at + now.since(self.ends)
    }
}

/// What has been counted. No transition reads it.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// Units served in the window that ends at `window_ends`.
    served: u64,
    window_ends: Monotonic,
    /// Units that ended unspent since they were last [taken](LeaseLedger::take_stranded).
    stranded: u64,
}

/// The outcome of [`LeaseLedger::spend`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a miss has been charged nothing"]
#[non_exhaustive]
pub enum Spend {
    /// Charged to the credits at hand.
    Served(Served),
    /// The credits at hand do not cover it, or others wait before it. Nothing was charged.
    Miss,
}

/// What a request that was charged to credits may be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Served {
    /// Credits left at this node.
    pub remaining: u64,
    /// The end of the grant's span, by this node's wall clock: of the newest one, if credits are carried over.
    pub reset_at: Timestamp,
}

impl LeaseLedger {
    /// A key that holds nothing and asks for nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            credits: Credits::NONE,
            flight: None,
            waiters: VecDeque::new(),
            late: 0,
            estimate: Aside(Estimate {
                ends: Monotonic::ORIGIN,
                reset_at: Timestamp::EPOCH,
            }),
            tally: Aside(Tally {
                served: 0,
                window_ends: Monotonic::ORIGIN,
                stranded: 0,
            }),
        }
    }

    /// Charges `cost` to the credits at hand, if they cover it and nobody waits before it.
    ///
    /// Those who come later do not pass those who wait, or a dear request would starve. Cost 0 is always served.
    #[inline]
    pub fn spend(&mut self, now: Monotonic, cost: u64) -> Spend {
        if self.credits.some_ended(now) {
            let _ = self.expire(now);
        }
        if cost > self.credits.total() || (cost > 0 && !self.waiters.is_empty()) {
            return Spend::Miss;
        }
        Spend::Served(self.charge(now, cost))
    }

    /// Puts a request that missed into the queue. It will be told in a [`Settlement`], unless it leaves.
    pub fn join(&mut self, waiter: Waiter, cost: u64) {
        self.waiters.push_back((waiter, cost));
    }

    /// Takes a request that has lost patience out of the queue; whether it was in it. A lease in flight stays in flight.
    pub fn leave(&mut self, waiter: Waiter) -> bool {
        let place = place_of(&self.waiters, waiter, |(id, _)| *id);
        place.is_some_and(|place| self.waiters.remove(place).is_some())
    }

    /// Takes all requests that cost more than `limit` out of the queue.
    pub(crate) fn leave_above(&mut self, limit: u64) {
        self.waiters.retain(|(_, cost)| *cost <= limit);
    }

    /// Begins a lease if one is due and none is in flight: for the first in the queue, or since the credits are low.
    ///
    /// The caller sends it at once: the grant's span is counted from `now`.
    pub fn begin(&mut self, rules: &LeaseRules, now: Monotonic) -> Option<Ask> {
        // Rule 1: one lease in flight, and misses wait for it.
        // SPEC: AsyncLeasing!OutstandingWithinBatch
        if self.flight.is_some() && !rules.leases_twice() {
            return None;
        }
        let _ = self.expire(now);
        let held = self.credits.total();
        let ask = match self.waiters.front() {
            Some((_, cost)) if *cost > held => Ask::for_waiter(rules, now, held, *cost),
            Some(_) => return None,
            // Rule 6: refill in the background, a whole batch on top of what is left.
            None if rules.refills_at(held) => Ask::refill(rules, now),
            None => return None,
        };
        self.flight = Some(Flight::of(&ask));
        Some(ask)
    }

    /// Forgets the credits that have ended, and returns how many.
    pub fn expire(&mut self, now: Monotonic) -> u64 {
        let ended = self.credits.expire(now);
        self.tally.0.stranded += ended;
        ended
    }

    /// Gives up all credits, for an idle, evicted or closed key. What comes out is sent to the store, once.
    ///
    /// Credits whose span is over are left out, for the store would refuse them.
    #[must_use = "credits are lost unless they are handed back"]
    pub fn hand_back(&mut self, rules: &LeaseRules, now: Monotonic) -> Vec<HandBack> {
        // Rule 5: tagged, and forgotten here before they are sent anywhere.
        // SPEC: CreditReturn!OutstandingIsDeducted
        // SPEC: CreditReturn!NeverOverAdmits
        // SPEC: CreditReturn!OvershootWithinCarry
        let held = self.credits.total();
        let backs = self.credits.hand_back(rules, now);
        let returned: u64 = backs.iter().map(|back| back.amount).sum();
        self.tally.0.stranded += held.saturating_sub(returned);
        backs
    }

    /// The key was reset in the store: what was granted before counts no more.
    ///
    /// Call it when the store has confirmed, so that no grant from before the reset is missed. Waiters go on waiting.
    pub fn reset(&mut self, rules: &LeaseRules) {
        // Rule 8. The lease in flight may have been granted before or after the reset; it is not used either way.
        // SPEC: Reset!SinceResetWithinOthersBatches
        // SPEC: CreditReturn!OvershootWithinOthersCredits
        if !rules.spends_after_reset() {
            self.tally.0.stranded += self.credits.total();
            self.credits = Credits::NONE;
            if let Some(flight) = &mut self.flight {
                flight.is_void = true;
            }
        }
        self.late = 0;
    }

    /// Credits at hand, ended or not.
    #[must_use]
    pub const fn credits(&self) -> u64 {
        self.credits.total()
    }

    /// Whether a lease is in flight.
    #[must_use]
    pub const fn is_asking(&self) -> bool {
        self.flight.is_some()
    }

    /// How many requests wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiters.len()
    }

    /// Whether there is nothing to lose by forgetting this key.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.credits.total() == 0 && self.flight.is_none() && self.waiters.is_empty()
    }

    /// Units served in the window that has ended by `now`, once for each window in which a grant arrived.
    pub fn take_demand(&mut self, now: Monotonic) -> Option<u64> {
        let tally = &mut self.tally.0;
        if tally.window_ends == Monotonic::ORIGIN || now < tally.window_ends {
            return None;
        }
        tally.window_ends = Monotonic::ORIGIN;
        Some(std::mem::take(&mut tally.served))
    }

    /// Units that ended unspent since the last call.
    pub fn take_stranded(&mut self) -> u64 {
        std::mem::take(&mut self.tally.0.stranded)
    }

    /// Takes `cost`, which the credits cover.
    #[inline]
    fn charge(&mut self, now: Monotonic, cost: u64) -> Served {
        let reset_at = self.estimate().reset_at(now);
        self.credits.take(cost);
        self.tally.0.served += cost;
        Served {
            remaining: self.credits.total(),
            reset_at,
        }
    }

    /// What is told about the credits at hand: those that end with their span are replenished when the first of them end.
    fn estimate(&self) -> Estimate {
        let newest = self.estimate.0;
        let ends = newest.ends.min(self.credits.valid_until());
        Estimate {
            ends,
            reset_at: newest.reset_at - newest.ends.since(ends),
        }
    }
}
