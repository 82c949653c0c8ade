//! What a user relies on, on a clock that is told.

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
