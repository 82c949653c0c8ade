//! Simulated fleets keep their bounds, and broken ones are noticed.
//!
//! `THROTTLEKIT_SEEDS=100000` runs more of them, `THROTTLEKIT_SEED=4711` a single one.

#![cfg(feature = "simulation")]

use std::{env, ops::Range};

use tk_testkit::simulation::{Counts, Mode, Plan, Rule, Scenario, Violation, run, run_all};
use tk_twotier::Fault;

/// The seeds to run: `usual` of them, or as the environment says.
fn seeds(usual: u64) -> Range<u64> {
    let number = |name| {
        env::var(name)
            .ok()
            .and_then(|value| value.parse::<u64>().ok())
    };
    match (number("THROTTLEKIT_SEED"), number("THROTTLEKIT_SEEDS")) {
        (Some(seed), _) => seed..seed + 1,
        (None, count) => 0..count.unwrap_or(usual),
    }
}

fn expect_kept(lived: Result<Counts, Box<Violation>>) -> Counts {
    lived.unwrap_or_else(|violation| panic!("{violation}"))
}

/// Everything that can go wrong must have gone wrong, or a pass would say little.
fn assert_eventful(counts: &Counts, except: &[&str]) {
    println!("{counts}");
    let missing: Vec<_> = counts
        .missing()
        .into_iter()
        .filter(|it| !except.contains(it))
        .collect();
    assert!(
        counts.runs < 1_000 || missing.is_empty(),
        "never happened: {missing:?}"
    );
}

#[test]
fn no_fleet_admits_more_than_its_bound() {
    let counts = expect_kept(run_all(seeds(10_000), &Scenario::default()));
    assert_eventful(&counts, &["times that the store forgot"]);
}

/// A bound, and the plans that it holds for.
type Bound = (&'static str, fn(&Plan) -> bool);

const BOUNDS: [Bound; 4] = [
    ("coupled: limit", |plan| {
        plan.mode == Mode::Coupled && plan.rule == Rule::FixedWindow
    }),
    ("carried over: limit + N (batch - 1)", |plan| {
        is_carried(plan) && plan.batch > 1 && plan.low_water == 0
    }),
    ("refilled: limit + N (batch + low water)", |plan| {
        is_carried(plan) && plan.low_water > 0
    }),
    ("without edges: limit + N batch", |plan| {
        plan.rule == Rule::SlidingWindowLog
    }),
];

fn is_carried(plan: &Plan) -> bool {
    plan.mode == Mode::Carried && plan.rule == Rule::FixedWindow
}

#[test]
fn each_bound_is_reached_so_that_one_unit_less_is_not_kept() {
    let scenario = Scenario::default().tightened();
    let broken: Vec<_> = (0..20_000)
        .filter_map(|seed| run(seed, &scenario).err())
        .collect();
    for (bound, holds_for) in BOUNDS {
        let plans = broken.iter().map(|violation| violation.plan());
        let count = plans
            .filter(|plan| plan.nodes > 1 && holds_for(plan))
            .count();
        println!("{count:>6} of 20,000 runs reached the bound {bound}");
        assert!(count > 0, "{bound}");
    }
}

#[test]
fn a_store_that_forgets_costs_one_limit_each_time() {
    let counts = expect_kept(run_all(seeds(3_000), &Scenario::default().forgetful()));
    assert_eventful(&counts, &[]);
}

#[test]
fn a_hungry_coupled_fleet_admits_nearly_all_of_the_limit_in_every_window() {
    let counts = expect_kept(run_all(seeds(300), &Scenario::default().hungry()));
    println!("{counts}");
    let scarcest = counts.scarcest.unwrap();
    assert!(scarcest >= 990, "{scarcest} thousandths of the limit");
}

#[test]
fn a_run_is_a_function_of_its_seed() {
    for seed in 0..50 {
        let scenario = Scenario::default().forgetful();
        assert_eq!(
            expect_kept(run(seed, &scenario)),
            expect_kept(run(seed, &scenario))
        );
    }
}

/// Runs until the simulation notices that a rule is broken.
#[track_caller]
fn assert_notices(fault: Fault) {
    let scenario = Scenario::default().with_fault(fault);
    let mut kept = 0;
    let violation = loop {
        match run(kept, &scenario) {
            Ok(_) => kept += 1,
            Err(violation) => break violation,
        }
        assert!(kept < 2_000, "{fault:?} is not noticed in {kept} runs");
    };
    let story = violation.to_string();
    println!("{fault:?} is noticed at {story}");
    assert!(
        story.starts_with(&format!("seed {kept}: ")),
        "the story begins with its seed"
    );
    assert!(
        story.contains("store: grants"),
        "the story tells what led to it"
    );
    assert!(
        run(kept, &Scenario::default()).is_ok(),
        "without the fault, the same run keeps its bound"
    );
}

#[test]
fn an_expiry_by_the_wall_clock_is_noticed() {
    assert_notices(Fault::ExpiryByWallClock);
}

#[test]
fn an_expiry_counted_from_the_receipt_is_noticed() {
    assert_notices(Fault::ExpiryFromReceipt);
}

#[test]
fn a_hand_back_applied_twice_is_noticed() {
    assert_notices(Fault::DoubleHandBack);
}

#[test]
fn a_late_grant_that_is_kept_is_noticed() {
    assert_notices(Fault::KeepLateGrant);
}

#[test]
fn waiters_charged_when_they_wake_are_noticed() {
    assert_notices(Fault::ChargeOnWake);
}

#[test]
fn an_ownerless_grant_that_is_kept_whole_is_noticed() {
    assert_notices(Fault::KeepOwnerlessGrant);
}

#[test]
fn coupled_credits_that_are_carried_over_are_noticed() {
    assert_notices(Fault::CarryOverInCoupled);
}

#[test]
fn two_leases_in_flight_are_noticed() {
    assert_notices(Fault::TwoInFlight);
}

#[test]
fn credits_kept_after_a_reset_are_noticed() {
    let scenario = Scenario::default()
        .forgetful()
        .with_fault(Fault::KeepAfterReset);
    let violation = (0..2_000)
        .find_map(|seed| run(seed, &scenario).err())
        .unwrap();
    assert!(
        violation.what().contains("before the reset"),
        "{}",
        violation.what()
    );
}
