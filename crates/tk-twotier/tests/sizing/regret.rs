//! What a sizer costs more than the best fixed size in hindsight, and how that grows.

use tk_twotier::{Sizer, eoq_optimum};

use crate::demand::Stream;

/// How many windows are counted: `THROTTLEKIT_WINDOWS`, or 100,000.
pub(super) fn horizon() -> u64 {
    let given = std::env::var("THROTTLEKIT_WINDOWS").ok();
    given.map_or(100_000, |text| text.parse().expect("a number of windows"))
}

#[derive(Clone, Copy)]
pub(super) struct Costs {
    pub(super) order: f64,
    pub(super) strand: f64,
}

/// What a sizer has cost after a number of windows.
pub(super) struct Point {
    pub(super) windows: f64,
    pub(super) cost: f64,
    pub(super) regret: f64,
}

impl Costs {
    /// What `windows` windows with `demand` units in all cost at a fixed size.
    fn fixed(&self, windows: f64, demand: f64, size: f64) -> f64 {
        self.order * demand / size + windows * self.strand * size / 2.0
    }

    /// The least of that over whole sizes from 1 to `max`.
    fn hindsight(&self, windows: f64, demand: f64, max: u64) -> f64 {
        let best = eoq_optimum(self.order / windows, self.strand, demand as u64);
        let whole = (best.floor() as u64).clamp(1, max);
        let next = (whole + 1).min(max);
        let costs = [whole, next].map(|size| self.fixed(windows, demand, size as f64));
        costs[0].min(costs[1])
    }
}

/// The regret over the last decade of windows, at equal distances on a logarithmic scale.
pub(super) fn curve(mut sizer: impl Sizer, stream: &Stream, costs: Costs, max: u64) -> Vec<Point> {
    let mut points = Vec::new();
    let horizon = horizon();
    let (mut cost, mut total, mut next) = (0.0, 0.0, horizon as f64 / 10.0);
    for window in 0..horizon {
        let size = sizer.size();
        let demand = stream.at(window, size);
        cost += costs.fixed(1.0, demand as f64, size as f64);
        total += demand as f64;
        sizer.observe(demand);
        let windows = (window + 1) as f64;
        if windows >= next || window + 1 == horizon {
            next *= 1.1;
            let regret = cost - costs.hindsight(windows, total, max);
            points.push(Point {
                windows,
                cost,
                regret,
            });
        }
    }
    points
}

/// The slope of log regret over log windows by least squares; `None` if the sizer ends up no worse than the
/// best fixed size.
///
/// The largest regret so far stands for each point, so that a curve that falls and climbs is judged by its climb.
pub(super) fn exponent(curve: &[Point]) -> Option<f64> {
    let ended = curve.last().map_or(0.0, |point| point.regret);
    let mut largest = f64::MIN_POSITIVE;
    let points: Vec<_> = curve
        .iter()
        .filter_map(|point| {
            largest = largest.max(point.regret);
            (largest > f64::MIN_POSITIVE).then(|| (point.windows.ln(), largest.ln()))
        })
        .collect();
    let count = points.len() as f64;
    let (x, y) = points
        .iter()
        .fold((0.0, 0.0), |sum, at| (sum.0 + at.0, sum.1 + at.1));
    let (x, y) = (x / count, y / count);
    let covariance: f64 = points.iter().map(|at| (at.0 - x) * (at.1 - y)).sum();
    let variance: f64 = points.iter().map(|at| (at.0 - x).powi(2)).sum();
    (ended > 0.0 && points.len() > 2).then(|| covariance / variance)
}
