//! Numbers drawn from a seed.

/// A small generator (SplitMix64): the same seed gives the same numbers on every machine and in every version.
///
/// ```
/// use tk_testkit::Random;
///
/// let (mut one, mut other) = (Random::new(7), Random::new(7));
/// assert_eq!(one.next(), other.next());
/// assert!((3..=5).contains(&one.within(3, 5)));
/// ```
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator that starts at `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number from `low` to `high`, both included; `low` if that is the larger.
    pub const fn within(&mut self, low: u64, high: u64) -> u64 {
        if high <= low {
            return low;
        }
        let span = (high - low) as u128 + 1;
        low + ((self.next() as u128 * span) >> 64) as u64
    }

    /// A number of any size up to `high`: small ones are as likely as large ones.
    pub const fn up_to(&mut self, high: u64) -> u64 {
        let bits = self.within(0, 64 - high.leading_zeros() as u64);
        let below = if bits == 64 {
            u64::MAX
        } else {
            (1 << bits) - 1
        };
        let below = if below < high { below } else { high };
        self.within(0, below)
    }

    /// True in `percent` of a hundred draws.
    pub const fn chance(&mut self, percent: u64) -> bool {
        self.within(1, 100) <= percent
    }

    /// One of `choices`, which must not be empty.
    ///
    /// # Panics
    ///
    /// If there is nothing to choose from.
    pub fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        assert!(!choices.is_empty(), "there is nothing to choose from");
        choices[self.within(0, choices.len() as u64 - 1) as usize]
    }
}
