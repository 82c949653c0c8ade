//! When a credit ends: rule 3.

use std::time::Duration;

use tk_twotier::LeaseLedger;

use super::bench::{ask, at, bring, grant, holding, rules, served, spends};

#[test]
fn the_span_counts_from_the_send_instant_however_slow_the_reply() {
    let rules = rules(4).coupled(true);
    let mut ledger = LeaseLedger::new();
    let first = ask(&mut ledger, &rules, 100, 1, 1);
    let settlement = bring(&mut ledger, &rules, first, 900_000, &grant(4, 1_000_000, 1));
    assert_eq!(served(&settlement), [1]);
    // 100 + 1,000,000 - (1,000 + 1)
    assert!(spends(&mut ledger, 999_098, 1));
    assert!(!spends(&mut ledger, 999_099, 1));
    assert_eq!(ledger.take_stranded(), 2);
}

#[test]
fn a_grant_is_late_from_its_end_on() {
    let rules = rules(4).coupled(true);
    for (now, is_late) in [(998_998, false), (998_999, true)] {
        let mut ledger = LeaseLedger::new();
        let first = ask(&mut ledger, &rules, 0, 1, 1);
        let settlement = bring(&mut ledger, &rules, first, now, &grant(4, 1_000_000, 1));
        assert_eq!(settlement.late > 0, is_late);
    }
}

#[test]
fn the_margin_for_drift_is_an_option() {
    for (ppm, end) in [(0, 999_999), (1_000, 998_999), (500_000, 499_999)] {
        let rules = rules(4).coupled(true).drift_ppm(ppm).expect("in range");
        let mut ledger = holding(&rules, 3, 1_000_000, 1);
        assert!(spends(&mut ledger, end - 1, 1));
        assert!(!spends(&mut ledger, end, 1));
    }
}

#[test]
fn a_clock_that_lags_ends_credits_by_as_much_earlier() {
    for (nanos, end) in [(0, 998_999), (20_000, 998_979), (20_001, 998_978)] {
        let lag = Duration::from_nanos(nanos);
        let rules = rules(4).coupled(true).lag(lag).expect("in range");
        let mut ledger = holding(&rules, 3, 1_000_000, 1);
        assert!(spends(&mut ledger, end - 1, 1));
        assert!(!spends(&mut ledger, end, 1));
    }
}

#[test]
fn a_clock_that_may_lag_without_bound_is_refused() {
    let error = rules(4).lag(Duration::MAX).expect_err("out of range");
    assert!(error.to_string().starts_with("`clock.lag` is "), "{error}");
}

#[test]
fn carried_over_credits_do_not_end() {
    let rules = rules(4);
    let mut ledger = holding(&rules, 3, 1_000, 1);
    assert!(spends(&mut ledger, u64::MAX - 1, 3));
}

#[test]
fn each_grant_ends_by_itself() {
    let rules = rules(4).coupled(true);
    let mut ledger = holding(&rules, 3, 1_000_000, 1);
    let second = ask(&mut ledger, &rules, 10, 1, 4);
    assert!(ledger.leave(1));
    let _ = bring(&mut ledger, &rules, second, 20, &grant(1, 5_000, 2));
    assert_eq!(ledger.expire(at(6_000)), 1);
    assert!(spends(&mut ledger, 6_000, 3));
}

#[test]
fn no_span_is_too_long_or_too_short() {
    let rules = rules(2).coupled(true);
    for span in [0, 1, u64::MAX] {
        let mut ledger = LeaseLedger::new();
        let first = ask(&mut ledger, &rules, 7, 1, 1);
        let settlement = bring(&mut ledger, &rules, first, 7, &grant(2, span, 1));
        assert_eq!(settlement.late > 0, span < u64::MAX);
    }
}
