//! What becomes of a message.

use crate::Random;

/// How bad the network is in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// An ordinary message takes up to so many microseconds.
    pub(super) usual: u64,
    /// A slow one up to so many.
    pub(super) slowest: u64,
    /// In a hundred messages, how many are slow.
    pub(super) slow: u64,
    /// How many are lost.
    pub(super) lost: u64,
    /// How many replies arrive twice.
    pub(super) twice: u64,
}

/// A message takes at least so long: no two requests of a node leave at one reading of its clock.
const FASTEST: u64 = 5;

impl Network {
    pub(super) fn draw(random: &mut Random, window: u64) -> Self {
        let usual = window / random.choose(&[1_000, 1_000, 100, 20, 5]);
        Self {
            usual: usual.max(2 * FASTEST),
            slowest: window * random.within(1, 3) / 2,
            slow: random.choose(&[0, 0, 2, 10, 30]),
            lost: random.choose(&[0, 0, 1, 5, 20]),
            twice: random.choose(&[0, 2, 10, 30]),
        }
    }

    /// Messages that are fast and arrive.
    pub(super) const fn calm(window: u64) -> Self {
        Self {
            usual: window / 2_000 + FASTEST,
            slowest: 0,
            slow: 0,
            lost: 0,
            twice: 0,
        }
    }

    pub(super) fn loses(&self, random: &mut Random) -> bool {
        random.chance(self.lost)
    }

    pub(super) fn doubles(&self, random: &mut Random) -> bool {
        random.chance(self.twice)
    }

    /// How long a message takes.
    pub(super) fn delay(&self, random: &mut Random) -> u64 {
        let most = if random.chance(self.slow) {
            self.slowest
        } else {
            self.usual
        };
        random.within(FASTEST, most)
    }
}
