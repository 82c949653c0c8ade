//! Bets on a forecast, and on the learner in case the forecast is no good.
//!
//! Two experts choose a size: one takes the optimum of the demand forecast, the other is a [`LeaseSizer`]. Hedge (Freund and
//! Schapire 1997) weighs each by `exp(-rate * what it has cost so far)`, costs being scaled by the largest seen. The size is the
//! experts' geometric mean under these weights: the loss is convex in the logarithm of the size, so the mean costs at most the mean of
//! what the experts cost.

use tk_core::ConfigError;

use super::{LeaseSizer, Sizer, SizerOptions, eoq::whole, forecast::Forecast, options::Plan};

use std::f64::consts::LN_2;

/// Hedge's rate: the best for a horizon of `8 ln 2 / rate^2`, about 55,000 windows.
const RATE: f64 = 0.01;

/// The lead, in exponents, beyond which the other expert's weight is gone; bounds how long a change of mind takes.
const LEAD_MAX: f64 = 16.0;

/// Learns the size of one key's leases, and follows a forecast of its demand as far as that has paid.
///
/// Better than a [`LeaseSizer`] where demand moves in a way that can be foreseen, and soon as good as one where it cannot.
///
/// ```
/// use tk_twotier::{PredictiveSizer, Sizer, SizerOptions};
///
/// let mut sizer = PredictiveSizer::new(SizerOptions::new(200.0, 1.0), 1_000_000)?;
/// for window in 0..100 {
///     sizer.observe(1_000 * window);
/// }
/// let best = tk_twotier::eoq_optimum(200.0, 1.0, 100_000);
/// assert!((sizer.size() as f64 - best).abs() < 0.1 * best);
/// # Ok::<(), tk_core::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PredictiveSizer {
    plan: Plan,
    learner: LeaseSizer,
    forecast: Forecast,
    /// What the learner has cost more than the forecast, scaled and times the rate.
    lead: f64,
    largest_loss: f64,
    /// The logarithm of the size in force.
    x: f64,
}

impl PredictiveSizer {
    /// A sizer for a key of a limit of `capacity`.
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
            learner: LeaseSizer::of(plan),
            forecast: Forecast::default(),
            lead: 0.0,
            largest_loss: 0.0,
            x: plan.initial.ln(),
        }
    }

    /// The size that the forecast calls for.
    fn foreseen(&self) -> f64 {
        self.forecast
            .next()
            .map_or(self.plan.initial, |demand| self.plan.best(demand))
    }

    /// Settles the bets on the window that has ended.
    fn settle(&mut self, demand: f64) {
        let learned = self.plan.costs.loss(demand, self.learner.exact());
        let foreseen = self.plan.costs.loss(demand, self.foreseen());
        // Losses are above zero, since every size strands something.
        self.largest_loss = self.largest_loss.max(learned).max(foreseen);
        let lead = self.lead + RATE * (learned - foreseen) / self.largest_loss;
        self.lead = lead.clamp(-LEAD_MAX, LEAD_MAX);
    }

    /// The experts' mean, at most a factor of two from the size before.
    fn blended(&self) -> f64 {
        let trust = 1.0 / (1.0 + (-self.lead).exp());
        let mean = trust * self.foreseen().ln() + (1.0 - trust) * self.learner.exact().ln();
        mean.clamp(self.x - LN_2, self.x + LN_2)
    }
}

impl Sizer for PredictiveSizer {
    fn size(&self) -> u64 {
        whole(self.x.exp().clamp(self.plan.min, self.plan.max))
    }

    fn observe(&mut self, demand: u64) {
        let demand = demand as f64;
        self.settle(demand);
        self.learner.learn(demand);
        self.forecast.observe(demand);
        self.x = self.blended();
    }
}
