//! What an answer does: rules 2, 4 and 7.

use tk_twotier::{LeaseLedger, LeaseRules, Verdict};

use super::bench::{ask, at, bring, grant, holding, nothing, rules, served, spends, told};

#[test]
fn waiters_are_charged_in_the_step_that_applies_the_grant() {
    let rules = rules(4);
    let mut ledger = LeaseLedger::new();
    let first = ask(&mut ledger, &rules, 0, 1, 1);
    ledger.join(2, 2);
    let settlement = bring(&mut ledger, &rules, first, 5, &grant(4, 1_000_000, 1));
    assert_eq!(served(&settlement), [1, 2]);
    assert_eq!(ledger.credits(), 1);
}

#[test]
fn a_partial_grant_serves_those_it_covers_and_the_others_ask_again() {
    let rules = rules(4);
    let mut ledger = LeaseLedger::new();
    let first = ask(&mut ledger, &rules, 0, 1, 1);
    (2..=4).for_each(|waiter| ledger.join(waiter, 1));
    let settlement = bring(&mut ledger, &rules, first, 5, &grant(2, 1_000_000, 1));
    assert_eq!(served(&settlement), [1, 2]);
    assert_eq!(ledger.waiting(), 2);
    assert!(ledger.begin(&rules, at(6)).is_some());
}

#[test]
fn a_carried_over_grant_that_nobody_waits_for_is_trimmed_below_a_batch() {
    let rules = rules(4);
    let mut ledger = LeaseLedger::new();
    let first = ask(&mut ledger, &rules, 0, 1, 1);
    assert!(ledger.leave(1));
    let settlement = bring(&mut ledger, &rules, first, 5, &grant(4, 1_000_000, 7));
    let back = settlement.hand_back.expect("one unit is too many");
    assert_eq!((back.amount, back.tag), (1, grant(4, 1, 7).tag));
    assert_eq!(ledger.credits(), 3);
    assert_eq!(
        ledger.hand_back(&rules, at(6)),
        [],
        "a grant has one hand-back"
    );
}

#[test]
fn a_dear_grant_that_nobody_waits_for_is_trimmed_below_a_batch() {
    let rules = rules(4);
    let mut ledger = LeaseLedger::new();
    let first = ask(&mut ledger, &rules, 0, 1, 50);
    ledger.join(2, 1);
    assert!(ledger.leave(1));
    let settlement = bring(&mut ledger, &rules, first, 5, &grant(50, 1_000_000, 7));
    assert_eq!(served(&settlement), [2]);
    assert_eq!(settlement.hand_back.map(|back| back.amount), Some(46));
    assert_eq!(ledger.credits(), 3);
}

#[test]
fn a_coupled_grant_that_nobody_waits_for_is_kept_whole() {
    let rules = rules(4).coupled(true);
    let mut ledger = LeaseLedger::new();
    let first = ask(&mut ledger, &rules, 0, 1, 1);
    assert!(ledger.leave(1));
    let settlement = bring(&mut ledger, &rules, first, 5, &grant(4, 1_000_000, 7));
    assert_eq!(settlement.hand_back, None);
    assert_eq!(ledger.credits(), 4);
}

#[test]
fn a_batch_of_one_that_nobody_waits_for_is_handed_back_whole() {
    let rules = rules(1);
    let mut ledger = LeaseLedger::new();
    let first = ask(&mut ledger, &rules, 0, 1, 1);
    assert!(ledger.leave(1));
    let settlement = bring(&mut ledger, &rules, first, 5, &grant(1, 1_000_000, 7));
    assert_eq!(settlement.hand_back.map(|back| back.amount), Some(1));
    assert_eq!(ledger, LeaseLedger::new());
}

