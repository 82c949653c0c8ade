//! The split to measure against: weighted max-min fairness by water-filling, in exact fractions.
//!
//! It knows every demand beforehand, as nobody does at run time; use it to plan capacity, and to see how near a
//! split came.

/// What somebody wants, and how much it weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Want {
    /// The share is in proportion to this.
    pub weight: u64,
    /// Units wanted.
    pub units: u64,
}

/// A fraction of units, never negative. It is not reduced to lowest terms.
#[derive(Clone, Copy, Debug)]
pub struct Fraction {
    /// Above the line.
    pub numerator: u128,
    /// Below the line; never zero.
    pub denominator: u128,
}

impl Fraction {
    const fn whole(units: u64) -> Self {
        Self {
            numerator: units as u128,
            denominator: 1,
        }
    }

    /// Rounded down.
    #[must_use]
    pub const fn floor(&self) -> u64 {
        (self.numerator / self.denominator) as u64
    }

    /// Rounded up.
    #[must_use]
    pub const fn ceil(&self) -> u64 {
        self.numerator.div_ceil(self.denominator) as u64
    }

    /// The nearest floating-point number, for display.
    #[must_use]
    pub fn approximate(&self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

/// Splits `limit` over `wants`: nobody gets more than it wants, and nobody could get more but from
/// somebody who has less for each unit of its weight. Answers in the same order.
///
/// Weights are at most [`MAX_WEIGHT`](crate::MAX_WEIGHT), larger ones count as that; with weight 0 nothing is given.
///
/// ```
/// use tk_fair::{Want, ideal};
///
/// let want = |units| Want { weight: 1, units };
/// let shares = ideal(100, &[want(10), want(100), want(100)]);
/// let whole: Vec<u64> = shares.iter().map(|share| share.floor()).collect();
/// assert_eq!(whole, [10, 45, 45]);
/// ```
#[must_use]
pub fn ideal(limit: u64, wants: &[Want]) -> Vec<Fraction> {
    let weight = |i: usize| u128::from(wants[i].weight.min(crate::MAX_WEIGHT));
    let units = |i: usize| u128::from(wants[i].units);
    let mut order: Vec<usize> = (0..wants.len()).filter(|i| weight(*i) > 0).collect();
    // By units / weight: whoever is satisfied at the lowest level first.
    order.sort_by(|&a, &b| (units(a) * weight(b)).cmp(&(units(b) * weight(a))));
    let mut shares = vec![Fraction::whole(0); wants.len()];
    let mut rest = u128::from(limit);
    let mut weights: u128 = order.iter().map(|i| weight(*i)).sum();
    for i in order {
        if units(i) * weights <= rest * weight(i) {
            shares[i] = Fraction::whole(wants[i].units);
            rest -= units(i);
            weights -= weight(i);
        } else {
            // From here on nobody is satisfied, so the level stays as it is.
            shares[i] = Fraction {
                numerator: rest * weight(i),
                denominator: weights,
            };
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use quickcheck::quickcheck;

    fn wants(given: Vec<(u8, u16)>) -> Vec<Want> {
        let want = |(weight, units): (u8, u16)| Want {
            weight: u64::from(weight),
            units: u64::from(units),
        };
        given.into_iter().map(want).collect()
    }

    quickcheck! {
        fn everything_is_given_that_is_wanted_or_there(limit: u16, given: Vec<(u8, u16)>) -> bool {
            let wants = wants(given);
            let shares = ideal(u64::from(limit), &wants);
            let wanted: u64 = wants.iter().filter(|want| want.weight > 0).map(|want| want.units).sum();
            let given: f64 = shares.iter().map(Fraction::approximate).sum();
            (given - wanted.min(u64::from(limit)) as f64).abs() < 1e-6
        }

        fn nobody_has_more_per_weight_than_somebody_who_wants_more(limit: u16, given: Vec<(u8, u16)>) -> bool {
            let wants = wants(given);
            let shares = ideal(u64::from(limit), &wants);
            let pairs = || wants.iter().zip(&shares).filter(|(want, _)| want.weight > 0);
            pairs().all(|(want, share)| {
                let content = share.numerator == u128::from(want.units) * share.denominator;
                let level = |(want, share): (&Want, &Fraction)| {
                    (share.numerator, share.denominator * u128::from(want.weight))
                };
                let (a, b) = level((want, share));
                share.numerator <= u128::from(want.units) * share.denominator
                    && (content || pairs().all(|other| { let (c, d) = level(other); c * b <= a * d }))
            })
        }
    }

    #[test]
    fn uneven_demand_is_not_split_evenly() {
        let want = |units| Want { weight: 1, units };
        let shares = ideal(100, &[want(10), want(100), want(100)]);
        assert_eq!(
            shares.iter().map(Fraction::ceil).collect::<Vec<_>>(),
            [10, 45, 45]
        );
    }
}
