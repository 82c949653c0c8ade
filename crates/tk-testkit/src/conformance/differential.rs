//! Any operations in any order, beside the rule itself.

use std::{env, fmt::Debug, net::Ipv4Addr, time::Duration};

use tk_core::{
    Decision, FixedWindow, Gcra, OwnedKey, SlidingWindow, SlidingWindowLog, Store, Strategy,
    Timestamp, TokenBucket,
};

use super::{Harness, HarnessForAll, Held, Twin};
use crate::{Random, Sample};

/// How many runs to make for each strategy: `TK_CONFORMANCE_RUNS` in the environment, or 25.
#[must_use]
pub fn runs() -> u64 {
    env::var("TK_CONFORMANCE_RUNS")
        .ok()
        .and_then(|runs| runs.parse().ok())
        .unwrap_or(25)
}

pub(super) async fn all<H: HarnessForAll>(harness: &H) {
    for seed in 0..runs() {
        differential(harness, seed, 200, Gcra::sample).await;
        differential(harness, seed, 200, TokenBucket::sample).await;
        differential(harness, seed, 200, FixedWindow::sample).await;
        differential(harness, seed, 200, SlidingWindow::sample).await;
        differential(harness, seed, 200, SlidingWindowLog::sample).await;
    }
}

/// One run of `operations` random operations on a few keys: checks, peeks, leases, hand-backs, resets, several checks at once,
/// changes of strategy, and time that mostly advances. Every answer must equal the rule's.
///
/// The strategies are drawn by `sample`; the same seed gives the same run.
///
/// # Panics
///
/// If an answer differs; the message names the seed.
pub async fn differential<S, H>(
    harness: &H,
    seed: u64,
    operations: usize,
    mut sample: impl FnMut(&mut Random) -> S,
) where
    S: Strategy + Debug,
    H: Harness<S>,
{
    let mut random = Random::new(seed);
    let strategy = sample(&mut random);
    let start = random.choose(&STARTS);
    let story = format!("seed {seed}, at first {strategy:?}");
    let twin = Twin::new(harness, &strategy, Timestamp::from_micros(start), story).await;
    let mut run = Run {
        twin,
        random,
        keys: keys(),
        held: Vec::new(),
        last: None,
    };
    for _ in 0..operations {
        run.pass_time();
        if run.random.chance(3) {
            run.twin.strategy = sample(&mut run.random);
        }
        run.operate().await;
    }
}

/// The epoch, its vicinity, the present, and the end of time.
const STARTS: [u64; 6] = [
    0,
    1,
    1_000_000,
    1_700_000_000_000_000,
    1_796_012_345_678_901,
    Timestamp::MAX.as_micros() - 100_000_000,
];

fn keys() -> [OwnedKey; 4] {
    [
        OwnedKey::of("alice"),
        OwnedKey::of(&7_u64),
        OwnedKey::of(&("GET", 7_u64)),
        OwnedKey::of(&Ipv4Addr::LOCALHOST),
    ]
}

struct Run<St: Store> {
    twin: Twin<St>,
    random: Random,
    keys: [OwnedKey; 4],
    held: Vec<(OwnedKey, Held)>,
    last: Option<Decision>,
}

impl<St: Store> Run<St> {
    /// Stands still, goes to the very microsecond that was told or the one before, leaps, or steps back.
    fn pass_time(&mut self) {
        let Self {
            twin, random, last, ..
        } = self;
        let now = twin.now();
        let told = last.map(|decision| decision.retry_after);
        let full = last.map_or(Duration::from_secs(1), |decision| {
            decision.reset_at.since(now)
        });
        let full = full.as_micros() as u64;
        let micros = Duration::from_micros;
        let next = match (random.within(1, 100), told) {
            (1..=20, Some(told)) if !told.is_zero() => now + told,
            (21..=30, Some(told)) if !told.is_zero() => now + told - micros(1),
            (1..=60, _) => now + micros(random.up_to(1 + full / 8)),
            (61..=68, _) => now + micros(full),
            (69..=74, _) => now + micros(random.within(0, full.saturating_mul(2))),
            (75..=80, _) => now - micros(random.up_to(full.max(1_000))),
            _ => now,
        };
        twin.set_now(next);
    }

    async fn operate(&mut self) {
        let Self {
            twin, random, keys, ..
        } = self;
        let key = random.choose(&[0, 0, 0, 1, 2, 3]);
        let key = keys[key].clone();
        match random.within(1, 100) {
            1..=45 => {
                let cost = cost(&twin.strategy, random);
                self.last = twin.check(&key, cost).await.ok();
            }
            46..=53 => self.last = twin.peek(&key).await.ok(),
            54..=70 => {
                let (want, at_least) = (cost(&twin.strategy, random), cost(&twin.strategy, random));
                let at_least = random.choose(&[0, 1, at_least.min(want)]);
                if let Ok(held) = twin.lease(&key, want, at_least).await {
                    self.last = Some(held.grant.decision);
                    self.held.push((key, held));
                }
            }
            71..=86 => self.give_back().await,
            87..=90 => drop(twin.reset(&key).await),
            _ => {
                let calls: Vec<_> = (0..random.within(0, 6))
                    .map(|_| {
                        let key = keys[random.within(0, 3) as usize].clone();
                        (key, cost(&twin.strategy, random))
                    })
                    .collect();
                let answers = twin.check_many(&calls).await;
                self.last = answers.into_iter().rev().find_map(Result::ok);
            }
        }
    }

    /// Hands back a grant, mostly a late one, at most once.
    async fn give_back(&mut self) {
        let Self {
            twin, random, held, ..
        } = self;
        let Some(newest) = held.len().checked_sub(1) else {
            return;
        };
        let any = random.within(0, newest as u64) as usize;
        let (key, held) = held.swap_remove(random.choose(&[newest, newest, any]));
        let amount = held.grant.amount;
        let amount = random.choose(&[
            amount,
            random.clone().within(0, amount),
            amount.saturating_mul(2),
        ]);
        let _ = twin.give_back(&key, &held, amount).await;
    }
}

/// Mostly 1, often a part of the capacity, sometimes all, nothing, or too much.
fn cost<S: Strategy>(strategy: &S, random: &mut Random) -> u64 {
    let all = strategy.capacity();
    match random.within(1, 100) {
        1..=4 => 0,
        5..=45 => 1,
        46..=70 => random.within(1, (all / 4).max(1)),
        71..=85 => random.within(1, all),
        86..=90 => random.up_to(all),
        91..=96 => all,
        97..=98 => all + 1,
        _ => random.next(),
    }
}
