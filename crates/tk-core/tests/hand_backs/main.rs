//! Hand-backs let nothing through that the strategy does not allow.
//!
//! A run is a random sequence of leases, checks, hand-backs and steps of the clock on one key, under small parameters so that
//! everything collides. At its end each unit that was granted and not taken back counts at the instant at which it was charged, and
//! these must be within what the strategy allows. Each grant is handed back at most once, in any part: what is not handed back counts
//! as spent. That the search is worth something is shown by rules that are a little looser: it finds where each of them fails.
//!
//! `TK_HAND_BACK_RUNS` in the environment sets how many runs are made for each strategy.

#![expect(clippy::unwrap_used, reason = "the parameters are in range")]

mod allowed;
mod loose;

use std::{env, fmt::Debug, time::Duration};

use tk_core::{
    FixedWindow, Gcra, Grant, SlidingWindow, SlidingWindowLog, Strategy, Tag, Timestamp,
    TokenBucket,
};
use tk_testkit::Random;

use allowed::{Allowed, Charge};
use loose::{AnyWindow, CopiedLog, Remove, SliceOfOthers, Untagged};

/// Runs for each strategy, all five of them together in some seconds without optimization.
const RUNS: u64 = 60_000;

/// Finds a run in which more is admitted than allowed, and tells it.
fn find<S: Allowed>(mut sample: impl FnMut(&mut Random) -> S) -> Option<String> {
    let runs = env::var("TK_HAND_BACK_RUNS")
        .ok()
        .and_then(|runs| runs.parse().ok());
    (0..runs.unwrap_or(RUNS)).find_map(|seed| {
        let mut random = Random::new(seed);
        let strategy = sample(&mut random);
        let mut key = Key::new(strategy, random);
        for _ in 0..14 {
            key.step();
        }
        let told = || format!("seed {seed}: {:?} admits {:?}", key.strategy, key.charges);
        (!key.strategy.allows(&key.charges)).then(told)
    })
}

/// A key, and what it was charged.
struct Key<S: Strategy> {
    strategy: S,
    random: Random,
    state: S::State,
    now: Timestamp,
    charges: Vec<Charge>,
    /// Grants that may still be handed back, by their charge.
    held: Vec<(usize, Tag)>,
    retry: Duration,
}

impl<S: Strategy> Key<S> {
    fn new(strategy: S, mut random: Random) -> Self {
        Self {
            strategy,
            state: S::State::default(),
            now: Timestamp::from_micros(random.within(0, 12)),
            random,
            charges: Vec::new(),
            held: Vec::new(),
            retry: Duration::ZERO,
        }
    }

    fn step(&mut self) {
        let Self { random, now, .. } = self;
        *now = match random.within(0, 9) {
            0..=3 => *now,
            4 => *now + self.retry,
            5 => *now - Duration::from_micros(random.within(0, 4)),
            6 => *now + Duration::from_micros(random.within(0, 20)),
            _ => *now + Duration::from_micros(random.within(0, 3)),
        };
        let all = self.strategy.capacity();
        match random.within(0, 5) {
            0 | 1 if !self.held.is_empty() => self.give_back(),
            2 => {
                let cost = random.within(1, all);
                let decision = self.strategy.decide(&mut self.state, *now, cost);
                self.retry = decision.retry_after;
                if decision.allowed {
                    self.charged(cost);
                }
            }
            _ => {
                let want = random.within(1, all);
                let grant =
                    Grant::charge::<_, ()>(&self.strategy, &mut self.state, *now, want, 1, 1);
                let grant = grant.unwrap();
                self.retry = grant.decision.retry_after;
                if grant.amount > 0 {
                    self.held.push((self.charges.len(), grant.tag));
                    self.charged(grant.amount);
                }
            }
        }
    }

    fn charged(&mut self, units: u64) {
        self.charges.push(Charge {
            at: self.now.as_micros(),
            place: self.strategy.mark(&self.state, self.now),
            units,
        });
    }

    fn give_back(&mut self) {
        let any = self.random.within(0, self.held.len() as u64 - 1);
        let (charge, tag) = self.held.swap_remove(any as usize);
        let amount = self.random.within(1, tag.amount());
        let applied = tag.give_back(&self.strategy, &mut self.state, self.now, 1, amount);
        assert!(applied <= amount);
        self.charges[charge].units -= applied;
    }
}

const fn micros(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

fn gcra(random: &mut Random) -> Gcra {
    let gcra = Gcra::new(random.within(1, 4), micros(random.within(1, 7)));
    gcra.and_then(|gcra| gcra.burst(random.within(1, 5)))
        .unwrap()
}

fn fixed(random: &mut Random) -> FixedWindow {
    FixedWindow::new(random.within(1, 5), micros(random.within(1, 9))).unwrap()
}

fn sliding(random: &mut Random) -> SlidingWindow {
    let window = random.within(1, 9);
    let sliding = SlidingWindow::new(random.within(1, 5), micros(window));
    sliding
        .and_then(|sliding| sliding.buckets(random.within(1, window.min(4))))
        .unwrap()
}

fn log(random: &mut Random) -> SlidingWindowLog {
    SlidingWindowLog::new(random.within(1, 5), micros(random.within(1, 9))).unwrap()
}

#[track_caller]
fn never<S: Allowed + Debug>(sample: impl FnMut(&mut Random) -> S) {
    if let Some(run) = find(sample) {
        panic!("{run}");
    }
}

#[track_caller]
fn caught<S: Allowed + Debug>(sample: impl FnMut(&mut Random) -> S) {
    assert!(find(sample).is_some(), "the loose rule was not caught");
}

#[test]
fn no_hand_backs_let_gcra_exceed_its_rate() {
    never(gcra);
}

#[test]
fn no_hand_backs_let_a_token_bucket_exceed_its_rate() {
    never(|random| {
        let (capacity, refill) = (random.within(1, 5), random.within(1, 4));
        TokenBucket::new(capacity, refill, micros(random.within(1, 7))).unwrap()
    });
}

#[test]
fn no_hand_backs_let_a_fixed_window_exceed_its_limit() {
    never(fixed);
}

#[test]
fn no_hand_backs_let_a_sliding_window_exceed_its_estimate() {
    never(sliding);
}

#[test]
fn no_hand_backs_let_a_log_exceed_its_limit_in_any_window() {
    never(log);
}

#[test]
fn gcra_that_takes_back_without_comparing_tags_is_caught() {
    caught(|random| Untagged {
        rule: gcra(random),
        floor_at_now: false,
    });
}

#[test]
fn gcra_that_takes_back_without_comparing_tags_down_to_now_is_caught() {
    caught(|random| Untagged {
        rule: gcra(random),
        floor_at_now: true,
    });
}

#[test]
fn fixed_window_that_takes_back_into_another_window_is_caught() {
    caught(|random| AnyWindow(fixed(random)));
}

#[test]
fn sliding_window_that_takes_back_from_its_newest_slice_is_caught() {
    caught(|random| SliceOfOthers(sliding(random)));
}

#[test]
fn log_that_removes_from_its_newest_entry_is_caught() {
    caught(|random| CopiedLog {
        rule: log(random),
        remove: Remove::Newest,
    });
}

#[test]
fn log_that_removes_from_its_oldest_entry_is_caught() {
    caught(|random| CopiedLog {
        rule: log(random),
        remove: Remove::Oldest,
    });
}

#[test]
fn copied_log_that_removes_from_the_grants_own_entry_is_right() {
    never(|random| CopiedLog {
        rule: log(random),
        remove: Remove::Own,
    });
}
