//! Units per weight as one integer, so that order is exact and comparing is cheap.
//!
//! Max-min fairness is about levels: what a tenant has used for each unit of its weight. A level is a
//! fraction, and floating point would order neighbours at random. So a level is the fraction
//! times 2^72, rounded up to a whole number. That loses nothing:
//!
//! - Two fractions whose denominators are weights, which are at most 2^20, differ by at least 2^-40 or not at
//!   all, so different levels stay different and keep their order.
//! - A fraction with a weight below it and one with a sum of weights, at most 2^52, below it differ by at
//!   least 2^-72 or not at all. Both being rounded up, `a <= b` holds of the fractions if and only if it
//!   holds of the integers.
//!
//! Units are at most 2^49 (what was used and the next cost), so a level has at most 121 bits.

/// Binary digits after the point.
const FRACTION: u32 = 72;

/// Units per weight, exactly ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Level {
    high: u64,
    low: u64,
}

impl Level {
    /// The level of `units` spread over `weight`; below every other one if `weight` is 0, which no tenant has.
    pub(crate) fn of(units: u64, weight: u64) -> Self {
        if weight == 0 {
            return Self::default();
        }
        let bits = if weight < 1 << 28 {
            short_division(units, weight)
        } else {
            (u128::from(units) << FRACTION).div_ceil(u128::from(weight))
        };
        Self {
            high: (bits >> 64) as u64,
            low: bits as u64,
        }
    }

    /// A whole number of units per weight that is above it.
    pub(crate) const fn above(&self) -> u64 {
        (self.high >> (FRACTION - 64)).saturating_add(1)
    }

    /// As one number.
    #[inline(always)]
    pub(crate) const fn bits(&self) -> u128 {
        (self.high as u128) << 64 | self.low as u128
    }
}

/// The same quotient, digit by digit in base 2^36: three divisions that the machine has, instead of one that it has not.
fn short_division(units: u64, weight: u64) -> u128 {
    let (whole, rest) = (units / weight, units % weight);
    let first = (rest << 36) / weight;
    let rest = (rest << 36) % weight;
    let second = (rest << 36).div_ceil(weight);
    (u128::from(whole) << FRACTION) + (u128::from(first) << 36) + u128::from(second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quickcheck::quickcheck;

    quickcheck! {
        fn order_is_that_of_the_fractions(a: (u64, u32), b: (u64, u32)) -> bool {
            let clean = |(units, weight): (u64, u32)| (units >> 15, u64::from(weight % (1 << 20)).max(1));
            let ((a, v), (b, w)) = (clean(a), clean(b));
            let exact = (u128::from(a) * u128::from(w)).cmp(&(u128::from(b) * u128::from(v)));
            Level::of(a, v).cmp(&Level::of(b, w)) == exact
        }

        fn short_and_long_division_agree(units: u64, weight: u32) -> bool {
            let (units, weight) = (units >> 15, u64::from(weight >> 4).max(1));
            short_division(units, weight)
                == (u128::from(units) << FRACTION).div_ceil(u128::from(weight))
        }
    }

    #[test]
    fn the_nearest_fractions_are_told_apart() {
        let (weight, sum): (u64, u64) = ((1 << 20) - 1, 1 << 52);
        for units in [1, 2, 1 << 19, (1 << 20) - 2] {
            // The largest numerator over `sum` that is not above `units / weight`.
            let below = (u128::from(units) * u128::from(sum) / u128::from(weight)) as u64;
            assert!(Level::of(below, sum) <= Level::of(units, weight));
            assert!(Level::of(below + 1, sum) > Level::of(units, weight));
        }
    }
}
