//! The strategies agree with decisions computed elsewhere in exact arithmetic.

use tk_testkit::vectors::{COMMITTED, Case, Params, PureSubjects, compare, parse};

#[test]
fn strategies_agree_with_every_committed_decision() {
    for text in COMMITTED {
        let report = compare(&parse(text).unwrap(), &mut PureSubjects).unwrap();
        let [] = report.disagreements.as_slice() else {
            panic!("{}", report.disagreements[0]);
        };
        assert!(
            report.operations >= 5 * 40 * 60,
            "{} operations",
            report.operations
        );
    }
}

#[test]
fn each_strategy_has_forty_cases_of_sixty_operations_in_each_set() {
    for text in COMMITTED {
        let cases = parse(text).unwrap();
        let of = |wanted: fn(&Params) -> bool| {
            let long = |case: &&Case| wanted(&case.strategy) && case.ops.len() >= 60;
            cases.iter().filter(long).count()
        };
        assert!(of(|params| matches!(params, Params::Gcra { .. })) >= 40);
        assert!(of(|params| matches!(params, Params::TokenBucket { .. })) >= 40);
        assert!(of(|params| matches!(params, Params::FixedWindow { .. })) >= 40);
        assert!(of(|params| matches!(params, Params::SlidingWindow { .. })) >= 40);
        assert!(of(|params| matches!(params, Params::SlidingWindowLog { .. })) >= 40);
    }
}

#[test]
fn one_wrong_field_is_a_disagreement() {
    let mut cases = parse(COMMITTED[0]).unwrap();
    cases.truncate(1);
    cases[0].ops[7].expect.retry_after += 1;
    let report = compare(&cases, &mut PureSubjects).unwrap();
    let [disagreement] = report.disagreements.as_slice() else {
        panic!("{report:?}");
    };
    assert_eq!(disagreement.op, 7);
}
