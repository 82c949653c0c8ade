//! What the next window will ask for, if it goes on like this.

/// How much of a new level is the last window's demand.
const LEVEL: f64 = 0.5;
/// How much of a new trend is the last change of level.
const TREND: f64 = 0.2;

/// A level and a trend, both smoothed (Holt 1957).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Forecast {
    seen: bool,
    level: f64,
    trend: f64,
}

impl Forecast {
    pub(super) fn observe(&mut self, demand: f64) {
        if !self.seen {
            self.seen = true;
            self.level = demand;
            return;
        }
        let before = self.level;
        self.level = LEVEL * demand + (1.0 - LEVEL) * (before + self.trend);
        self.trend = TREND * (self.level - before) + (1.0 - TREND) * self.trend;
    }

    /// The demand of the next window; `None` before the first has ended.
    pub(super) fn next(&self) -> Option<f64> {
        self.seen.then(|| (self.level + self.trend).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(demands: impl IntoIterator<Item = f64>) -> f64 {
        let mut forecast = Forecast::default();
        for demand in demands {
            forecast.observe(demand);
        }
        forecast.next().unwrap()
    }

    #[test]
    fn steady_demand_is_foreseen_exactly() {
        assert_eq!(after([70.0; 3]), 70.0);
    }

    #[test]
    fn a_steady_climb_is_foreseen() {
        let next = after((1..=200).map(|n| 10.0 * f64::from(n)));
        assert!((next - 2_010.0).abs() < 1.0, "{next}");
    }

    #[test]
    fn a_fall_is_never_extended_below_zero() {
        let fall = (0..100).map(|n| f64::from(99 - n) * 1e6);
        assert!(after(fall.chain([0.0; 3])) >= 0.0);
    }
}
