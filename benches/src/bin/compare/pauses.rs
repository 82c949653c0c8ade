//! The longest single check, while a store grows and while it is cleaned.
//!
//! A machine that is shared has gaps of its own, during which nothing runs; the control column shows the longest gap
//! of a loop that only reads the clock, as often as the checks do.

use std::{
    hint::black_box,
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::Result;
use governor::{Quota, clock::FakeRelativeClock, middleware::NoOpMiddleware, nanos::Nanos};
use tk_benches::{Stopwatch, Table, name_of};
use tk_core::{Gcra, ManualClock, RateLimiter, SyncStore, Timestamp};
use tk_store_memory::MemoryStore;

use crate::section::Settings;

/// Which of the runs counts: the calmest, since a gap of the machine only ever adds.
fn calmest(runs: usize, mut run: impl FnMut() -> Result<f64>) -> Result<f64> {
    let mut best = f64::MAX;
    for _ in 0..runs {
        best = best.min(run()?);
    }
    Ok(best)
}

/// The longest of many steps, in microseconds.
fn longest(steps: u64, mut step: impl FnMut(u64)) -> f64 {
    let mut longest = Duration::ZERO;
    for number in 0..steps {
        let stopwatch = Stopwatch::start();
        step(number);
        longest = longest.max(stopwatch.elapsed());
    }
    longest.as_nanos() as f64 / 1e3
}

pub(crate) fn run(settings: &Settings) -> Result<Table> {
    let mut table = Table::new(
        "Pauses",
        "microseconds of the longest single check, in the calmest of several runs",
    );
    let (keys, runs) = if settings.quick {
        (100_000, 2)
    } else {
        (1_000_000, 5)
    };
    let names: Vec<String> = (0..2 * keys).map(name_of).collect();
    let (old, new) = names.split_at(keys as usize);
    table.row(
        format!("growing to {keys} keys"),
        [
            ("ThrottleKit".to_owned(), calmest(runs, || grow_ours(old))?),
            (
                "governor".to_owned(),
                calmest(runs, || Ok(grow_governor(old)))?,
            ),
            ("control".to_owned(), calmest(runs, || Ok(gaps(keys)))?),
        ],
    );
    table.row(
        format!("reclaiming {keys} stale keys"),
        [
            (
                "ThrottleKit".to_owned(),
                calmest(runs, || reclaim_ours(old, new))?,
            ),
            (
                "governor".to_owned(),
                calmest(runs, || Ok(reclaim_governor(old)))?,
            ),
            ("control".to_owned(), calmest(runs, || Ok(gaps(keys)))?),
        ],
    );
    Ok(table)
}

fn gaps(keys: u64) -> f64 {
    longest(keys, |number| {
        black_box(number);
    })
}

fn grow_ours(names: &[String]) -> Result<f64> {
    let limiter = RateLimiter::new(Gcra::per_minute(100)?, MemoryStore::new());
    Ok(longest(names.len() as u64, |number| {
        black_box(&limiter.check(names[number as usize].as_str()));
    }))
}

fn grow_governor(names: &[String]) -> f64 {
    let hundred = NonZeroU32::MIN.saturating_add(99);
    let limiter = governor::DefaultKeyedRateLimiter::keyed(Quota::per_minute(hundred));
    longest(names.len() as u64, |number| {
        black_box(&limiter.check_key(&names[number as usize]));
    })
}

/// Keys go stale at once, since the clock is told; then checks of a few other keys reclaim them.
fn reclaim_ours(old: &[String], new: &[String]) -> Result<f64> {
    let clock = Arc::new(ManualClock::at(Timestamp::from_secs(1_000_000)));
    let strategy = Gcra::per_minute(100)?;
    let store = MemoryStore::with_clock(clock.clone());
    for name in old {
        let _ = store.check_sync(&strategy, name.as_str(), 1)?;
    }
    clock.advance(Duration::from_secs(3_600));
    let mut at_work = Ok(());
    let others = &new[..1_000];
    let steps = 4 * old.len() as u64;
    let pause = longest(steps, |number| {
        let name = others[number as usize % others.len()].as_str();
        if let Err(error) = store.check_sync(&strategy, name, 1) {
            at_work = Err(error);
        }
    });
    at_work?;
    let left = store.len();
    anyhow::ensure!(left <= 2 * others.len(), "{left} keys are still there");
    Ok(pause)
}

/// governor is cleaned by a call, on a thread of its own; what counts is what it does to the checks of others.
fn reclaim_governor(old: &[String]) -> f64 {
    let clock = FakeRelativeClock::default();
    let quota = Quota::per_minute(NonZeroU32::MIN.saturating_add(99));
    let store = governor::state::keyed::DefaultKeyedStateStore::<String>::default();
    let limiter: governor::RateLimiter<_, _, _, NoOpMiddleware<Nanos>> =
        governor::RateLimiter::new(quota, store, clock.clone());
    for name in old {
        let _ = limiter.check_key(name);
    }
    clock.advance(Duration::from_secs(3_600));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            limiter.retain_recent();
            done.store(true, Ordering::Release);
        });
        let mut pause: f64 = 0.0;
        let mut next = 0;
        while !done.load(Ordering::Acquire) {
            let one = longest(1_000, |number| {
                let name = &old[(next + number as usize) % old.len()];
                black_box(&limiter.check_key(name));
            });
            next += 1_000;
            pause = pause.max(one);
        }
        pause
    })
}