#[test]
fn a_late_grant_is_dropped_in_both_modes_and_asked_for_three_times_more() {
    for rules in [rules(4), rules(4).coupled(true)] {
        let mut ledger = LeaseLedger::new();
        let mut ask = ask(&mut ledger, &rules, 0, 1, 1);
        for _ in 0..3 {
            let now = ask.sent().as_micros() + 1_000;
            let settlement = bring(&mut ledger, &rules, ask, now, &grant(4, 1_000, 1));
            assert_eq!((settlement.late, settlement.verdicts.len()), (4, 0));
            assert_eq!(ledger.credits(), 0);
            ask = ledger
                .begin(&rules, at(now))
                .expect("it is asked for again");
        }
        let settlement = bring(&mut ledger, &rules, ask, 9_000, &grant(4, 1_000, 1));
        assert_eq!(settlement.verdicts, [(1, Verdict::TooLate)]);
        assert_eq!(ledger, LeaseLedger::new());
    }
}

#[cfg(feature = "faults")]
#[test]
fn a_waiter_that_is_wrongly_charged_on_waking_takes_the_last_credit_too() {
    let rules = rules(4).with_fault(tk_twotier::Fault::ChargeOnWake);
    let mut ledger = LeaseLedger::new();
    let first = ask(&mut ledger, &rules, 0, 1, 4);
    let settlement = bring(&mut ledger, &rules, first, 5, &grant(4, 1_000_000, 1));
    assert!(settlement.verdicts.is_empty());
    assert!(ledger.wake(at(6), 1).is_some());
    assert_eq!(ledger, LeaseLedger::new());
}

#[test]
fn how_often_a_late_grant_is_asked_for_again_is_an_option() {
    for (times, is_told) in [
        (0, [true, true]),
        (1, [false, true]),
        (LeaseRules::WITHOUT_END, [false, false]),
    ] {
        let rules = rules(4).asks_again(times);
        let mut ledger = LeaseLedger::new();
        let first = ask(&mut ledger, &rules, 0, 1, 1);
        let settlement = bring(&mut ledger, &rules, first, 1_000, &grant(4, 1_000, 1));
        assert_eq!(!settlement.verdicts.is_empty(), is_told[0], "{times}");
        let Some(again) = ledger.begin(&rules, at(1_000)) else {
            continue;
        };
        let settlement = bring(&mut ledger, &rules, again, 2_000, &grant(4, 1_000, 1));
        assert_eq!(!settlement.verdicts.is_empty(), is_told[1], "{times}");
    }
}

#[test]
fn a_grant_in_time_ends_a_row_of_late_ones() {
    let rules = rules(1);
    let mut ledger = LeaseLedger::new();
    for round in 0..10 {
        let late = ask(&mut ledger, &rules, round * 100, 1, 1);
        let settlement = bring(
            &mut ledger,
            &rules,
            late,
            round * 100 + 50,
            &grant(1, 50, 1),
        );
        assert_eq!(settlement.late, 1);
        let sent = at(round * 100 + 50);
        let again = ledger.begin(&rules, sent).expect("it is asked for again");
        let settlement = bring(
            &mut ledger,
            &rules,
            again,
            round * 100 + 60,
            &grant(1, 50, 1),
        );
        assert_eq!(served(&settlement), [1]);
    }
}

#[test]
fn a_strategy_without_edges_has_no_late_grants_unless_coupled() {
    let rules = rules(4).drops_late(false);
    let mut ledger = LeaseLedger::new();
    let late = ask(&mut ledger, &rules, 0, 1, 1);
    let settlement = bring(&mut ledger, &rules, late, 5_000, &grant(4, 1_000, 1));
    assert_eq!(served(&settlement), [1]);
    let rules = rules.coupled(true);
    let mut ledger = LeaseLedger::new();
    let late = ask(&mut ledger, &rules, 0, 1, 1);
    let settlement = bring(&mut ledger, &rules, late, 5_000, &grant(4, 1_000, 1));
    assert_eq!(settlement.late, 4);
}

#[test]
fn a_denial_is_passed_on_to_all_who_lack_as_much() {
    let rules = rules(4);
    let mut ledger = holding(&rules, 2, 1_000_000, 1);
    let first = ask(&mut ledger, &rules, 1, 1, 4);
    ledger.join(2, 9);
    ledger.join(3, 1);
    ledger.join(4, 4);
    let settlement = bring(&mut ledger, &rules, first, 5, &nothing());
    let denied = told(&settlement, |verdict| {
        *verdict == Verdict::Denied(nothing().decision)
    });
    assert_eq!(denied, [1, 2, 4]);
    assert_eq!(served(&settlement), [3], "what is at hand is served");
}

