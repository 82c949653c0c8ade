//! Strategies change, and several share a store, on live state.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests: to fail is what they are for"
)]

use std::{sync::Arc, time::Duration};

use tk_core::{FixedWindow, Gcra, ManualClock, RateLimiter, Strategy, SyncStore, Timestamp};
use tk_store_memory::MemoryStore;

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(Timestamp::from_secs(1_000_000)))
}

/// The rule itself, beside the store: one state, decided by whatever strategy comes.
struct Twin<S: Strategy> {
    store: MemoryStore<S, Arc<ManualClock>>,
    state: S::State,
}

impl<S: Strategy> Twin<S> {
    fn new() -> Self {
        Self {
            store: MemoryStore::with_clock(clock()),
            state: S::State::default(),
        }
    }

    fn check(&mut self, strategy: &S, cost: u64) {
        let now = tk_core::Clock::now(self.store.clock());
        let expected = strategy.decide(&mut self.state, now, cost);
        let decision = self.store.check_sync(strategy, "key", cost).unwrap();
        assert_eq!(decision, expected);
        assert_eq!(
            self.store.peek_sync(strategy, "key").unwrap(),
            strategy.peek(&self.state, now)
        );
    }
}

/// More scales than the register has room for, back and forth, so that a state is packed, goes to the slab, and comes back.
#[test]
fn any_number_of_scales_decide_as_the_rule_says() {
    let scales: Vec<Gcra> = (1..=40)
        .map(|rate| Gcra::per_minute(rate * 7 + 20).unwrap())
        .collect();
    let mut twin = Twin::new();
    let mut at = 0;
    for step in 0..4_000_u64 {
        at = (at + (step * step % 17) as usize) % scales.len();
        twin.check(&scales[at], step % 5);
        if step % 3 == 0 {
            twin.store
                .clock()
                .advance(Duration::from_millis(step % 900));
        }
    }
}

#[test]
fn any_number_of_windows_decide_as_the_rule_says() {
    let scales: Vec<FixedWindow> = (1..=40)
        .map(|seconds| FixedWindow::new(20, Duration::from_secs(seconds)).unwrap())
        .collect();
    let mut twin = Twin::new();
    for step in 0..4_000_u64 {
        twin.check(&scales[(step * step % 41 % 40) as usize], step % 4);
        twin.store
            .clock()
            .advance(Duration::from_millis(step % 700));
    }
}

/// Swapping in a new limiter would give a free burst.
#[test]
fn a_new_rate_frees_nobody_and_locks_nobody_out() {
    let limiter = RateLimiter::new(
        Gcra::per_second(10).unwrap(),
        MemoryStore::with_clock(clock()),
    );
    assert!(limiter.check_n("a", 10).unwrap().allowed);
    for rate in 11..60 {
        limiter.set_strategy(Gcra::per_second(rate).unwrap().burst(10).unwrap());
        let denied = limiter.check("a").unwrap();
        assert!(denied.is_denied(), "at rate {rate}");
        assert!(denied.retry_after <= Duration::from_millis(100));
    }
    limiter.store().clock().advance(Duration::from_millis(100));
    assert!(limiter.check("a").unwrap().allowed);
}

/// A copy of a denied state is of one scale; another scale must not read it.
#[test]
fn a_denial_under_one_rate_says_nothing_about_another() {
    let store = MemoryStore::with_clock(clock());
    let slow = Gcra::per_hour(1).unwrap().burst(5).unwrap();
    let fast = Gcra::per_second(1_000).unwrap().burst(6).unwrap();
    assert!(store.check_sync(&slow, "a", 5).unwrap().allowed);
    // The second denial in a row is copied.
    assert!(store.check_sync(&slow, "a", 1).unwrap().is_denied());
    assert!(store.check_sync(&slow, "a", 1).unwrap().is_denied());
    assert!(store.check_sync(&fast, "a", 1).unwrap().allowed);
    assert!(store.check_sync(&fast, "a", 1).unwrap().is_denied());
    assert!(store.check_sync(&fast, "a", 1).unwrap().is_denied());
    store.clock().advance(Duration::from_millis(6));
    assert!(store.check_sync(&fast, "a", 6).unwrap().allowed);
}

/// A limit alone is not a scale: it is obeyed by the next call, also by one that is decided on a copy.
#[test]
fn a_raised_limit_is_obeyed_at_once() {
    let store = MemoryStore::with_clock(clock());
    let (low, high) = (
        FixedWindow::per_minute(2).unwrap(),
        FixedWindow::per_minute(3).unwrap(),
    );
    assert!(store.check_sync(&low, "a", 2).unwrap().allowed);
    assert!(store.check_sync(&low, "a", 1).unwrap().is_denied());
    assert!(store.check_sync(&low, "a", 1).unwrap().is_denied());
    assert!(store.check_sync(&high, "a", 1).unwrap().allowed);
    assert!(store.check_sync(&high, "a", 1).unwrap().is_denied());
}

/// Two policies on one counter would count each other's calls.
#[test]
fn two_limits_over_one_store_count_apart() {
    let store = Arc::new(MemoryStore::with_clock(clock()));
    let monthly = FixedWindow::new(10, Duration::from_secs(30 * 86_400)).unwrap();
    let hourly = FixedWindow::per_hour(5).unwrap();
    let take = |strategy: &FixedWindow, prefix| {
        let key = tk_core::Prefix {
            space: Some(prefix),
            key: "user",
        };
        store.check_sync(strategy, &key, 1).unwrap().allowed
    };
    let counts = |strategy, prefix| (0..20).filter(|_| take(strategy, prefix)).count();
    assert_eq!(counts(&monthly, "monthly"), 10);
    assert_eq!(counts(&hourly, "hourly"), 5);
    store.clock().advance(Duration::from_secs(3_600));
    assert_eq!(counts(&monthly, "monthly"), 0);
    assert_eq!(counts(&hourly, "hourly"), 5);
}

/// States in the slab move when one of them leaves; each must stay its key's.
#[test]
fn states_in_the_slab_stay_with_their_keys() {
    let store = MemoryStore::builder()
        .shards(1)
        .clock(clock())
        .build()
        .unwrap();
    let filler: Vec<Gcra> = (1..=15).map(|rate| Gcra::per_hour(rate).unwrap()).collect();
    for strategy in &filler {
        assert!(store.check_sync(strategy, "filler", 0).unwrap().allowed);
    }
    let last = Gcra::per_hour(1_000).unwrap();
    let take = |key: u64, cost| store.check_sync(&last, &key, cost).unwrap().allowed;
    for key in 1..=100 {
        assert!(take(key, key));
    }
    for key in (1..=100_u64).filter(|key| key % 3 == 0) {
        store.reset_sync(&last, &key).unwrap();
    }
    for key in (1..=100_u64).filter(|key| key % 3 != 0) {
        assert_eq!(store.peek_sync(&last, &key).unwrap().remaining, 1_000 - key);
    }
    // Back in a registered scale they are packed again, and the slab empties.
    for key in (1..=100_u64).filter(|key| key % 3 != 0) {
        let _ = store.check_sync(&filler[0], &key, 1);
    }
    assert_eq!(store.len(), 67);
}
