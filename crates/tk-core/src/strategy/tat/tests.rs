//! The two widths of the arithmetic agree, and the narrow one is used wherever it can be.

use std::vec::Vec;

use core::time::Duration;

use super::{Emission, FAR, TatRule, TatState, Verdict, narrow, weigh};
use crate::Timestamp;

/// Rules from everyday ones to the ends of the range: period, limit, capacity.
const RULES: [(u64, u64, u64); 9] = [
    (1_000_000, 10, 10),
    (60_000_000, 7, 3),
    (13_000_000, 10, 1),
    (1, 1 << 48, 1 << 48),
    ((1 << 45) - 1, (1 << 48) - 1, 1 << 48),
    (1 << 45, 1, 128),
    (1 << 45, (1 << 48) - 1, 1),
    (999_983, 99_991, 1_000_003),
    (86_400_000_000, 281_474_976_710_597, 281_474_976_710_656),
];

fn fields(verdict: &Verdict) -> (bool, u64, u64, u64, Duration) {
    (
        verdict.allowed,
        verdict.lead,
        verdict.fraction,
        verdict.remaining,
        verdict.retry,
    )
}

fn rules() -> impl Iterator<Item = TatRule> {
    let build = |(period, limit, capacity)| TatRule::new(period, limit, ("capacity", capacity));
    RULES.into_iter().filter_map(move |rule| build(rule).ok())
}

#[test]
fn all_rules_are_in_range() {
    assert_eq!(rules().count(), RULES.len());
}

#[test]
fn both_widths_decide_alike_up_to_the_longest_narrow_lead() {
    for rule in rules() {
        let (p, q, all) = (
            rule.emission.numerator,
            rule.emission.denominator,
            rule.capacity,
        );
        let longest = rule.narrow.saturating_sub(1);
        let leads = [0, 1, longest / 2, longest.saturating_sub(1), longest];
        for lead in leads.into_iter().filter(|lead| *lead < rule.narrow) {
            for (fraction, cost) in [(0, 0), (0, 1), (q - 1, all), (q / 2, all / 2), (q - 1, 0)] {
                let narrow = weigh(lead * q + fraction, cost, all, p, q);
                let wide = rule.weigh_wide(lead, fraction, cost);
                assert_eq!(
                    fields(&narrow),
                    fields(&wide),
                    "{rule:?}, {lead}, {fraction}, {cost}"
                );
            }
        }
    }
}

#[test]
fn a_lead_is_wide_only_if_some_sum_needs_it() {
    for rule in rules() {
        let (p, q) = (
            u128::from(rule.emission.numerator),
            u128::from(rule.emission.denominator),
        );
        let beyond = u128::from(rule.narrow);
        let largest = (beyond + 2) * q + u128::from(rule.capacity) * p;
        assert!(
            largest > u128::from(u64::MAX) || rule.narrow == FAR,
            "{rule:?} is wide without need"
        );
    }
    let fine = Emission {
        numerator: 1,
        denominator: u64::MAX,
    };
    assert_eq!(narrow(fine, 1), 0);
}

#[test]
fn the_everyday_and_the_extreme_use_different_widths() {
    let narrow: Vec<_> = rules().map(|rule| rule.narrow > 1 << 40).collect();
    assert!(narrow.contains(&true) && narrow.contains(&false));
}

#[test]
fn a_state_from_outside_that_lies_beyond_all_time_denies_until_the_end_of_time() {
    for rule in rules() {
        for micros in [FAR, FAR + (1 << 52), u64::MAX] {
            let mut state = TatState {
                micros,
                fraction: u64::MAX,
                emission: rule.emission,
            };
            let before = state;
            for now in [Timestamp::EPOCH, Timestamp::MAX] {
                let decision = rule.decide(&mut state, now, 1);
                assert!(decision.is_denied() && decision.remaining == 0, "{rule:?}");
                assert_eq!(decision.reset_at, Timestamp::MAX);
                assert!(decision.retry_after > Duration::from_micros(FAR - (1 << 54)));
                assert_eq!(rule.decide(&mut state, now, 0).reset_at, Timestamp::MAX);
            }
            assert_eq!(state, before);
        }
    }
}
