//! Being written.

#![forbid(unsafe_code)]

mod ledger;
mod line;
mod sizing;
mod spender;
mod sync;
mod tier;

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
