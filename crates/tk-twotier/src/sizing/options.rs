//! What a sizer is told, and what it makes of it.

use tk_core::{ConfigError, Range};

use super::eoq::Costs;

/// Both costs lie between the reciprocal of this and this; then no loss overflows under any demand.
const COST_MAX: f64 = 1e9;
const COST_MIN: f64 = 1e-9;

/// What a [`LeaseSizer`](crate::LeaseSizer) or a [`PredictiveSizer`](crate::PredictiveSizer) is told.
///
/// ```
/// use tk_twotier::{LeaseSizer, Sizer, SizerOptions};
///
/// // A round trip hurts as much as 200 stranded units; start at 4, and never lease more than 1,000 at once.
/// let options = SizerOptions::new(200.0, 1.0).initial_size(4).max_size(1_000);
/// let sizer = LeaseSizer::new(options, 1_000_000)?;
/// assert_eq!(sizer.size(), 4);
///
/// let refused = LeaseSizer::new(SizerOptions::new(f64::NAN, 1.0), 1_000_000);
/// let reason = refused.map(|_| ()).unwrap_err().to_string();
/// assert_eq!(reason, "`order_cost` is NaN; allowed is 1e-9 to 1000000000.0");
/// # Ok::<(), tk_core::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct SizerOptions {
    order_cost: f64,
    strand_penalty: f64,
    min: u64,
    max: Option<u64>,
    initial: Option<u64>,
    step_scale: Option<f64>,
    epsilon: f64,
}

impl SizerOptions {
    /// A round trip costs `order_cost` and a stranded unit `strand_penalty`, each within 1e-9 to 1e9; only their
    /// ratio matters.
    pub const fn new(order_cost: f64, strand_penalty: f64) -> Self {
        Self {
            order_cost,
            strand_penalty,
            min: 1,
            max: None,
            initial: None,
            step_scale: None,
            epsilon: 1e-8,
        }
    }

    /// The smallest size, at least 1; 1 by default.
    pub const fn min_size(mut self, size: u64) -> Self {
        self.min = size;
        self
    }

    /// The largest size, at most the capacity; by default an eighth of the capacity, so that
    /// one node cannot hold most of the budget.
    pub const fn max_size(mut self, size: u64) -> Self {
        self.max = Some(size);
        self
    }

    /// The size before anything was learned; the smallest by default.
    pub const fn initial_size(mut self, size: u64) -> Self {
        self.initial = Some(size);
        self
    }

    /// How far the learner moves along the logarithm of the size, within 0.001 to 64; `ln(max / min)` by default.
    pub const fn step_scale(mut self, scale: f64) -> Self {
        self.step_scale = Some(scale);
        self
    }

    /// Keeps the first division from being one by zero, within 1e-12 to 1e12; 1e-8 by default.
    pub const fn epsilon(mut self, epsilon: f64) -> Self {
        self.epsilon = epsilon;
        self
    }

    /// Checks all options against the capacity of the limit that is leased from.
    pub(super) fn plan(&self, capacity: u64) -> Result<Plan, ConfigError> {
        let capacity = Range::between("capacity", capacity.into(), 1, Range::MAX_UNITS)?;
        let order = Range::real("order_cost", self.order_cost, COST_MIN, COST_MAX)?;
        let strand = Range::real("strand_penalty", self.strand_penalty, COST_MIN, COST_MAX)?;
        let min = Range::between("min_size", self.min.into(), 1, capacity)?;
        let max = self.max.unwrap_or((capacity / 8).max(min));
        let max = Range::between("max_size", max.into(), min, capacity)?;
        let initial = self.initial.unwrap_or(min);
        let initial = Range::between("initial_size", initial.into(), min, max)?;
        let (min, max, initial) = (min as f64, max as f64, initial as f64);
        let span = (max / min).ln();
        Ok(Plan {
            costs: Costs { order, strand },
            min,
            max,
            initial,
            step_scale: match self.step_scale {
                Some(scale) => Range::real("step_scale", scale, 1e-3, 64.0)?,
                None => span,
            },
            epsilon: Range::real("epsilon", self.epsilon, 1e-12, 1e12)?,
        })
    }
}

/// Options that were checked. Sizes are below 2^53, so they are exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plan {
    pub(super) costs: Costs,
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) initial: f64,
    pub(super) step_scale: f64,
    pub(super) epsilon: f64,
}

impl Plan {
    /// The size within the range that costs least under `demand`.
    pub(super) fn best(&self, demand: f64) -> f64 {
        self.costs.optimum(demand).clamp(self.min, self.max)
    }
}
