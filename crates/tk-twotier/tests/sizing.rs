//! What the sizers promise: near the optimum soon, never far above it, and little regret whatever comes.

#[path = "sizing/demand.rs"]
mod demand;
#[path = "sizing/regret.rs"]
mod regret;

use quickcheck::{QuickCheck, TestResult};
use tk_core::ConfigError;
use tk_twotier::{LeaseSizer, PredictiveSizer, Sizer, SizerOptions, Sizing, eoq_optimum};

use demand::{DRIFTING, HOSTILE, STEADY};
use regret::{Costs, exponent};

const CAPACITY: u64 = 1 << 40;

/// Costs and demands whose optima lie between 2 and 20,000 (the largest size is 100,000).
fn settings() -> impl Iterator<Item = (f64, u64)> {
    let costs = [0.5, 2.0, 20.0, 200.0, 5_000.0];
    let demands = [10, 100, 999, 5_000, 40_000];
    costs
        .into_iter()
        .flat_map(move |cost| demands.map(|demand| (cost, demand)))
}

#[expect(clippy::unwrap_used, reason = "a test helper")]
fn sizers(options: SizerOptions) -> [(&'static str, Box<dyn Sizer>); 2] {
    [
        (
            "learner",
            Box::new(LeaseSizer::new(options, CAPACITY).unwrap()),
        ),
        (
            "predictive",
            Box::new(PredictiveSizer::new(options, CAPACITY).unwrap()),
        ),
    ]
}

#[test]
fn steady_demand_is_within_a_tenth_of_the_optimum_after_twenty_windows_and_never_above_four_times()
{
    for (cost, demand) in settings() {
        let best = eoq_optimum(cost, 1.0, demand);
        let options = SizerOptions::new(cost, 1.0).max_size(100_000);
        for (name, mut sizer) in sizers(options) {
            for window in 1..=40 {
                sizer.observe(demand);
                let size = sizer.size() as f64;
                assert!(
                    size <= 4.0 * best,
                    "{name}, window {window}: {size} of {best}"
                );
                // A whole size is up to half a unit off.
                let near = (size - best).abs() <= (0.1 * best).max(0.5);
                assert!(
                    near || window < 20,
                    "{name}, window {window}: {size} of {best}"
                );
            }
        }
    }
}

#[test]
fn the_bare_rule_is_far_off_where_the_learner_has_arrived() {
    let (best, max) = (1_000.0_f64, 1e6_f64);
    let costs = Costs {
        order: best * best / 2_000.0,
        strand: 1.0,
    };
    let (mut x, mut squares) = (0.0_f64, 1e-8);
    let mut bare = Vec::new();
    for _window in 0..100 {
        let slope = -costs.order * 1_000.0 / x.exp() + costs.strand * x.exp() / 2.0;
        squares += slope * slope;
        let step = max.ln() * slope / squares.sqrt();
        x -= step.clamp(-2_f64.ln(), 2_f64.ln());
        bare.push(x.exp());
    }
    assert!((215.0..225.0).contains(&bare[19]) && (825.0..835.0).contains(&bare[99]));

    let options = SizerOptions::new(costs.order, costs.strand).max_size(1_000_000);
    let mut learner = LeaseSizer::new(options, CAPACITY).unwrap();
    (0..20).for_each(|_| learner.observe(1_000));
    assert!(
        (990..=1_000).contains(&learner.size()),
        "{}",
        learner.size()
    );
}

#[test]
fn noisy_demand_around_a_mean_stays_below_four_times_the_optimum() {
    for (name, mut sizer) in sizers(SizerOptions::new(200.0, 1.0).max_size(100_000)) {
        let best = eoq_optimum(200.0, 1.0, 1_000);
        let mut noise = demand::Noise::new(7);
        for window in 1..=10_000 {
            sizer.observe(500 + noise.below(1_001));
            let size = sizer.size() as f64;
            assert!(
                size < 4.0 * best,
                "{name}, window {window}: {size} of {best}"
            );
            assert!(
                window < 20 || (size - best).abs() < 0.5 * best,
                "{name}: {size} of {best}"
            );
        }
    }
}

#[test]
fn a_step_changes_the_size_by_at_most_a_factor_of_two() {
    for stream in STEADY.iter().chain(DRIFTING).chain(HOSTILE) {
        for (name, mut sizer) in sizers(SizerOptions::new(200.0, 1.0).max_size(100_000)) {
            for window in 0..5_000 {
                let before = sizer.size();
                sizer.observe(stream.at(window, before));
                let after = sizer.size();
                // Both sizes are rounded, each by less than one.
                assert!(
                    after < 2 * (before + 1) && before < 2 * (after + 1),
                    "{name}, {}: {before} to {after}",
                    stream.name
                );
            }
        }
    }
}

#[test]
fn the_learners_regret_grows_no_faster_than_the_root_of_the_time() {
    println!("| demand | sizer | regret | per window | exponent | from a warm start | exponent |");
    println!("|---|---|--:|--:|--:|--:|--:|");
    let costs = Costs {
        order: 200.0,
        strand: 1.0,
    };
    let cold = SizerOptions::new(costs.order, costs.strand).max_size(1_000);
    for stream in STEADY.iter().chain(DRIFTING).chain(HOSTILE) {
        let regret =
            |options| sizers(options).map(|(_, sizer)| regret::curve(sizer, stream, costs, 1_000));
        // From the least size, what is lost in the first windows hides how the rest grows.
        let start = stream.best_fixed();
        let (cold_start, warm_start) = (regret(cold), regret(cold.initial_size(start)));
        for (name, at) in [("learner", 0), ("predictive", 1)] {
            let curves = [&cold_start[at], &warm_start[at]];
            let exponents = curves.map(|curve| exponent(curve));
            let [e, f] =
                exponents.map(|it| it.map_or("below zero".into(), |it| format!("{it:.2}")));
            let [all, warm] = curves.map(|curve| curve.last().unwrap().regret);
            let each = all / regret::horizon() as f64;
            println!(
                "| {} | {name} | {all:.0} | {each:.2} | {e} | {warm:.0} | {f} |",
                stream.name
            );
            let slow = exponents.iter().all(|it| it.is_none_or(|it| it <= 0.55));
            // In the long run, demand that sees the size gains by the rounding in each window; see docs/SIZING.md.
            let is_judged = !stream.sees_the_size() || regret::horizon() <= 100_000;
            let ok = slow || name != "learner" || !is_judged;
            assert!(ok, "{}: {exponents:?}", stream.name);
        }
    }
}

#[test]
fn a_forecast_pays_where_demand_can_be_foreseen() {
    let costs = Costs {
        order: 200.0,
        strand: 1.0,
    };
    let [learned, foreseen] =
        sizers(SizerOptions::new(200.0, 1.0).max_size(10_000)).map(|(_, sizer)| {
            regret::curve(sizer, &demand::TIDE, costs, 10_000)
                .last()
                .unwrap()
                .cost
        });
    assert!(foreseen < learned, "{foreseen} against {learned}");
}

#[test]
fn extreme_demand_keeps_sizes_in_range() {
    fn holds(
        seed: u64,
        costs: (u8, u8),
        bounds: (u64, u64),
        demands: Vec<(u8, u64)>,
    ) -> TestResult {
        let power = |exponent: u8| 10_f64.powi(i32::from(exponent % 19) - 9);
        let min = 1 + bounds.0 % CAPACITY;
        let max = min + bounds.1 % (CAPACITY - min + 1);
        let options = SizerOptions::new(power(costs.0), power(costs.1))
            .min_size(min)
            .max_size(max);
        for (_, mut sizer) in sizers(options.initial_size(min + seed % (max - min + 1))) {
            for &(kind, any) in demands.iter().cycle().take(200) {
                sizer.observe([0, u64::MAX, any, any % 1_000, 1][usize::from(kind % 5)]);
                if !(min..=max).contains(&sizer.size()) {
                    return TestResult::failed();
                }
            }
        }
        TestResult::passed()
    }
    QuickCheck::new()
        .tests(300)
        .quickcheck(holds as fn(u64, (u8, u8), (u64, u64), Vec<(u8, u64)>) -> TestResult);
}

#[test]
fn equal_demands_give_equal_sizes() {
    for (first, second) in sizers(SizerOptions::new(9.0, 2.0))
        .into_iter()
        .zip(sizers(SizerOptions::new(9.0, 2.0)))
    {
        let ((_, mut first), (_, mut second)) = (first, second);
        let mut noise = demand::Noise::new(3);
        for _window in 0..1_000 {
            let demand = noise.below(1 << 30);
            first.observe(demand);
            second.observe(demand);
            assert_eq!(first.size(), second.size());
        }
    }
}

#[test]
fn idle_windows_lead_to_the_least_size_and_demand_leads_back() {
    for (name, mut sizer) in sizers(SizerOptions::new(200.0, 1.0).min_size(3).max_size(10_000)) {
        (0..30).for_each(|_| sizer.observe(100_000));
        assert!(sizer.size() > 5_000, "{name}: {}", sizer.size());
        (0..60).for_each(|_| sizer.observe(0));
        assert!(sizer.size() < 100, "{name}: {}", sizer.size());
        (0..60).for_each(|_| sizer.observe(100_000));
        assert!(sizer.size() > 1_000, "{name}: {}", sizer.size());
    }
}

#[test]
fn the_largest_size_is_an_eighth_of_the_capacity_by_default() {
    let options = SizerOptions::new(1e9, 1e-9);
    for (capacity, least, largest) in [(800, 1, 100), (7, 1, 1), (100, 40, 40)] {
        let mut sizer = LeaseSizer::new(options.min_size(least), capacity).unwrap();
        (0..50).for_each(|_| sizer.observe(u64::MAX));
        assert_eq!(sizer.size(), largest);
    }
}

#[test]
fn options_out_of_range_are_refused_by_name() {
    let good = SizerOptions::new(1.0, 1.0);
    let refused = [
        ("order_cost", SizerOptions::new(0.0, 1.0)),
        ("order_cost", SizerOptions::new(f64::INFINITY, 1.0)),
        ("strand_penalty", SizerOptions::new(1.0, -1.0)),
        ("strand_penalty", SizerOptions::new(1.0, f64::NAN)),
        ("min_size", good.min_size(0)),
        ("min_size", good.min_size(101)),
        ("max_size", good.max_size(101)),
        ("max_size", good.min_size(5).max_size(4)),
        ("initial_size", good.min_size(5).initial_size(4)),
        ("initial_size", good.initial_size(13)),
        ("step_scale", good.step_scale(0.0)),
        ("epsilon", good.epsilon(0.0)),
    ];
    for (field, options) in refused {
        let error = Sizing::learned(options)
            .for_capacity(100)
            .map(|_| ())
            .unwrap_err();
        let named = match error {
            ConfigError::OutOfRange { field, .. } | ConfigError::RealOutOfRange { field, .. } => {
                field
            }
            _ => "another error",
        };
        assert_eq!(named, field, "{error}");
        assert!(PredictiveSizer::new(options, 100).is_err());
    }
}

#[test]
fn a_sizer_of_ones_own_is_made_anew_for_each_key() {
    struct Count(u64);
    impl Sizer for Count {
        fn size(&self) -> u64 {
            self.0
        }
        fn observe(&mut self, _demand: u64) {
            self.0 += 1;
        }
    }
    let sizers = Sizing::custom(|| Count(5)).for_capacity(10).unwrap();
    let (mut one, other) = (sizers.sizer(), sizers.sizer());
    one.observe(0);
    assert_eq!((one.size(), other.size()), (6, 5));
}
