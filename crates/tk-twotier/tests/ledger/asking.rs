//! When a lease is asked for, and for how much.

use tk_twotier::{LeaseLedger, LeaseRules};

use super::bench::{ask, at, bring, grant, holding, rules, spends};

#[test]
fn a_batch_is_asked_for_and_no_less_than_the_cost() {
    let ask = ask(&mut LeaseLedger::new(), &rules(10), 0, 1, 3);
    assert_eq!((ask.want(), ask.at_least()), (10, 3));
}

#[test]
fn a_dearer_cost_leases_its_cost() {
    let ask = ask(&mut LeaseLedger::new(), &rules(10), 0, 1, 25);
    assert_eq!((ask.want(), ask.at_least()), (25, 25));
}

#[test]
fn credits_at_hand_are_not_asked_for_again() {
    let rules = rules(10);
    let mut ledger = holding(&rules, 4, 1_000_000, 1);
    let ask = ask(&mut ledger, &rules, 10, 1, 6);
    assert_eq!((ask.want(), ask.at_least()), (6, 2));
}

#[test]
fn one_lease_is_in_flight() {
    let rules = rules(10);
    let mut ledger = LeaseLedger::new();
    let first = ask(&mut ledger, &rules, 0, 1, 1);
    ledger.join(2, 1);
    assert_eq!(ledger.begin(&rules, at(5)), None);
    let _ = bring(&mut ledger, &rules, first, 9, &grant(10, 1_000_000, 1));
    assert_eq!(ledger.begin(&rules, at(10)), None, "nobody waits");
}

#[test]
fn nothing_is_asked_for_nobody() {
    assert_eq!(LeaseLedger::new().begin(&rules(10), at(0)), None);
}

#[test]
fn low_water_refills_a_whole_batch_in_the_background() {
    let rules = rules(10).low_water(3).expect("below the batch");
    let mut ledger = holding(&rules, 9, 1_000_000, 1);
    assert_eq!(ledger.begin(&rules, at(1)), None);
    assert!(spends(&mut ledger, 1, 6));
    let ask = ledger.begin(&rules, at(1)).expect("three are left");
    assert_eq!((ask.want(), ask.at_least()), (10, 1));
    assert!(spends(&mut ledger, 2, 1), "requests are served meanwhile");
    let settlement = bring(&mut ledger, &rules, ask, 3, &grant(10, 1_000_000, 2));
    assert!(settlement.verdicts.is_empty() && settlement.hand_back.is_none());
    assert_eq!(ledger.credits(), 12);
}

#[test]
fn credits_stay_within_batch_and_low_water() {
    let rules = rules(2).low_water(1).expect("below the batch");
    let mut ledger = holding(&rules, 1, 1_000_000, 1);
    let ask = ledger.begin(&rules, at(1)).expect("one is left");
    let _ = bring(&mut ledger, &rules, ask, 2, &grant(2, 1_000_000, 2));
    assert_eq!(ledger.credits(), 3);
    assert_eq!(ledger.begin(&rules, at(3)), None);
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let message = |error: tk_core::ConfigError| error.to_string();
    assert_eq!(
        LeaseRules::new(0).map_err(message),
        Err("`batch` is 0; allowed is 1 to 281474976710656".into())
    );
    assert_eq!(
        rules(4).low_water(4).map_err(message),
        Err("`low_water` is 4; allowed is 0 to 3".into())
    );
    assert_eq!(
        rules(4).drift_ppm(500_001).map_err(message),
        Err("`drift_ppm` is 500001; allowed is 0 to 500000".into())
    );
}

#[test]
fn another_size_keeps_the_low_water_mark_below_it() {
    let rules = rules(10).low_water(5).expect("below the batch").sized(0);
    assert_eq!(rules.batch(), 1);
    assert!(
        !rules.refills_at(0),
        "a batch of one has no water to be low"
    );
}
