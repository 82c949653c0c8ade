//! The fronts that put a strategy and a store behind `check(key)`.

#![expect(clippy::unwrap_used, reason = "a test ends where something fails")]

use std::{
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use tk_core::{
    AsyncRateLimiter, ConfigError, Error, FixedWindow, Limiter, ManualClock, RateLimiter,
    SyncStore, Timestamp,
};
use tk_testkit::ReferenceStore;

type Store = ReferenceStore<FixedWindow, Arc<ManualClock>>;

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(Timestamp::from_secs(600)))
}

fn limiter(limit: u64) -> RateLimiter<Store> {
    RateLimiter::new(
        FixedWindow::per_minute(limit).unwrap(),
        ReferenceStore::new(clock()),
    )
}

fn async_limiter(limit: u64) -> AsyncRateLimiter<Store> {
    let strategy = FixedWindow::per_minute(limit).unwrap();
    AsyncRateLimiter::new(strategy, ReferenceStore::new(clock()))
}

/// Over a store that answers at once, every future is ready at once.
fn ready<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("waits for a store that answers at once"),
    }
}

#[test]
fn limiter_admits_up_to_its_limit_per_key() {
    let limiter = limiter(2);
    assert_eq!(limiter.check("alice").unwrap().remaining, 1);
    assert!(limiter.check_n("alice", 1).unwrap().allowed);
    assert!(limiter.check("alice").unwrap().is_denied());
    assert!(limiter.peek("alice").unwrap().is_denied());
    assert!(limiter.check("bob").unwrap().allowed);
    limiter.reset("alice").unwrap();
    assert!(limiter.check_n("alice", 2).unwrap().allowed);
}

#[test]
fn limiter_passes_on_why_there_is_no_decision() {
    let limiter = limiter(2);
    let too_much = Err(Error::ExceedsCapacity { cost: 3, limit: 2 });
    assert_eq!(limiter.check_n("alice", 3), too_much);
    assert_eq!(limiter.check(""), Err(Error::EmptyKey));
    assert_eq!(limiter.peek(""), Err(Error::EmptyKey));
    assert_eq!(limiter.reset(""), Err(Error::EmptyKey));
    assert_eq!(
        limiter.check_many(&[("a", 3), ("", 1)]),
        [too_much, Err(Error::EmptyKey)]
    );
}

#[test]
fn changed_strategy_is_in_force_from_the_next_call_and_keeps_usage() {
    let limiter = limiter(2);
    assert!(limiter.check_n("alice", 2).unwrap().allowed);
    let (five, one) = (
        FixedWindow::per_minute(5).unwrap(),
        FixedWindow::per_minute(1).unwrap(),
    );
    limiter.set_strategy(five);
    assert_eq!(limiter.strategy(), five);
    assert_eq!(limiter.check("alice").unwrap().remaining, 2);
    limiter.set_strategy(one);
    let denied = limiter.check("alice").unwrap();
    assert_eq!(
        (denied.allowed, denied.limit, denied.remaining),
        (false, 1, 0)
    );
    limiter.store().clock().advance(Duration::from_secs(60));
    assert!(limiter.check("alice").unwrap().allowed);
}

#[test]
fn strategy_may_change_while_others_check() {
    let limiter = limiter(1_000_000);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for limit in 1..500 {
                limiter.set_strategy(FixedWindow::per_minute(limit).unwrap());
            }
        });
        for _ in 0..500 {
            let _ = limiter.check("alice").unwrap();
        }
    });
    assert_eq!(limiter.strategy().limit(), 499);
    assert!(limiter.check("alice").unwrap().limit < 500);
}

#[test]
fn limiters_with_prefixes_count_apart_over_one_store() {
    let limiter = limiter(1).with_prefix("login").unwrap();
    assert!(limiter.check("alice").unwrap().allowed);
    assert!(limiter.check_many(&[("alice", 1)])[0].unwrap().is_denied());
    assert!(limiter.peek("alice").unwrap().is_denied());
    assert_eq!(limiter.check(""), Err(Error::EmptyKey));
    // Seen without the prefix, the key is ("login", "alice").
    let strategy = limiter.strategy();
    let store = limiter.store();
    let bare = SyncStore::check_sync(store, &strategy, "alice", 1).unwrap();
    assert!(bare.allowed);
    let prefixed = SyncStore::check_sync(store, &strategy, &("login", "alice"), 1);
    assert!(prefixed.unwrap().is_denied());
    limiter.reset("alice").unwrap();
    assert!(limiter.check("alice").unwrap().allowed);
}

