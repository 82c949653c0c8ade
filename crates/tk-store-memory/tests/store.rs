//! What a user relies on, on a clock that is told.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests: to fail is what they are for"
)]

use std::{sync::Arc, time::Duration};

use tk_core::{
    Error, FixedWindow, Gcra, ManualClock, RateLimiter, SlidingWindow, SlidingWindowLog, Strategy,
    SyncStore, Timestamp,
};
use tk_store_memory::MemoryStore;

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(Timestamp::from_secs(1_000)))
}

fn limiter<S: Strategy>(strategy: S) -> RateLimiter<MemoryStore<S, Arc<ManualClock>>> {
    RateLimiter::new(strategy, MemoryStore::with_clock(clock()))
}

#[test]
fn keys_are_counted_apart() {
    let limiter = limiter(FixedWindow::per_minute(1).unwrap());
    assert!(limiter.check("a").unwrap().allowed);
    assert!(limiter.check("b").unwrap().allowed);
    assert!(limiter.check("a").unwrap().is_denied());
    assert_eq!(limiter.store().len(), 2);
    limiter.reset("a").unwrap();
    assert_eq!(limiter.store().len(), 1);
    assert!(limiter.check("a").unwrap().allowed);
}

#[test]
fn an_empty_key_and_an_impossible_cost_are_refused() {
    let limiter = limiter(FixedWindow::per_minute(5).unwrap());
    assert_eq!(limiter.check(""), Err(Error::EmptyKey));
    let error = limiter.check_n("a", 6).unwrap_err();
    assert_eq!(error, Error::ExceedsCapacity { cost: 6, limit: 5 });
    assert!(limiter.store().is_empty());
}

#[test]
fn what_writes_nothing_stores_nothing() {
    let limiter = limiter(Gcra::per_second(5).unwrap());
    assert!(limiter.check_n("a", 0).unwrap().allowed);
    assert_eq!(limiter.peek("b").unwrap().remaining, 5);
    limiter.reset("c").unwrap();
    assert!(limiter.store().is_empty());
}

fn drains_and_replenishes<S: Strategy>(strategy: S) {
    let limiter = limiter(strategy);
    for left in (0..10).rev() {
        assert_eq!(limiter.check("a").unwrap().remaining, left);
    }
    let denied = limiter.check("a").unwrap();
    assert!(denied.is_denied());
    let store_clock = limiter.store().clock();
    store_clock.advance(denied.retry_after - Duration::from_micros(1));
    assert!(limiter.check("a").unwrap().is_denied());
    store_clock.advance(Duration::from_micros(1));
    assert!(limiter.check("a").unwrap().allowed);
}

#[test]
fn states_of_every_kind_are_kept() {
    let second = Duration::from_secs(1);
    drains_and_replenishes(Gcra::new(10, second).unwrap());
    drains_and_replenishes(FixedWindow::new(10, second).unwrap());
    drains_and_replenishes(SlidingWindow::new(10, second).unwrap());
    drains_and_replenishes(SlidingWindowLog::new(10, second).unwrap());
}

#[test]
fn a_batch_sees_what_it_charged_itself() {
    let limiter = limiter(FixedWindow::per_minute(2).unwrap());
    let answers = limiter.check_many(&[("a", 1), ("b", 2), ("a", 1), ("a", 1), ("", 1), ("b", 3)]);
    let allowed: Vec<_> = answers
        .iter()
        .map(|answer| answer.map(|decision| decision.allowed))
        .collect();
    assert_eq!(
        allowed,
        [
            Ok(true),
            Ok(true),
            Ok(true),
            Ok(false),
            Err(Error::EmptyKey),
            Err(Error::ExceedsCapacity { cost: 3, limit: 2 }),
        ]
    );
}

