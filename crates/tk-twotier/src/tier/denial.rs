//! A denial remembered.

use std::time::Duration;

use tk_core::{Decision, Monotonic};

/// The cheapest cost that was denied for a key, and until when that is known to hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Denial {
    cost: u64,
    decision: Decision,
    sent: Monotonic,
    ends: Monotonic,
}

impl Denial {
    /// Remembers `decision` on `cost`, which was asked for at `sent`.
    ///
    /// The retry time counts from the send instant: the store decided later, so it cannot end too late but for what the clock lags. That is
    /// not taken off, as it is of a lease: what it costs is a denial too many.
    pub(crate) fn of(cost: u64, decision: Decision, sent: Monotonic, max_age: Duration) -> Self {
        Self {
            cost,
            decision,
            sent,
            ends: sent + decision.retry_after.min(max_age),
        }
    }

    /// The same denial for `cost` at `now`, if it is still known to hold for so much.
    pub(crate) fn answer(&self, now: Monotonic, cost: u64) -> Option<Decision> {
        let holds = cost >= self.cost && now < self.ends;
        holds.then(|| Decision {
            retry_after: self
                .decision
                .retry_after
                .saturating_sub(now.since(self.sent)),
            ..self.decision
        })
    }

    /// Whether it has nothing to say any more.
    pub(crate) fn is_over(&self, now: Monotonic) -> bool {
        now >= self.ends
    }

    pub(crate) const fn cost(&self) -> u64 {
        self.cost
    }
}
