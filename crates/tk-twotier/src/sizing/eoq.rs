//! What a size costs, and the size that costs least.

/// The size of a lease that costs least if `demand` units are served in a window.
///
/// `order_cost` is the cost of a round trip and `strand_penalty` that of a stranded unit; only their ratio
/// matters. The answer is `sqrt(2 * order_cost * demand / strand_penalty)`; infinite or not a number only if an
/// argument makes it so.
///
/// ```
/// // A round trip hurts as much as two hundred stranded units.
/// assert_eq!(tk_twotier::eoq_optimum(200.0, 1.0, 100), 200.0);
/// ```
#[must_use]
pub fn eoq_optimum(order_cost: f64, strand_penalty: f64, demand: u64) -> f64 {
    Costs {
        order: order_cost,
        strand: strand_penalty,
    }
    .optimum(demand as f64)
}

/// The two costs that a size trades off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Costs {
    pub(super) order: f64,
    pub(super) strand: f64,
}

impl Costs {
    pub(super) fn optimum(&self, demand: f64) -> f64 {
        (2.0 * self.order * demand / self.strand).sqrt()
    }

    /// What a window of `demand` costs with leases of size `size`.
    pub(super) fn loss(&self, demand: f64, size: f64) -> f64 {
        self.order * demand / size + self.strand * size / 2.0
    }

    /// The slope of the loss along the logarithm of the size, in which it is convex.
    pub(super) fn slope(&self, demand: f64, size: f64) -> f64 {
        -self.order * demand / size + self.strand * size / 2.0
    }
}

/// The whole size next to `size` that costs less where `size` is the optimum.
///
/// Sizes n and n + 1 cost the same where the optimum is their geometric mean, so that is where rounding turns.
/// Rounding at n + 1/2 would prefer the dearer of two sizes for ever.
pub(super) fn whole(size: f64) -> u64 {
    let below = size.floor();
    let up = size > (below * (below + 1.0)).sqrt();
    below as u64 + u64::from(up)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_vanishes_at_the_optimum() {
        let costs = Costs {
            order: 3.0,
            strand: 0.5,
        };
        let best = costs.optimum(1_000.0);
        assert!(costs.slope(1_000.0, best).abs() < 1e-9);
        assert!(costs.loss(1_000.0, best * 1.01) > costs.loss(1_000.0, best));
        assert!(costs.loss(1_000.0, best / 1.01) > costs.loss(1_000.0, best));
    }

    #[test]
    fn rounding_takes_the_cheaper_neighbour() {
        let costs = Costs {
            order: 1.0,
            strand: 1.0,
        };
        for demand in 1..2_000_u32 {
            let demand = f64::from(demand);
            let size = whole(costs.optimum(demand)) as f64;
            for other in [size - 1.0, size + 1.0] {
                let cheaper =
                    other > 0.0 && costs.loss(demand, other) < costs.loss(demand, size) - 1e-9;
                assert!(!cheaper, "demand {demand}: {other} beats {size}");
            }
        }
    }
}
