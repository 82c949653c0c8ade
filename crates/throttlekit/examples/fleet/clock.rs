//! The clock of a node, wrong in its own way.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use throttlekit::{Clock, Monotonic, SystemClock, Timestamp};

use crate::args::Args;

/// When a node charged last, by the clock of the shared store.
///
/// A node asks one thing after the other, so what was charged last is what was just admitted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Charged(Arc<AtomicU64>);

impl Charged {
    pub(crate) fn set(&self, at: u64) {
        self.0.store(at, Ordering::Release);
    }

    pub(crate) fn at(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// A wall that is ahead or behind, and a monotonic side that runs too fast or too slow.
#[derive(Clone, Debug)]
pub(crate) struct NodeClock {
    charged: Charged,
    /// How far the wall is ahead, in microseconds; behind if below zero.
    skew: i64,
    start: u64,
    /// The monotonic side gains so many parts per million; loses if below zero.
    drift_ppm: i64,
}

impl NodeClock {
    /// Walls of even nodes are ahead and those of odd ones behind, the last node's by the whole skew.
    pub(crate) fn new(args: &Args, node: u64, charged: Charged) -> Self {
        let whole = i64::try_from(args.skew.as_micros()).unwrap_or(i64::MAX);
        let share = (node / 2 + 1) as i64;
        let of = args.nodes.div_ceil(2) as i64;
        let skew = (i128::from(whole) * i128::from(share) / i128::from(of)) as i64;
        let sign = if node.is_multiple_of(2) { 1 } else { -1 };
        Self {
            charged,
            skew: sign * skew,
            start: SystemClock.now().as_micros(),
            // Half of the margin that leases allow for by default.
            drift_ppm: -sign * 500,
        }
    }
}

impl Clock for NodeClock {
    fn now(&self) -> Timestamp {
        let shared = SystemClock.now().as_micros();
        Timestamp::from_micros(shared.saturating_add_signed(self.skew))
    }

    /// What is charged to credits is charged at the last reading before.
    fn monotonic(&self) -> Monotonic {
        let shared = SystemClock.now().as_micros();
        self.charged.set(shared);
        let passed = shared - self.start;
        let gained = i128::from(passed) * i128::from(self.drift_ppm) / 1_000_000;
        Monotonic::from_micros(passed.saturating_add_signed(gained as i64))
    }
}
