//! The traces, with the figures printed.

use super::*;

fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

fn row(trace: &Trace, name: &str, report: &Report) {
    let worst = report.worst_always_asking().map_or("-".into(), percent);
    println!(
        "{:<22} {:>7} tenants  {name:<19} served {:>8} of the ideal, worst always-asking {worst:>8}",
        trace.name,
        trace.tenants.len(),
        percent(report.efficiency()),
    );
}

fn fair(trace: &Trace) -> Report {
    let split = FairSplit::new(trace);
    assert!(split.is_ok(), "{split:?}");
    split.map_or_else(
        |_| run(trace, &mut FirstCome::new(trace)),
        |mut split| run(trace, &mut split),
    )
}

/// Served at least min(99 %, ideal less the largest cost), and nobody who always asks is below its ideal share by more than
/// max(1 %, one of its costs).
fn is_near_the_ideal(trace: &Trace) {
    is_near(trace, |_| 0.0);
}

fn is_near(trace: &Trace, more_slack: impl Fn(&[Outcome]) -> f64) {
    let report = fair(trace);
    row(trace, "fair", &report);
    for window in 0..report.windows.len() {
        let (served, ideal) = (report.served(window), report.ideal(window));
        assert!(served <= trace.limit);
        let near = (ideal * 99)
            .div_ceil(100)
            .min(ideal.saturating_sub(trace.largest_cost()));
        assert!(
            served >= near,
            "{}: {served} of {ideal} in {window}",
            trace.name
        );
        if window == 0 {
            continue;
        }
        for (outcome, tenant) in report.windows[window].iter().zip(&trace.tenants) {
            let share = outcome.ideal.approximate();
            let slack =
                (share / 100.0).max(tenant.cost as f64) + more_slack(&report.windows[window]);
            let enough = !outcome.always || outcome.got as f64 >= share - slack;
            assert!(
                enough,
                "{} window {window}: {outcome:?} {tenant:?}",
                trace.name
            );
        }
    }
}

#[test]
fn every_trace_is_served_near_the_ideal() {
    for trace in Trace::all() {
        is_near_the_ideal(&trace);
        let report = run(&trace, &mut StaticReservation::new(&trace));
        row(&trace, "static reservation", &report);
        let report = run(&trace, &mut FirstCome::new(&trace));
        row(&trace, "first come", &report);
    }
}

/// Whoever is silent at a window's edge is a newcomer in the next window. What newcomers use is not promised to anybody, so it
/// may come out of the share of one always-asking tenant that had not taken it yet, instead of everyone's.
#[test]
fn a_share_is_below_the_ideal_by_no_more_than_newcomers_use() {
    for seed in 1..6 {
        is_near(&Trace::trickle(10, 2).with_seed(seed), |outcomes| {
            let newcomers = outcomes.iter().filter(|outcome| !outcome.always);
            newcomers.map(|outcome| outcome.got as f64).sum()
        });
    }
}

#[test]
fn other_chances_change_nothing() {
    for seed in 2..6 {
        for trace in [
            Trace::bursty(20),
            Trace::costs(12),
            Trace::weights(12),
            Trace::paced(10),
        ] {
            is_near_the_ideal(&trace.with_seed(seed));
        }
    }
}

#[test]
fn a_hundred_thousand_tenants_are_served_near_the_ideal() {
    let trace = Trace {
        windows: 2,
        ..Trace::idle_after_one(100_000, 2)
    };
    let trace = Trace {
        limit: 300_000,
        ..trace
    };
    is_near_the_ideal(&trace);
    row(
        &trace,
        "first come",
        &run(&trace, &mut FirstCome::new(&trace)),
    );
}

#[test]
fn a_static_reservation_leaves_most_unserved() {
    let trace = Trace::idle_after_one(10, 2);
    let report = run(&trace, &mut StaticReservation::new(&trace));
    assert!(
        report.served(2) * 4 < report.ideal(2),
        "{}",
        report.served(2)
    );
}

#[test]
fn equal_days_give_equal_reports() {
    let got = |report: &Report| -> Vec<Vec<u64>> {
        let window = |outcomes: &Vec<Outcome>| outcomes.iter().map(|outcome| outcome.got).collect();
        report.windows.iter().map(window).collect()
    };
    let trace = Trace::costs(12);
    assert_eq!(got(&fair(&trace)), got(&fair(&trace)));
}
