//! Who waits, and who may leave.

use tk_twotier::LeaseLedger;

use super::bench::{ask, at, bring, grant, holding, rules, served, spends};

#[test]
fn nobody_passes_those_who_wait() {
    let rules = rules(4);
    let mut ledger = holding(&rules, 2, 1_000_000, 1);
    let dear = ask(&mut ledger, &rules, 1, 1, 4);
    assert!(!spends(&mut ledger, 2, 1), "the dear request would starve");
    ledger.join(2, 1);
    let settlement = bring(&mut ledger, &rules, dear, 3, &grant(2, 1_000_000, 2));
    assert_eq!(served(&settlement), [1]);
    assert_eq!(ledger.waiting(), 1);
}

#[test]
fn leaving_strands_nobody() {
    let rules = rules(4);
    let mut ledger = LeaseLedger::new();
    let first = ask(&mut ledger, &rules, 0, 1, 1);
    ledger.join(2, 1);
    assert!(ledger.leave(1));
    assert!(!ledger.leave(1), "it has left");
    let settlement = bring(&mut ledger, &rules, first, 5, &grant(4, 1_000_000, 1));
    assert_eq!(served(&settlement), [2]);
}

#[test]
fn leaving_loses_no_grant() {
    let rules = rules(4);
    let mut ledger = LeaseLedger::new();
    let first = ask(&mut ledger, &rules, 0, 1, 1);
    assert!(ledger.leave(1));
    assert!(ledger.is_asking());
    let _ = bring(&mut ledger, &rules, first, 5, &grant(4, 1_000_000, 1));
    assert!(spends(&mut ledger, 6, 3));
}

#[test]
fn a_key_is_blank_when_nothing_is_held_asked_or_waited_for() {
    let rules = rules(1);
    let mut ledger = LeaseLedger::new();
    assert!(ledger.is_blank());
    let first = ask(&mut ledger, &rules, 0, 1, 1);
    assert!(!ledger.is_blank());
    let _ = ledger.failed(&rules, first, at(1));
    assert!(ledger.is_blank() && !ledger.is_asking());
    ledger.join(1, 1);
    assert!(!ledger.is_blank(), "somebody waits");
    let held = holding(&super::bench::rules(4), 1, 1_000_000, 1);
    assert!(!held.is_blank(), "one is held");
    let mut ledger = LeaseLedger::new();
    let _ = ask(&mut ledger, &rules, 0, 1, 1);
    assert!(ledger.leave(1));
    assert!(!ledger.is_blank(), "a lease is in flight");
}
