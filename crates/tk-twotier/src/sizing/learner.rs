//! Learns a size by gradient steps, each as long as it may be.
//!
//! AdaGrad (Duchi, Hazan and Singer 2011) on x, the logarithm of the size, in which the loss of a window is convex: a step of
//! `step_scale * slope / sqrt(epsilon + sum of squared slopes)` against the slope. Its regret against the best fixed
//! size in hindsight grows like the square root of the number of windows, whatever the demand does. By itself it
//! behaves badly where it matters most, at the start:
//!
//! - its first step is always `step_scale`, from the least size to the largest, whatever the demand was;
//! - slopes far from the optimum are huge, and once they are in the sum no later step gets anywhere: on its way from 1 to an
//!   optimum of 1,000 it has come to 220 after 20 windows, and to 830 after 100.
//!
//! Three rules mend that:
//!
//! - **A step changes the size by at most a factor of two.**
//! - **A step is at most as long as the window's own loss warrants**: the loss above that of the window's best size, over
//!   the slope (Polyak's step). It never passes that best size, so steady demand is approached from one side. To
//!   take the shorter of the two steps is AdaGrad on a better lower model of the loss (Asi and Duchi 2019), and the proof
//!   of the regret bound holds for it as it stands.
//! - **A step that was cut to a factor of two, and goes on where the step before went, is a search for the scale and not a
//!   lesson**: its slope stays out of the sum. At most `log2(max / min)` such steps follow each other, and
//!   a step that turns round does count, so demand that throws the size to and fro is soon
//!   answered with small steps.

use tk_core::ConfigError;

use super::{Sizer, SizerOptions, eoq::whole, options::Plan};

use std::f64::consts::LN_2;

/// Learns the size of one key's leases from the demand of each window.
///
/// ```
/// use tk_twotier::{LeaseSizer, Sizer, SizerOptions, eoq_optimum};
///
/// let mut sizer = LeaseSizer::new(SizerOptions::new(200.0, 1.0), 1_000_000)?;
/// for _window in 0..20 {
///     sizer.observe(10_000);
/// }
/// let best = eoq_optimum(200.0, 1.0, 10_000);
/// assert!((sizer.size() as f64 - best).abs() < 0.1 * best);
/// # Ok::<(), tk_core::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct LeaseSizer {
    plan: Plan,
    /// The logarithm of the size.
    x: f64,
    squares: f64,
    /// Where the last step went.
    last: Option<Direction>,
}

/// Where a step goes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Direction {
    Down,
    Up,
}

impl LeaseSizer {
    /// A learner for a key of a limit of `capacity`.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] naming the option that is out of range.
    pub fn new(options: SizerOptions, capacity: u64) -> Result<Self, ConfigError> {
        options.plan(capacity).map(Self::of)
    }

    pub(super) fn of(plan: Plan) -> Self {
        Self {
            plan,
            x: plan.initial.ln(),
            squares: 0.0,
            last: None,
        }
    }

    /// The size before it is rounded.
    pub(super) fn exact(&self) -> f64 {
        self.x.exp().clamp(self.plan.min, self.plan.max)
    }

    pub(super) fn learn(&mut self, demand: f64) {
        let size = self.exact();
        let slope = self.plan.costs.slope(demand, size);
        let Some(warranted) = self.warranted(demand, size, slope) else {
            return;
        };
        let squares = self.squares + slope * slope;
        let adaptive = self.plan.step_scale * slope.abs() / (self.plan.epsilon + squares).sqrt();
        let step = adaptive.min(warranted);
        let direction = if slope < 0.0 {
            Direction::Up
        } else {
            Direction::Down
        };
        let searching = step > LN_2 && self.last.is_none_or(|last| last == direction);
        if !searching {
            self.squares = squares;
        }
        self.last = Some(direction);
        let moved = self.x - step.min(LN_2) * slope.signum();
        self.x = moved.clamp(self.plan.min.ln(), self.plan.max.ln());
    }

    /// Polyak's step, `None` if the size is the window's best already.
    fn warranted(&self, demand: f64, size: f64, slope: f64) -> Option<f64> {
        let best = self.plan.best(demand);
        let excess = self.plan.costs.loss(demand, size) - self.plan.costs.loss(demand, best);
        let step = excess / slope.abs();
        (step > 0.0).then_some(step)
    }
}

impl Sizer for LeaseSizer {
    fn size(&self) -> u64 {
        whole(self.exact())
    }

    fn observe(&mut self, demand: u64) {
        self.learn(demand as f64);
    }
}
