//! What an answer of the store means for those who wait.

use tk_core::Decision;

use super::{HandBack, Served, Waiter};

/// What to do after an answer: tell the waiters, and send the hand-back if there is one.
#[derive(Debug, Default, PartialEq, Eq)]
#[must_use = "waiters wait to be told"]
#[non_exhaustive]
pub struct Settlement {
    /// Who has been decided on, in the order in which they came. They have left the queue.
    pub verdicts: Vec<(Waiter, Verdict)>,
    /// Units of the grant that are not kept.
    pub hand_back: Option<HandBack>,
    /// Units of the grant that are lost, since it was over when it arrived.
    pub late: u64,
    /// Whether the store had nothing to give, and that is still of interest.
    pub is_denial: bool,
}

/// What one waiter is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// It has been charged.
    Served(Served),
    /// The store denied it, or something no dearer than what it lacked.
    Denied(Decision),
    /// The store could not answer.
    Failed,
    /// Grants came too late, time and again.
    TooLate,
}
