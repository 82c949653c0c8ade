//! Being written.

#![forbid(unsafe_code)]

mod ledger;
mod sizing;

#[cfg(feature = "faults")]
pub use ledger::Fault;
pub use ledger::{
    Ask, HandBack, LeaseLedger, LeaseRules, Served, Settlement, Spend, Verdict, Waiter,
};
pub use sizing::{LeaseSizer, PredictiveSizer, Sizer, SizerOptions, Sizers, Sizing, eoq_optimum};