fn hands_back<S: Strategy>(strategy: S) {
    let store = MemoryStore::with_clock(clock());
    let grant = store.lease_sync(&strategy, "a", 6, 1).unwrap();
    assert_eq!(grant.amount, 6);
    assert_eq!(store.give_back_sync(&strategy, "a", grant.tag, 4), Ok(4));
    assert_eq!(store.peek_sync(&strategy, "a").unwrap().remaining, 8);

    let grant = store.lease_sync(&strategy, "a", 100, 1).unwrap();
    assert_eq!(grant.amount, 8, "a partial grant of what is left");
    store.reset_sync(&strategy, "a").unwrap();
    assert!(store.check_sync(&strategy, "a", 8).unwrap().allowed);
    assert_eq!(store.give_back_sync(&strategy, "a", grant.tag, 8), Ok(0));
    assert_eq!(store.give_back_sync(&strategy, "b", grant.tag, 8), Ok(0));
}

#[test]
fn a_hand_back_is_taken_unless_the_key_was_reset() {
    let second = Duration::from_secs(1);
    hands_back(Gcra::new(10, second).unwrap());
    hands_back(FixedWindow::new(10, second).unwrap());
    hands_back(SlidingWindow::new(10, second).unwrap());
    hands_back(SlidingWindowLog::new(10, second).unwrap());
}

#[test]
fn fifty_of_two_hundred_concurrent_checks_pass() {
    let limiter = limiter(FixedWindow::per_minute(50).unwrap());
    let allowed = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..200)
            .map(|_| scope.spawn(|| limiter.check("a").unwrap().allowed))
            .collect();
        threads
            .into_iter()
            .map(|thread| usize::from(thread.join().unwrap()))
            .sum::<usize>()
    });
    assert_eq!(allowed, 50);
}

/// The ends of every range: an answer or an error, never a panic.
#[test]
fn no_input_makes_it_panic() {
    let most = 1 << 48;
    let longest = Duration::from_micros(1 << 45);
    let ends = [0, 1, 1_000_000, u64::MAX - 1, u64::MAX].map(Timestamp::from_micros);
    let costs = [0, 1, most - 1, most, most + 1, u64::MAX];
    let strategies = [
        Gcra::new(1, Duration::from_micros(1)).unwrap(),
        Gcra::new(most, longest).unwrap(),
        Gcra::new(1, longest).unwrap(),
        Gcra::new(most, Duration::from_micros(1)).unwrap(),
    ];
    let clock = clock();
    let store = MemoryStore::with_clock(clock.clone());
    for now in ends.iter().chain(ends.iter().rev()) {
        clock.set_wall(*now);
        for strategy in &strategies {
            for cost in costs {
                let _ = store.check_sync(strategy, "a", cost);
                let _ = store.peek_sync(strategy, "a");
                if let Ok(grant) = store.lease_sync(strategy, "a", cost, cost / 2) {
                    let _ = store.give_back_sync(strategy, "a", grant.tag, u64::MAX);
                }
            }
        }
    }
}

/// State built per worker or per request would admit the limit once for each.
#[test]
fn workers_that_share_a_limiter_share_its_limit() {
    let limiter = Arc::new(limiter(FixedWindow::per_minute(10).unwrap()));
    let workers: Vec<_> = (0..4)
        .map(|_| {
            let limiter = limiter.clone();
            std::thread::spawn(move || {
                (0..10)
                    .filter(|_| limiter.check("a").unwrap().allowed)
                    .count()
            })
        })
        .collect();
    let allowed: usize = workers.into_iter().map(|one| one.join().unwrap()).sum();
    assert_eq!(allowed, 10);
}

/// Eight threads over a thousand keys, in a store that grows meanwhile: no unit is lost, and none is invented.
#[test]
fn every_key_gets_its_limit_exactly_under_threads() {
    let limiter = limiter(Gcra::per_hour(20).unwrap());
    let allowed: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8_u64)
            .map(|thread| {
                let limiter = &limiter;
                scope.spawn(move || {
                    let keys = (0..10_000_u64).map(|i| (i * 7 + thread * 131) % 1_000);
                    keys.filter(|key| limiter.check(key).unwrap().allowed)
                        .count()
                })
            })
            .collect();
        threads.into_iter().map(|one| one.join().unwrap()).sum()
    });
    assert_eq!(allowed, 20_000);
    assert_eq!(limiter.store().len(), 1_000);
}
