//! Remembers where the water stands, so that most refusals need not look at the trees.
//!
//! Let `S(k)` be what would be used if everyone up to the place `k` in line rose to the level there and all others stayed where they are. A
//! request due at `k` is refused if and only if `S(k)` is above the budget, as long as everyone's cost fits. `S` grows with `k`, so what was refused once
//! refuses everyone due later, until something lowers `S`; and little does:
//!
//! - A tenant that is served leaves `S(k)` as it was, if it is still due up to `k`, or was due later. If it passes `k`, what it had left to rise is set free: less than
//!   one cost.
//! - A tenant that grows idle, or asks for another cost or with another weight, sets free at most its weight times the level.
//! - Whoever comes raises `S`.
//!
//! So a bar is a place with a slack, by how much `S` was above the budget, and each of these takes its part of the slack. When none is left, the next request looks at
//! the trees again. A low bar refuses many but has little slack and a high one has much, so there is one for each order of
//! magnitude of the slack. All bars fall when the budget changes.

use super::tree::Key;

/// Bars at once; slacks of one bar are within a factor of 2^8.
const BARS: usize = 7;

/// Places in line from which on everyone is refused.
#[derive(Debug, Default)]
pub(super) struct Bars {
    bars: [Bar; BARS],
    /// No bar is lower.
    lowest: Option<Key>,
}

/// It stands as long as it has slack.
#[derive(Clone, Copy, Debug, Default)]
struct Bar {
    at: Key,
    slack: u64,
}

impl Bars {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// By how much, at least, a request due at `key` is refused; 0 if that is not known.
    #[inline]
    pub(super) fn slack(&self, key: &Key) -> u64 {
        if self.lowest.is_none_or(|lowest| key.is_before(&lowest)) {
            return 0;
        }
        let standing = self.bars.iter().filter(|bar| !key.is_before(&bar.at));
        standing.map(|bar| bar.slack).max().unwrap_or(0)
    }

    /// A request due at `at` was refused by more than `slack`.
    pub(super) fn raise(&mut self, at: Key, slack: u64) {
        let Some(magnitude) = slack.checked_ilog2() else {
            return;
        };
        let bar = &mut self.bars[(magnitude as usize / 8).min(BARS - 1)];
        if bar.slack == 0 || at.is_before(&bar.at) {
            *bar = Bar { at, slack };
            self.find_lowest();
        }
    }

    /// A tenant that was due at `from` was served at `cost`, and is due at `to`.
    #[inline]
    pub(super) fn moved(&mut self, from: &Key, to: &Key, cost: u64) {
        if self.lowest.is_some_and(|lowest| lowest.is_before(to)) {
            self.weaken(|bar| {
                if !bar.at.is_before(from) && bar.at.is_before(to) {
                    cost
                } else {
                    0
                }
            });
        }
    }

    /// A tenant of this weight that was due at `from` is not in line any more.
    pub(super) fn left(&mut self, from: &Key, weight: u32) {
        self.weaken(|bar| {
            if bar.at.is_before(from) {
                0
            } else {
                bar.at.level.above().saturating_mul(u64::from(weight))
            }
        });
    }

    fn weaken(&mut self, by: impl Fn(&Bar) -> u64) {
        let mut fell = false;
        for bar in self.bars.iter_mut().filter(|bar| bar.slack > 0) {
            bar.slack = bar.slack.saturating_sub(by(bar));
            fell |= bar.slack == 0;
        }
        if fell {
            self.find_lowest();
        }
    }

    fn find_lowest(&mut self) {
        let standing = self.bars.iter().filter(|bar| bar.slack > 0);
        self.lowest = standing.map(|bar| bar.at).min();
    }
}