#[test]
fn unusable_prefix_is_refused() {
    for prefix in ["", "a\nb", &"x".repeat(129)] {
        let refused = limiter(1).with_prefix(prefix);
        assert!(matches!(
            refused,
            Err(ConfigError::Name {
                field: "prefix",
                ..
            })
        ));
        let refused = async_limiter(1).with_prefix(prefix);
        assert!(matches!(
            refused,
            Err(ConfigError::Name {
                field: "prefix",
                ..
            })
        ));
    }
}

#[test]
fn awaited_limiter_answers_as_the_other() {
    let (limiter, awaited) = (limiter(3), async_limiter(3).with_prefix("p").unwrap());
    assert_eq!(ready(awaited.check("a")), limiter.check("a"));
    assert_eq!(ready(awaited.check_n("a", 2)), limiter.check_n("a", 2));
    assert_eq!(ready(awaited.check_n("a", 4)), limiter.check_n("a", 4));
    assert_eq!(ready(awaited.peek("a")), limiter.peek("a"));
    let calls = [("a", 1), ("b", 1), ("", 1), ("b", 3)];
    assert_eq!(
        ready(awaited.check_many(&calls)),
        limiter.check_many(&calls)
    );
    assert_eq!(ready(awaited.reset("a")), limiter.reset("a"));
    assert_eq!(ready(awaited.check("")), Err(Error::EmptyKey));
    awaited.set_strategy(FixedWindow::per_minute(9).unwrap());
    assert_eq!(awaited.strategy().limit(), 9);
    assert_eq!(ready(awaited.check("a")).unwrap().remaining, 8);
    assert_eq!(awaited.store().len(), 2);
}

#[test]
fn middleware_takes_any_limiter_and_shares_it() {
    fn remaining(limiter: &impl Limiter) -> u64 {
        ready(limiter.check_n("alice", 1)).unwrap().remaining
    }
    let shared = Arc::new(limiter(9));
    assert_eq!(remaining(&shared), 8);
    assert_eq!(remaining(&*shared), 7);
    assert_eq!(remaining(&shared.clone()), 6);
    let leaked: &'static AsyncRateLimiter<Store> = Box::leak(Box::new(async_limiter(9)));
    assert_eq!(remaining(&leaked), 8);
    assert_eq!(remaining(leaked), 7);
}

#[test]
fn limiters_that_share_a_store_count_together() {
    let store = Arc::new(ReferenceStore::new(clock()));
    let strategy = FixedWindow::per_minute(5).unwrap();
    let (one, other) = (
        RateLimiter::new(strategy, store.clone()),
        RateLimiter::new(strategy, store),
    );
    assert_eq!(one.check("a").unwrap().remaining, 4);
    assert_eq!(other.check("a").unwrap().remaining, 3);
    assert_eq!(other.peek("a").unwrap().remaining, 3);
    assert_eq!(one.check_many(&[("a", 2)])[0].unwrap().remaining, 1);
    let shared = other.store();
    let grant = SyncStore::lease_sync(shared, &strategy, "a", 9, 1).unwrap();
    assert_eq!(grant.amount, 1);
    assert_eq!(
        SyncStore::give_back_sync(shared, &strategy, "a", grant.tag, 1),
        Ok(1)
    );
    assert_eq!(one.peek("a").unwrap().remaining, 1);
    one.reset("a").unwrap();
    assert_eq!(other.check_n("a", 5).unwrap().remaining, 0);
}

#[test]
fn errors_say_what_was_asked_and_what_is_allowed() {
    let error: Error = Error::ExceedsCapacity { cost: 3, limit: 2 };
    assert_eq!(
        error.to_string(),
        "cost 3 can never be admitted: the capacity is 2"
    );
    assert_eq!(Error::<()>::EmptyKey.map_store(|()| 7), Error::EmptyKey);
    assert_eq!(
        Error::Store(6).map_store(|store| store + 1),
        Error::Store(7)
    );
    let too_much = Error::<()>::ExceedsCapacity { cost: 3, limit: 2 };
    assert_eq!(
        too_much.map_store(|()| 7),
        Error::ExceedsCapacity { cost: 3, limit: 2 }
    );
}
