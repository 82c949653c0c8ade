//! The pool's promises on random histories.

use std::collections::BTreeMap;

use quickcheck::{Arbitrary, Gen, QuickCheck};

use super::*;

const WINDOW: u64 = 100;
const NAMES: [&str; 4] = ["ap", "eu", "us", "za"];

#[derive(Clone, Copy, Debug)]
enum Step {
    Draw {
        region: usize,
        weight: u64,
        settled: u64,
        want: u64,
    },
    GiveBack {
        region: usize,
        amount: u64,
        again: bool,
    },
    Wait(u64),
}

#[derive(Clone, Debug)]
struct History {
    limit: u64,
    idle_after: u64,
    steps: Vec<Step>,
}

fn below(g: &mut Gen, most: u64) -> u64 {
    u64::arbitrary(g) % most
}

impl Arbitrary for History {
    fn arbitrary(g: &mut Gen) -> Self {
        let limit = 1 + below(g, 200);
        let steady = bool::arbitrary(g);
        let steps = (0..10 + below(g, 60)).map(|_| match below(g, 10) {
            0..=2 => Step::Wait(1 + below(g, 12)),
            3 => Step::Wait(below(g, 120)),
            4 => Step::GiveBack {
                region: below(g, 4) as usize,
                amount: below(g, 50),
                again: bool::arbitrary(g),
            },
            _ => {
                let region = below(g, 4) as usize;
                Step::Draw {
                    region,
                    weight: if steady {
                        region as u64 + 1
                    } else {
                        below(g, 5)
                    },
                    settled: below(g, 20),
                    want: below(g, 2 * limit),
                }
            }
        });
        let steps = steps.collect();
        Self {
            limit,
            idle_after: 1 + below(g, 20),
            steps,
        }
    }
}

/// What the pool owes to regions whose weight stays as it is, seen from the outside.
#[derive(Default)]
struct Watch {
    start: u64,
    asked: BTreeMap<usize, u64>,
    early: Vec<usize>,
    seen: Vec<usize>,
}

impl Watch {
    fn see(&mut self, region: usize, now: u64, idle_after: u64) {
        let start = now - now % WINDOW;
        let active = |asked: &BTreeMap<usize, u64>, region: &usize, at: u64| {
            asked
                .get(region)
                .is_some_and(|asked| at - (*asked).min(at) < idle_after)
        };
        if start > self.start {
            self.start = start;
            self.early = (0..4).filter(|r| active(&self.asked, r, start)).collect();
            self.seen.clone_from(&self.early);
        }
        self.early.retain(|r| active(&self.asked, r, now));
        self.asked.insert(region, now);
        if !self.seen.contains(&region) {
            self.seen.push(region);
        }
    }
}

fn holds(history: History) -> bool {
    let rule = PoolRule {
        limit: history.limit,
        window: WINDOW,
        idle_after: history.idle_after,
    };
    let (mut state, mut watch, mut now) = (PoolState::default(), Watch::default(), WINDOW);
    let mut tags: [Option<PoolTag>; 4] = [None; 4];
    history.steps.iter().all(|step| match *step {
        Step::Wait(span) => {
            now += span;
            true
        }
        Step::GiveBack {
            region,
            amount,
            again,
        } => {
            let Some(tag) = tags[region] else {
                return true;
            };
            let before = state.drawn();
            let taken = rule.give_back(&mut state, NAMES[region], tag, amount, now);
            let repeated = if again {
                rule.give_back(&mut state, NAMES[region], tag, amount, now)
            } else {
                0
            };
            taken <= amount && state.drawn() + taken == before && (taken == 0 || repeated == 0)
        }
        Step::Draw {
            region,
            weight,
            settled,
            want,
        } => {
            let before = state.region(NAMES[region]).granted;
            let rolled = now - now % WINDOW > state.start;
            let draw = Draw {
                weight,
                settled,
                want,
            };
            let Ok(grant) = rule.draw(&mut state, NAMES[region], draw, now) else {
                return false;
            };
            tags[region] = Some(grant.tag);
            watch.see(region, now, history.idle_after);
            let after = state.region(NAMES[region]);
            let total: u64 = watch.seen.iter().map(|r| *r as u64 + 1).sum();
            let promised = (region as u64 + 1) * history.limit / total;
            let steady = history.steps.iter().all(|step| match step {
                Step::Draw { region, weight, .. } => *weight == *region as u64 + 1,
                _ => true,
            });
            let owed = steady && watch.early.contains(&region) && grant.amount < want;
            state.drawn() <= history.limit
                && grant.amount <= want
                && (rolled || after.granted == before + grant.amount)
                && (weight > 0 || grant.amount == 0)
                && (!owed || after.drawn() >= promised)
        }
    })
}