#[test]
fn a_denial_says_nothing_to_those_who_lack_less() {
    let rules = rules(4);
    let mut ledger = LeaseLedger::new();
    let first = ask(&mut ledger, &rules, 1, 1, 4);
    ledger.join(2, 3);
    let settlement = bring(&mut ledger, &rules, first, 5, &nothing());
    assert!(settlement.is_denial);
    assert_eq!(settlement.verdicts.len(), 1);
    let ask = ledger
        .begin(&rules, at(6))
        .expect("the second asks for itself");
    assert_eq!(ask.at_least(), 3);
}

#[test]
fn what_is_at_hand_lessens_what_one_lacks() {
    let rules = rules(4);
    let mut ledger = holding(&rules, 2, 1_000_000, 1);
    let first = ask(&mut ledger, &rules, 1, 1, 4);
    ledger.join(2, 3);
    let settlement = bring(&mut ledger, &rules, first, 5, &nothing());
    assert_eq!(
        settlement.verdicts.len(),
        1,
        "two were denied, and the other lacks one"
    );
    assert_eq!(ledger.waiting(), 1);
}

#[test]
fn a_failure_reaches_those_whom_the_credits_do_not_cover() {
    let rules = rules(4);
    let mut ledger = holding(&rules, 2, 1_000_000, 1);
    let first = ask(&mut ledger, &rules, 1, 1, 4);
    ledger.join(2, 2);
    ledger.join(3, 1);
    let settlement = ledger.failed(&rules, first, at(5));
    let failed = told(&settlement, |verdict| *verdict == Verdict::Failed);
    assert_eq!((failed, served(&settlement)), (vec![1, 3], vec![2]));
    assert!(ledger.is_blank());
}

#[test]
fn an_end_of_asking_serves_what_is_at_hand_and_fails_the_others() {
    let rules = rules(4);
    let mut ledger = holding(&rules, 2, 1_000_000, 1);
    let _ = ask(&mut ledger, &rules, 1, 1, 4);
    ledger.join(2, 2);
    ledger.join(3, 1);
    let settlement = ledger.abandon(at(5));
    let failed = told(&settlement, |verdict| *verdict == Verdict::Failed);
    assert_eq!((failed, served(&settlement)), (vec![1, 3], vec![2]));
    assert_eq!(ledger.waiting(), 0);
}

#[test]
fn credits_that_have_ended_serve_nobody_at_the_end() {
    let rules = rules(4).coupled(true);
    let mut ledger = holding(&rules, 2, 1_000, 1);
    let _ = ask(&mut ledger, &rules, 1, 1, 4);
    ledger.join(2, 2);
    let settlement = ledger.abandon(at(998));
    assert_eq!(
        settlement.verdicts,
        [(1, Verdict::Failed), (2, Verdict::Failed)]
    );
}

#[test]
fn a_reply_delivered_twice_counts_once() {
    let rules = rules(4);
    let mut ledger = LeaseLedger::new();
    let first = ask(&mut ledger, &rules, 1, 1, 1);
    let _ = bring(&mut ledger, &rules, first, 5, &grant(4, 1_000_000, 1));
    let before = ledger.clone();
    assert_eq!(
        bring(&mut ledger, &rules, first, 6, &grant(4, 1_000_000, 1)),
        Default::default()
    );
    assert_eq!(ledger, before);
    assert!(spends(&mut ledger, 7, 3));
    let second = ask(&mut ledger, &rules, 8, 2, 1);
    let _ = bring(&mut ledger, &rules, first, 9, &grant(4, 1_000_000, 1));
    assert_eq!(
        ledger.credits(),
        0,
        "it does not pass for the second's answer"
    );
    let settlement = bring(&mut ledger, &rules, second, 9, &grant(4, 1_000_000, 2));
    assert_eq!(served(&settlement), [2]);
}
