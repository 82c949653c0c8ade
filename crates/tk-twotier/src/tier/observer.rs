//! Who wants to be told.

use std::time::Duration;

/// Is told what a limiter does, as it happens. All methods do nothing unless they are implemented.
///
/// The unit type observes nothing, and a limiter without observer pays nothing. Methods run on the
/// path of a request or of a lease, outside of locks; they should be quick.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use tk_twotier::{Observer, Outcome, Tier};
///
/// #[derive(Default)]
/// struct Denials(AtomicU64);
///
/// impl Observer for Denials {
///     fn checked(&self, outcome: Outcome, _tier: Tier, _cost: u64) {
///         if outcome == Outcome::Denied {
///             self.0.fetch_add(1, Ordering::Relaxed);
///         }
///     }
/// }
/// ```
pub trait Observer: Send + Sync + 'static {
    /// A check was answered.
    fn checked(&self, outcome: Outcome, tier: Tier, cost: u64) {
        let _ = (outcome, tier, cost);
    }

    /// A lease was answered.
    fn leased(&self, answer: LeaseAnswer) {
        let _ = answer;
    }

    /// A hand-back of `amount` was answered: the units that the store took, or nothing if it could not answer.
    fn handed_back(&self, amount: u64, applied: Option<u64>) {
        let _ = (amount, applied);
    }

    /// Units ended unspent.
    fn stranded(&self, amount: u64) {
        let _ = amount;
    }
}

impl Observer for () {}

impl<O: Observer> Observer for std::sync::Arc<O> {
    fn checked(&self, outcome: Outcome, tier: Tier, cost: u64) {
        (**self).checked(outcome, tier, cost);
    }

    fn leased(&self, answer: LeaseAnswer) {
        (**self).leased(answer);
    }

    fn handed_back(&self, amount: u64, applied: Option<u64>) {
        (**self).handed_back(amount, applied);
    }

    fn stranded(&self, amount: u64) {
        (**self).stranded(amount);
    }
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// It was admitted.
    Admitted,
    /// It was denied.
    Denied,
    /// There was no decision.
    Failed,
}

/// Where the answer came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Tier {
    /// Credits or a denial at hand.
    L1,
    /// The shared store: a check, or a lease that the request waited for.
    L2,
    /// The failure policy.
    Policy,
}

/// How a lease ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeaseAnswer {
    /// Units were granted, and are applied.
    Granted {
        /// Units asked for.
        want: u64,
        /// Units granted.
        amount: u64,
        /// How long they last, by the store.
        span: Duration,
    },
    /// Units were granted, and were over when the answer arrived.
    Late {
        /// Units lost.
        amount: u64,
    },
    /// Nothing was to be had.
    Denied {
        /// Units asked for.
        want: u64,
    },
    /// The store could not answer.
    Failed {
        /// Units asked for.
        want: u64,
    },
}
