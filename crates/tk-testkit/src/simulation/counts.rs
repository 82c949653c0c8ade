//! What happened, so that a test can tell that it did.

use std::{fmt, ops::AddAssign};

macro_rules! counts {
    ($($(#[$doc:meta])* $field:ident: $words:literal,)*) => {
        /// What happened in one run, or in many.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counts {
            $($(#[$doc])* pub $field: u64,)*
            /// The least share of the limit admitted in a whole window of a hungry fleet, in thousandths.
            pub scarcest: Option<u64>,
        }

        impl AddAssign for Counts {
            fn add_assign(&mut self, other: Self) {
                $(self.$field += other.$field;)*
                self.scarcest = [self.scarcest, other.scarcest].into_iter().flatten().min();
            }
        }

        impl fmt::Display for Counts {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $(writeln!(f, "{:>12} {}", self.$field, $words)?;)*
                Ok(())
            }
        }

        impl Counts {
            /// What never happened.
            #[must_use]
            pub fn missing(&self) -> Vec<&'static str> {
                [$((self.$field, $words),)*]
                    .into_iter()
                    .filter_map(|(count, words)| (count == 0).then_some(words))
                    .collect()
            }
        }
    };
}

counts! {
    /// Runs that kept the bound.
    runs: "runs",
    /// Events.
    events: "events",
    /// Requests.
    requests: "requests",
    /// Units admitted.
    admitted: "units admitted",
    /// Requests that were denied.
    denied: "requests denied",
    /// Requests that failed since the store did.
    failed: "requests failed",
    /// Requests that lost patience.
    left: "requests that left",
    /// Leases asked for.
    leases: "leases asked for",
    /// Grants that were over on arrival.
    late: "grants that came too late",
    /// Messages lost.
    lost: "messages lost",
    /// Replies delivered twice.
    doubled: "replies delivered twice",
    /// Units handed back that the store took.
    taken_back: "units handed back and taken",
    /// Units handed back that the store refused.
    refused: "units handed back and refused",
    /// Units that ended unspent.
    stranded: "units stranded",
    /// Nodes that crashed.
    crashes: "crashes of a node",
    /// Walls that were set.
    steps: "steps of a wall clock",
    /// Times that the store was down.
    outages: "restarts of the store with its data",
    /// Times that the store forgot everything, or the key was reset.
    forgotten: "times that the store forgot",
    /// Runs that admitted more than the limit in some window, as carried-over credits may.
    above_limit: "runs above the limit",
    /// Runs that admitted all that the bound allows.
    at_bound: "runs that reached the bound",
}