#[test]
fn limit_promises_and_single_hand_backs_hold_on_random_histories() {
    QuickCheck::new()
        .tests(20_000)
        .max_tests(20_000)
        .quickcheck(holds as fn(History) -> bool);
}

fn pool(limit: u64) -> (PoolRule, PoolState) {
    let idle_after = 10;
    (
        PoolRule {
            limit,
            window: WINDOW,
            idle_after,
        },
        PoolState::default(),
    )
}

fn draw(weight: u64, settled: u64, want: u64) -> Draw {
    Draw {
        weight,
        settled,
        want,
    }
}

#[test]
fn nothing_is_left_over_when_a_region_falls_silent() -> Result<(), PoolFull> {
    let (rule, mut state) = pool(90);
    for name in ["a", "b", "c"] {
        let _ = rule.draw(&mut state, name, draw(1, 0, 1), 95)?;
    }
    assert_eq!(rule.draw(&mut state, "c", draw(1, 0, 10), 100)?.amount, 10);
    assert_eq!(rule.draw(&mut state, "a", draw(1, 0, 90), 101)?.amount, 30);
    assert_eq!(rule.draw(&mut state, "b", draw(1, 0, 90), 104)?.amount, 30);
    assert_eq!(rule.draw(&mut state, "a", draw(1, 0, 90), 109)?.amount, 0);
    // From here on `c` is silent, and the other two share what it has not drawn.
    assert_eq!(rule.draw(&mut state, "a", draw(1, 0, 90), 110)?.amount, 10);
    assert_eq!(rule.draw(&mut state, "b", draw(1, 0, 90), 110)?.amount, 10);
    assert_eq!(state.drawn(), 90);
    Ok(())
}

#[test]
fn use_of_tenants_that_left_does_not_count_against_those_who_stay() -> Result<(), PoolFull> {
    let (rule, mut state) = pool(90);
    let _ = rule.draw(&mut state, "a", draw(2, 0, 1), 95)?;
    let _ = rule.draw(&mut state, "b", draw(1, 0, 1), 95)?;
    // Two tenants in `a`: one used 5 and left, the other used 30. One in `b` used 30.
    assert_eq!(rule.draw(&mut state, "a", draw(2, 0, 35), 100)?.amount, 35);
    assert_eq!(rule.draw(&mut state, "b", draw(1, 0, 30), 100)?.amount, 30);
    let a = rule.draw(&mut state, "a", draw(1, 5, 90), 105)?;
    let b = rule.draw(&mut state, "b", draw(1, 0, 90), 105)?;
    // (90 - 5) / 2 each, one of them with the odd unit.
    assert_eq!((a.amount, b.amount), (13, 12));
    Ok(())
}

