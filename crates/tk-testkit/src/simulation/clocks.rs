//! The clocks of a node: a wall that is wrong, and a monotonic side whose rate wanders.

use tk_core::{Monotonic, Timestamp};

/// Millionths of a microsecond in a microsecond.
const FINE: u64 = 1_000_000;

/// A node's clocks, as functions of the store's.
#[derive(Clone, Debug)]
pub(super) struct Clocks {
    /// The wall is ahead of the store's clock by so many microseconds.
    skew: i64,
    /// The monotonic reading at `since`, in millionths of a microsecond.
    then: u64,
    since: u64,
    /// The monotonic side advances by so many millionths of a microsecond in each.
    rate: u64,
}

impl Clocks {
    pub(super) const fn new(now: u64, origin: u64, skew: i64, rate: u64) -> Self {
        Self {
            skew,
            then: origin * FINE,
            since: now,
            rate,
        }
    }

    pub(super) const fn monotonic(&self, now: u64) -> Monotonic {
        Monotonic::from_micros(self.fine(now) / FINE)
    }

    pub(super) fn wall(&self, now: u64) -> Timestamp {
        Timestamp::from_micros(now.saturating_add_signed(self.skew))
    }

    /// From now on the monotonic side runs at `rate`.
    pub(super) const fn run_at(&mut self, now: u64, rate: u64) {
        self.then = self.fine(now);
        self.since = now;
        self.rate = rate;
    }

    /// Somebody sets the wall.
    pub(super) const fn set_skew(&mut self, skew: i64) {
        self.skew = skew;
    }

    const fn fine(&self, now: u64) -> u64 {
        self.then + (now - self.since) * self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_rate_moves_no_reading() {
        let mut clocks = Clocks::new(1_000, 50, -7, FINE - 1_000);
        let before = clocks.monotonic(3_000_999);
        clocks.run_at(3_000_999, FINE + 1_000);
        assert_eq!(clocks.monotonic(3_000_999), before);
        assert_eq!(before.as_micros(), 50 + 2_999_999 * 999 / 1_000);
        assert_eq!(clocks.wall(1_000).as_micros(), 993);
    }
}
