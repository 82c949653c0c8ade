//! A lease on its way.

use tk_core::Monotonic;

use super::LeaseRules;

/// A lease to send to the store, and later the proof of when it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "the ledger waits for the answer"]
pub struct Ask {
    sent: Monotonic,
    want: u64,
    at_least: u64,
    /// The most carried-over credits that the node keeps once the grant is applied.
    keep: u64,
}

/// The lease in flight, known by the instant it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Flight {
    pub(super) sent: Monotonic,
    /// Whether the key was reset since: whatever is granted belongs to nobody.
    pub(super) is_void: bool,
}

impl Ask {
    /// What the first waiter lacks, filled up to a batch.
    pub(super) fn for_waiter(rules: &LeaseRules, sent: Monotonic, held: u64, cost: u64) -> Self {
        debug_assert!(held < cost, "a request that is covered does not wait");
        Self {
            sent,
            want: rules.batch().max(cost) - held,
            at_least: cost - held,
            keep: rules.keeps(),
        }
    }

    /// A batch that nobody waits for.
    pub(super) const fn refill(rules: &LeaseRules, sent: Monotonic) -> Self {
        Self {
            sent,
            want: rules.batch(),
            at_least: 1,
            keep: rules.keeps(),
        }
    }

    /// The instant it was sent.
    #[must_use]
    pub const fn sent(&self) -> Monotonic {
        self.sent
    }

    /// Units to ask for.
    #[must_use]
    pub const fn want(&self) -> u64 {
        self.want
    }

    /// The least number of units that would be of use.
    #[must_use]
    pub const fn at_least(&self) -> u64 {
        self.at_least
    }

    pub(super) const fn keep(&self) -> u64 {
        self.keep
    }

    /// The same lease, sent `by` earlier.
    pub(super) fn earlier(self, by: std::time::Duration) -> Self {
        Self {
            sent: self.sent - by,
            ..self
        }
    }
}

impl Flight {
    pub(super) const fn of(ask: &Ask) -> Self {
        Self {
            sent: ask.sent,
            is_void: false,
        }
    }
}
