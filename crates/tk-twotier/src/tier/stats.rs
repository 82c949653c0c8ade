//! Counters.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What a limiter has done since it was built: a snapshot, each number exact, not all of one instant.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Stats {
            $( $(#[$doc])* pub $name: u64, )*
            /// Keys in memory now.
            pub keys: u64,
        }

        /// The counters behind [`Stats`].
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $( pub(crate) $name: Counter, )*
        }

        impl Counters {
            pub(crate) fn snapshot(&self, keys: u64) -> Stats {
                Stats { $( $name: self.$name.0.load(Relaxed), )* keys }
            }
        }
    };
}

counters! {
    /// Checks admitted from credits at hand.
    admitted_locally,
    /// Checks admitted by the shared store, or by a lease that they waited for.
    admitted_by_l2,
    /// Checks admitted by the failure policy.
    admitted_by_policy,
    /// Checks denied from memory.
    denied_locally,
    /// Checks denied by the shared store.
    denied_by_l2,
    /// Checks denied by the failure policy.
    denied_by_policy,
    /// Checks that ended in an error.
    failed,
    /// Calls to the shared store: checks, peeks, leases, hand-backs, resets.
    l2_calls,
    /// Calls among them that it could not answer.
    l2_failures,
    /// Leases among them.
    leases,
    /// Leases among those that were begun in the background.
    refills,
    /// Units granted.
    granted,
    /// Units served from credits.
    served,
    /// Units that ended unspent: with their window, or for want of an answer to a hand-back.
    stranded,
    /// Units that were over when their grant arrived.
    late,
    /// Units sent back to the shared store.
    handed_back,
    /// Units among them that it took.
    taken_back,
    /// Keys that made room for others.
    evicted,
}

impl Stats {
    /// Checks admitted.
    #[must_use]
    pub const fn admitted(&self) -> u64 {
        self.admitted_locally + self.admitted_by_l2 + self.admitted_by_policy
    }

    /// Checks denied.
    #[must_use]
    pub const fn denied(&self) -> u64 {
        self.denied_locally + self.denied_by_l2 + self.denied_by_policy
    }
}

/// A number that only grows.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, amount: u64) {
        if amount > 0 {
            self.0.fetch_add(amount, Relaxed);
        }
    }

    pub(crate) fn one(&self) {
        self.0.fetch_add(1, Relaxed);
    }
}
