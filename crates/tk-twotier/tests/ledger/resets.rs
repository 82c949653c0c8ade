//! Forgetting a key: rule 8.

use tk_core::Timestamp;
use tk_twotier::LeaseLedger;

use super::bench::{ask, at, bring, grant, holding, nothing, rules, served};

#[test]
fn a_reset_clears_the_credits_and_hands_nothing_back() {
    let rules = rules(4);
    let mut ledger = holding(&rules, 3, 1_000_000, 1);
    ledger.reset(&rules);
    assert_eq!(ledger, LeaseLedger::new());
    assert_eq!(ledger.hand_back(&rules, at(1)), []);
    assert_eq!(ledger.take_stranded(), 3, "they are lost, and counted");
}

#[test]
fn a_grant_sent_for_before_a_reset_is_handed_back_whole_and_asked_for_anew() {
    let rules = rules(4).coupled(true);
    let mut ledger = LeaseLedger::new();
    let before = ask(&mut ledger, &rules, 0, 1, 1);
    ledger.reset(&rules);
    assert_eq!(ledger.begin(&rules, at(1)), None, "it is still in flight");
    let settlement = bring(&mut ledger, &rules, before, 2, &grant(4, 1_000_000, 7));
    assert!(settlement.verdicts.is_empty());
    let back = settlement.hand_back.expect("the store may take it back");
    assert_eq!((back.amount, back.tag.mark().0), (4, 7));
    let after = ledger.begin(&rules, at(3)).expect("somebody waits");
    let settlement = bring(&mut ledger, &rules, after, 4, &grant(4, 1_000_000, 8));
    assert_eq!(served(&settlement), [1]);
}

#[test]
fn a_denial_from_before_a_reset_denies_nobody() {
    let rules = rules(4);
    let mut ledger = LeaseLedger::new();
    let before = ask(&mut ledger, &rules, 0, 1, 1);
    ledger.reset(&rules);
    let settlement = bring(&mut ledger, &rules, before, 2, &nothing());
    assert!(settlement.verdicts.is_empty() && !settlement.is_denial);
    assert_eq!(settlement.hand_back, None, "there is nothing to return");
    assert!(ledger.begin(&rules, at(3)).is_some());
}

#[test]
fn explorers_see_equal_states_for_equal_behaviour() {
    let rules = rules(4).coupled(true);
    let mut early = holding(&rules, 3, 1_000_000, 1);
    let mut late = LeaseLedger::new();
    let first = ask(&mut late, &rules, 5_000_000, 0, 1);
    let wall = Timestamp::from_secs(99);
    let _ = late.granted(&rules, first, at(5_000_000), wall, &grant(4, 1_000_000, 2));
    assert_ne!(early, late);
    late.set_back(std::time::Duration::from_secs(5));
    let same_tag = |_| Default::default();
    late.retag(same_tag);
    early.retag(same_tag);
    assert_eq!(early, late);
}
