//! Waiting until a request fits.

#![cfg(all(feature = "tokio", feature = "memory"))]

use std::{sync::Arc, time::Duration};

use throttlekit::{
    Acquire, AcquireError, AsyncRateLimiter, Clock, Error, Gcra, ManualClock, MemoryStore,
    RateLimiter, Strategy, Timestamp, TokenBucket,
};

type Limiter<S> = RateLimiter<MemoryStore<S, Arc<ManualClock>>>;

const SECOND: Duration = Duration::from_secs(1);

fn limiter<S: Strategy>(strategy: S) -> (Arc<Limiter<S>>, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at(Timestamp::from_secs(1_000)));
    let store = MemoryStore::with_clock(Arc::clone(&clock));
    (Arc::new(RateLimiter::new(strategy, store)), clock)
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_met_in_time_is_refused_at_once_and_nothing_is_reserved() {
    let (limiter, _clock) = limiter(TokenBucket::new(1, 1, 10 * SECOND).unwrap());
    assert!(limiter.check("k").unwrap().allowed);
    let start = tokio::time::Instant::now();
    let refused = limiter.acquire("k", 1, SECOND).await.unwrap_err();
    // Time that is paused passes for those who sleep.
    assert_eq!(start.elapsed(), Duration::ZERO);
    let AcquireError::TooLate { decision, left } = refused else {
        panic!("{refused}")
    };
    assert_eq!((decision.retry_after, left), (10 * SECOND, SECOND));
    assert_eq!(limiter.peek("k").unwrap().retry_after, 10 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn several_units_have_one_deadline() {
    let (limiter, _clock) = limiter(TokenBucket::new(3, 1, 10 * SECOND).unwrap());
    assert!(limiter.check_n("k", 3).unwrap().allowed);
    let start = tokio::time::Instant::now();
    let refused = limiter.acquire("k", 3, SECOND).await.unwrap_err();
    assert!(
        matches!(refused, AcquireError::TooLate { decision, .. } if decision.retry_after == 30 * SECOND)
    );
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test]
async fn a_cost_above_the_capacity_is_refused_at_once() {
    let (limiter, _clock) = limiter(TokenBucket::new(3, 3, 2 * SECOND).unwrap());
    let refused = limiter.acquire("k", 4, Duration::MAX).await.unwrap_err();
    assert_eq!(
        refused,
        AcquireError::Limiter(Error::ExceedsCapacity { cost: 4, limit: 3 })
    );
}

#[tokio::test]
async fn one_can_wait_on_a_store_as_it_comes() {
    let limiter = RateLimiter::new(
        Gcra::per_second(50).unwrap().burst(1).unwrap(),
        MemoryStore::new(),
    );
    let start = limiter.store().clock().now();
    for _ in 0..3 {
        let decision = limiter.acquire("k", 1, 60 * SECOND).await.unwrap();
        assert!(decision.allowed);
    }
    // One per 20 ms: the third comes 40 ms after the first, which came after the start.
    assert!(limiter.store().clock().now().since(start) >= Duration::from_millis(40));
}

#[tokio::test(start_paused = true)]
async fn a_waiter_is_served_when_the_clock_says_so() {
    let (limiter, clock) = limiter(Gcra::per_second(1).unwrap());
    assert!(limiter.check("k").unwrap().allowed);
    let waiter = tokio::spawn({
        let limiter = Arc::clone(&limiter);
        async move { limiter.acquire("k", 1, 5 * SECOND).await }
    });
    tokio::time::sleep(Duration::from_millis(10)).await;
    clock.advance(SECOND - Duration::from_micros(1));
    tokio::time::sleep(Duration::from_millis(10)).await;
    assert!(!waiter.is_finished());
    clock.advance(Duration::from_micros(1));
    assert!(waiter.await.unwrap().unwrap().allowed);
}

#[tokio::test(start_paused = true)]
async fn a_waiter_that_leaves_takes_nothing_along() {
    let (limiter, clock) = limiter(Gcra::per_second(1).unwrap());
    assert!(limiter.check("k").unwrap().allowed);
    let wait = tokio::time::timeout(
        Duration::from_millis(10),
        limiter.acquire("k", 1, 5 * SECOND),
    );
    assert!(wait.await.is_err());
    clock.advance(SECOND);
    assert!(limiter.check("k").unwrap().allowed);
}

#[tokio::test(start_paused = true)]
async fn a_wait_of_ages_neither_panics_nor_returns_early() {
    let slow = Gcra::new(1, Duration::from_micros(1 << 45))
        .unwrap()
        .burst(100)
        .unwrap();
    let (limiter, _clock) = limiter(slow);
    assert!(limiter.check_n("k", 100).unwrap().allowed);
    let wait = limiter.acquire("k", 100, Duration::MAX);
    let patience = Duration::from_secs(10);
    assert!(tokio::time::timeout(patience, wait).await.is_err());
}

/// Waits through a timer of a millisecond reach a limit of ten thousand per second all the same.
#[tokio::test]
async fn a_coarse_timer_does_not_hold_the_throughput_back() {
    let limiter = RateLimiter::new(
        Gcra::per_second(10_000).unwrap().burst(50).unwrap(),
        MemoryStore::new(),
    );
    let start = throttlekit::Clock::monotonic(limiter.store().clock());
    for _ in 0..2_000 {
        assert!(limiter.acquire("k", 1, SECOND).await.unwrap().allowed);
    }
    let took = throttlekit::Clock::monotonic(limiter.store().clock()).since(start);
    // Never faster than burst + rate * t; how much slower is measured and not asserted here.
    assert!(took >= Duration::from_micros(99 * 1_950), "{took:?}");
    println!("2,000 units at 10,000 per second took {took:?}");
}

/// As above, on the clocks that wait in earnest: the default one of a memory store, and the system's.
#[tokio::test(start_paused = true)]
async fn a_wait_of_ages_on_a_real_clock_neither_panics_nor_returns_early() {
    async fn waits(clock: impl throttlekit::Timer + 'static) {
        let slow = Gcra::new(1, Duration::from_micros(1 << 45))
            .unwrap()
            .burst(100)
            .unwrap();
        let limiter = RateLimiter::new(slow, MemoryStore::with_clock(clock));
        assert!(limiter.check_n("k", 100).unwrap().allowed);
        let wait = limiter.acquire("k", 100, Duration::MAX);
        let hour = Duration::from_secs(3_600);
        assert!(tokio::time::timeout(hour, wait).await.is_err());
    }
    waits(throttlekit::QuantaClock::new()).await;
    waits(throttlekit::SystemClock).await;
}

/// A retry time of an hour says nothing of what an operator may do in that hour.
#[tokio::test(start_paused = true)]
async fn a_waiter_learns_within_a_second_that_its_key_was_reset_or_its_limit_raised() {
    let hourly = |limit| throttlekit::FixedWindow::per_hour(limit).unwrap();
    for is_reset in [true, false] {
        let (limiter, clock) = limiter(hourly(1));
        assert!(limiter.check("k").unwrap().allowed);
        let waiter = tokio::spawn({
            let limiter = Arc::clone(&limiter);
            async move { limiter.acquire("k", 1, 3_600 * SECOND).await }
        });
        tokio::time::sleep(Duration::from_millis(10)).await;
        clock.advance(5 * SECOND);
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert!(!waiter.is_finished());
        if is_reset {
            limiter.reset("k").unwrap();
        } else {
            limiter.set_strategy(hourly(2));
        }
        clock.advance(SECOND);
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert!(waiter.is_finished(), "it sleeps for the rest of the hour");
        assert!(waiter.await.unwrap().unwrap().allowed);
    }
}

/// Limiters that share a store hold it in an `Arc`; so do tasks their limiter.
#[tokio::test(start_paused = true)]
async fn limiters_that_share_a_store_can_be_waited_on() {
    let clock = Arc::new(ManualClock::at(Timestamp::from_secs(1_000)));
    let store = Arc::new(MemoryStore::with_clock(clock));
    let mail = RateLimiter::new(Gcra::per_second(1).unwrap(), Arc::clone(&store));
    let mail = Arc::new(mail.with_prefix("mail").unwrap());
    let sms = AsyncRateLimiter::new(Gcra::per_second(1).unwrap(), store);
    assert!(mail.acquire("k", 1, SECOND).await.unwrap().allowed);
    assert!(sms.acquire("k", 1, SECOND).await.unwrap().allowed);
    assert!(mail.acquire("k", 1, SECOND / 2).await.is_err());
}
