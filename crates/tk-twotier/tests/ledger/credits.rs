//! Spending and handing back: rule 5.

use tk_core::Timestamp;
use tk_twotier::{LeaseLedger, Spend};

use super::bench::{ask, at, bring, grant, holding, rules, served, spends};

#[test]
fn a_hit_tells_what_is_left_and_when_the_span_ends() {
    let rules = rules(10);
    let mut ledger = holding(&rules, 9, 1_000_000, 1);
    let Spend::Served(served) = ledger.spend(at(500), 2) else {
        panic!("nine cover two");
    };
    assert_eq!(served.remaining, 7);
    // The span less a thousandth and a microsecond.
    assert_eq!(served.reset_at, Timestamp::from_micros(998_999));
}

#[test]
fn carried_over_credits_are_replenished_now() {
    let rules = rules(10);
    let mut ledger = holding(&rules, 9, 1_000_000, 1);
    let Spend::Served(served) = ledger.spend(at(5_000_000), 1) else {
        panic!("they do not end");
    };
    assert_eq!(served.reset_at, Timestamp::from_micros(5_000_000));
}

#[test]
fn a_hit_tells_when_the_first_of_coupled_credits_end() {
    let rules = rules(4).coupled(true);
    let mut ledger = holding(&rules, 3, 1_000_000, 1);
    let second = ask(&mut ledger, &rules, 10, 1, 4);
    let settlement = bring(&mut ledger, &rules, second, 20, &grant(1, 2_000_000, 2));
    assert_eq!(served(&settlement), [1], "it took the three and one");
    let third = ask(&mut ledger, &rules, 30, 2, 2);
    let _ = bring(&mut ledger, &rules, third, 40, &grant(4, 500_000, 3));
    let fourth = ask(&mut ledger, &rules, 50, 3, 3);
    let _ = bring(&mut ledger, &rules, fourth, 60, &grant(4, 2_000_000, 4));
    let Spend::Served(served) = ledger.spend(at(70), 1) else {
        panic!("some are left");
    };
    // The third's span from its request on, less a thousandth and a microsecond.
    assert_eq!(served.reset_at, Timestamp::from_micros(30 + 499_499));
}

#[test]
fn cost_zero_is_served_by_nothing_and_charges_nothing() {
    let mut ledger = LeaseLedger::new();
    assert!(spends(&mut ledger, 0, 0));
    ledger.join(1, 1);
    assert!(spends(&mut ledger, 0, 0), "it waits for nobody");
}

#[test]
fn a_miss_charges_nothing() {
    let rules = rules(4);
    let mut ledger = holding(&rules, 3, 1_000_000, 1);
    assert!(!spends(&mut ledger, 1, 4));
    assert_eq!(ledger.credits(), 3);
}

#[test]
fn the_oldest_grant_is_spent_first() {
    let rules = rules(4).coupled(true);
    let mut ledger = holding(&rules, 3, 1_000_000, 1);
    let second = ask(&mut ledger, &rules, 1, 1, 4);
    assert!(ledger.leave(1));
    let _ = bring(&mut ledger, &rules, second, 2, &grant(5, 1_000_000, 2));
    assert_eq!(ledger.credits(), 8);
    assert!(spends(&mut ledger, 3, 4));
    assert_eq!(ledger.credits(), 4);
    let backs = ledger.hand_back(&rules, at(4));
    assert_eq!(backs.len(), 1);
    assert_eq!((backs[0].amount, backs[0].tag.mark().0), (4, 2));
}

#[test]
fn each_grant_is_handed_back_once_with_its_own_tag() {
    let rules = rules(4).coupled(true);
    let mut ledger = holding(&rules, 3, 1_000_000, 1);
    let second = ask(&mut ledger, &rules, 1, 1, 4);
    assert!(ledger.leave(1));
    let _ = bring(&mut ledger, &rules, second, 2, &grant(1, 1_000_000, 2));
    let backs = ledger.hand_back(&rules, at(3));
    let told: Vec<_> = backs.iter().map(|b| (b.tag.mark().0, b.amount)).collect();
    assert_eq!(told, [(1, 3), (2, 1)]);
    assert_eq!(ledger.hand_back(&rules, at(4)), []);
    assert_eq!(ledger, LeaseLedger::new());
}

#[test]
fn what_the_store_would_refuse_is_not_handed_back() {
    let rules = rules(10);
    let mut ledger = holding(&rules, 9, 1_000_000, 1);
    let mut in_time = ledger.clone();
    assert_eq!(in_time.hand_back(&rules, at(998_998)).len(), 1);
    assert_eq!(
        ledger.hand_back(&rules, at(998_999)),
        [],
        "the span is over"
    );
    assert_eq!(ledger.take_stranded(), 9);
}

#[test]
fn many_small_refills_hold_no_more_than_a_few_grants() {
    let rules = rules(1_000).low_water(999).expect("below the batch");
    let mut ledger = LeaseLedger::new();
    for round in 0..500 {
        let ask = ledger.begin(&rules, at(round)).expect("it is low");
        let _ = bring(&mut ledger, &rules, ask, round, &grant(1, 1_000_000, 1));
    }
    assert_eq!(ledger.credits(), 500);
    assert!(ledger.hand_back(&rules, at(500)).len() < 8);
}

#[test]
fn grants_that_were_merged_lose_no_unit() {
    let rules = rules(1_000)
        .low_water(999)
        .expect("below the batch")
        .coupled(true);
    let mut ledger = LeaseLedger::new();
    for round in 0..20 {
        let ask = ledger.begin(&rules, at(round)).expect("it is low");
        let span = if round == 0 { 1_000 } else { 1_000_000 };
        let _ = bring(&mut ledger, &rules, ask, round, &grant(3, span, 1));
    }
    assert_eq!(ledger.credits(), 60);
    assert_eq!(ledger.expire(at(5_000)), 3, "the first has ended");
    assert_eq!(ledger.credits(), 57);
    assert!(spends(&mut ledger, 5_001, 56));
    assert_eq!(ledger.expire(at(5_000_000)), 1);
    assert_eq!(ledger, LeaseLedger::new());
}

#[test]
fn spending_the_last_credit_leaves_nothing_behind() {
    let rules = rules(4).coupled(true);
    let mut ledger = holding(&rules, 3, 1_000_000, 1);
    assert!(spends(&mut ledger, 1, 3));
    assert_eq!(ledger, LeaseLedger::new());
}

#[test]
fn demand_is_told_once_per_window_that_has_ended() {
    let rules = rules(10);
    let mut ledger = holding(&rules, 9, 1_000, 1);
    assert!(spends(&mut ledger, 5, 4));
    // The span less a thousandth and a microsecond.
    assert_eq!(ledger.take_demand(at(997)), None, "the window lasts");
    assert_eq!(ledger.take_demand(at(998)), Some(5));
    assert_eq!(ledger.take_demand(at(999)), None);
}