#[test]
fn a_newcomer_gets_what_is_not_promised() -> Result<(), PoolFull> {
    let (rule, mut state) = pool(60);
    for name in ["fast", "slow"] {
        let _ = rule.draw(&mut state, name, draw(1, 0, 1), 95)?;
    }
    assert_eq!(
        rule.draw(&mut state, "fast", draw(1, 0, 60), 100)?.amount,
        30
    );
    assert_eq!(rule.draw(&mut state, "slow", draw(1, 0, 5), 100)?.amount, 5);
    assert_eq!(
        rule.draw(&mut state, "new", draw(1, 0, 60), 101)?.amount,
        10
    );
    assert_eq!(
        rule.draw(&mut state, "slow", draw(1, 0, 60), 102)?.amount,
        15
    );
    Ok(())
}

#[test]
fn a_tag_of_a_lost_state_is_refused() -> Result<(), PoolFull> {
    let (rule, mut state) = pool(60);
    let tag = rule.draw(&mut state, "a", draw(1, 0, 20), 100)?.tag;
    state = PoolState::default();
    let _ = rule.draw(&mut state, "a", draw(1, 0, 20), 101)?;
    assert_eq!(rule.give_back(&mut state, "a", tag, 20, 102), 0);
    Ok(())
}

#[test]
fn there_is_an_end_to_regions() {
    let (rule, mut state) = pool(60);
    for i in 0..MAX_REGIONS {
        assert!(
            rule.draw(&mut state, &i.to_string(), draw(1, 0, 0), 100)
                .is_ok()
        );
    }
    assert_eq!(
        rule.draw(&mut state, "more", draw(1, 0, 0), 100),
        Err(PoolFull)
    );
    assert!(rule.draw(&mut state, "0", draw(1, 0, 0), 100).is_ok());
    assert!(rule.draw(&mut state, "more", draw(1, 0, 0), 200).is_ok());
}

/// A number as it may stand in a state that somebody else wrote.
fn anything(g: &mut Gen) -> u64 {
    match below(g, 4) {
        0 => below(g, 4),
        1 => below(g, 1_000),
        2 => u64::MAX - below(g, 4),
        _ => u64::arbitrary(g),
    }
}

#[derive(Clone, Debug)]
struct Foreign {
    state: PoolState,
    draw: Draw,
    tag: PoolTag,
    amount: u64,
    now: u64,
}

impl Arbitrary for Foreign {
    fn arbitrary(g: &mut Gen) -> Self {
        let region = |g: &mut Gen| Region {
            weight: anything(g),
            base: anything(g),
            peak: anything(g),
            settled: anything(g),
            granted: anything(g),
            returned: anything(g),
            turn: anything(g),
            asked: anything(g),
        };
        let regions = NAMES[..below(g, 5) as usize].iter();
        let regions = regions.map(|name| ((*name).into(), region(g))).collect();
        let state = PoolState {
            start: anything(g),
            begun: anything(g),
            latest: anything(g),
            regions,
        };
        let tag = PoolTag {
            start: state.start,
            begun: state.begun,
            turn: state.region("eu").turn,
        };
        Self {
            tag,
            state,
            draw: draw(anything(g), anything(g), anything(g)),
            amount: anything(g),
            now: anything(g),
        }
    }
}

fn is_bounded(foreign: Foreign) -> bool {
    let Foreign {
        mut state,
        draw,
        tag,
        amount,
        now,
    } = foreign;
    let (rule, _) = pool(60);
    let drawn = state.drawn();
    let taken = rule.give_back(&mut state, "eu", tag, amount, now);
    if taken > amount.min(drawn) {
        return false;
    }
    (0..2).all(|_| match rule.draw(&mut state, "eu", draw, now) {
        Ok(grant) => {
            grant.amount <= draw.want.min(60) && (grant.amount == 0 || state.drawn() <= 60)
        }
        Err(PoolFull) => false,
    })
}

#[test]
fn whatever_a_state_from_elsewhere_holds_no_more_than_the_limit_is_granted() {
    QuickCheck::new()
        .tests(20_000)
        .max_tests(20_000)
        .quickcheck(is_bounded as fn(Foreign) -> bool);
}
