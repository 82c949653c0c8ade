//! How long keys live.

use std::{sync::Arc, time::Duration};

use tk_core::{
    Clock, Error, FixedWindow, Gcra, ManualClock, SlidingWindow, SlidingWindowLog, Store,
    Timestamp, TokenBucket,
};
use tk_store_redis::{RedisStore, Scripted};
use tk_testkit::{conformance::block_on, servers::RedisServer};

use crate::support::on;

/// The milliseconds that the only key has left to live.
fn left(server: &RedisServer) -> i64 {
    let keys = server.keys();
    assert_eq!(keys.len(), 1, "{keys:?}");
    keys[0].1
}

/// Each way in which a script of `strategy` writes, and the claim that the key then lives at most for `life` milliseconds.
async fn every_write_ends_within<S: Scripted>(strategy: S, life: i64) {
    let server = RedisServer::start();
    let store: RedisStore<S> = on(&server).build().unwrap();
    let claim = |what: &str| {
        let left = left(&server);
        // Both the end and the present are rounded to a millisecond.
        assert!(0 < left && left <= life + 1, "{what}: {left} ms of {life}");
    };
    assert!(store.check(&strategy, "key", 1).await.unwrap().allowed);
    claim("check");
    let grant = store.lease(&strategy, "key", 4, 1).await.unwrap();
    assert_eq!(grant.amount, 4);
    claim("lease");
    assert_eq!(
        store
            .give_back(&strategy, "key", grant.tag, 2)
            .await
            .unwrap(),
        2
    );
    claim("hand-back");
    let many = store.check_many(&strategy, &[("key", 1), ("key", 1)]).await;
    assert!(many.iter().all(Result::is_ok));
    claim("many checks");
    assert!(store.check(&strategy, "key", 10).await.unwrap().is_denied());
    claim("denial");
    store.reset(&strategy, "key").await.unwrap();
    assert_eq!(server.keys(), []);
}

/// Milliseconds passed where seconds are meant would make them live for a thousand times as long.
#[test]
fn no_key_outlives_its_state() {
    let minute = Duration::from_secs(60);
    block_on(async {
        every_write_ends_within(Gcra::new(10, minute).unwrap(), 60_000).await;
        every_write_ends_within(TokenBucket::new(10, 10, minute).unwrap(), 60_000).await;
        every_write_ends_within(
            FixedWindow::new(10, Duration::from_secs(3_600)).unwrap(),
            3_600_000,
        )
        .await;
        every_write_ends_within(SlidingWindow::new(10, minute).unwrap(), 66_000).await;
        every_write_ends_within(SlidingWindowLog::new(10, minute).unwrap(), 60_000).await;
    });
}

#[test]
fn by_a_callers_clock_keys_outlive_their_states_by_a_minute() {
    let server = RedisServer::start();
    block_on(async {
        let clock = Arc::new(ManualClock::at(Timestamp::from_secs(60)));
        let store = on::<FixedWindow>(&server).clock(clock).build().unwrap();
        let strategy = FixedWindow::per_minute(10).unwrap();
        assert!(store.check(&strategy, "key", 1).await.unwrap().allowed);
        let left = left(&server);
        assert!((100_000..=120_000).contains(&left), "{left} ms");
    });
}

/// Seconds in 32 bits would have made the time negative, and the insert fail.
#[test]
fn a_burst_of_three_billion_seconds_has_a_positive_time_to_live() {
    let server = RedisServer::start();
    block_on(async {
        let burst = 3_000_000_000;
        let strategy = Gcra::per_second(1).unwrap().burst(burst).unwrap();
        let store = on::<Gcra>(&server).build().unwrap();
        assert!(store.check(&strategy, "key", 1).await.unwrap().allowed);
        assert!((1..=1_001).contains(&left(&server)));
        let rest = store.peek(&strategy, "key").await.unwrap().remaining;
        assert!(store.check(&strategy, "key", rest).await.unwrap().allowed);
        let century = 100 * 365 * 86_400_000;
        assert!((9 * century / 10..=century).contains(&left(&server)));
        // The longest state of all: 2^52 microseconds.
        let longest = Gcra::new(1, Duration::from_micros(1 << 45))
            .unwrap()
            .burst(1 << 7)
            .unwrap();
        assert!(
            store
                .check(&longest, "longest", 1 << 7)
                .await
                .unwrap()
                .allowed
        );
        server.assert_all_keys_expire();
    });
}

async fn is_repaired<S: Scripted>(strategy: S) {
    let server = RedisServer::start();
    let store: RedisStore<S> = on(&server).build().unwrap();
    let all = strategy.capacity();
    assert!(store.check(&strategy, "key", all).await.unwrap().allowed);
    let key = server.keys().remove(0).0;
    let persisted = server.wire().ask(&[&b"PERSIST"[..], &key]).unwrap();
    assert_eq!(persisted.number(), Some(1));
    assert_eq!(left(&server), -1);
    assert!(
        store
            .check(&strategy, "key", all)
            .await
            .unwrap()
            .is_denied()
    );
    assert!(left(&server) > 0, "a denial gave it no end");
    server.wire().ask(&[&b"PERSIST"[..], &key]).unwrap();
    let _ = store.lease(&strategy, "key", all, all).await.unwrap();
    assert!(left(&server) > 0, "an empty grant gave it no end");
}

/// A counter at its limit that lost its expiry would block its key for ever.
#[test]
fn a_key_without_a_time_to_live_is_given_one_even_by_a_denial() {
    let minute = Duration::from_secs(60);
    block_on(async {
        is_repaired(Gcra::new(10, minute).unwrap()).await;
        is_repaired(TokenBucket::new(10, 10, minute).unwrap()).await;
        // A window that does not end while the test runs.
        is_repaired(FixedWindow::new(10, Duration::from_secs(1 << 24)).unwrap()).await;
        is_repaired(SlidingWindow::new(10, minute).unwrap()).await;
        is_repaired(SlidingWindowLog::new(10, minute).unwrap()).await;
    });
}

#[test]
fn a_key_expires_no_earlier_than_its_state() {
    let server = RedisServer::start();
    block_on(async {
        let store = on::<FixedWindow>(&server).build().unwrap();
        // Windows that end at no whole millisecond.
        let strategy = FixedWindow::new(1, Duration::from_micros(20_123)).unwrap();
        let mut admitted = Vec::new();
        for _ in 0..2_000 {
            let decision = store.check(&strategy, "key", 1).await.unwrap();
            if decision.allowed {
                admitted.push(decision.reset_at);
            }
        }
        assert!(admitted.len() > 2);
        let distinct = admitted.windows(2).all(|pair| pair[0] < pair[1]);
        assert!(distinct, "a window was served twice: {admitted:?}");
    });
}

#[test]
fn a_reset_key_is_new() {
    let server = RedisServer::start();
    block_on(async {
        let store = on::<SlidingWindowLog>(&server).build().unwrap();
        let strategy = SlidingWindowLog::per_hour(3).unwrap();
        let grant = store.lease(&strategy, "key", 3, 3).await.unwrap();
        store.reset(&strategy, "key").await.unwrap();
        assert!(store.check(&strategy, "key", 3).await.unwrap().allowed);
        let taken = store
            .give_back(&strategy, "key", grant.tag, 3)
            .await
            .unwrap();
        assert_eq!(taken, 0, "a hand-back from before a reset");
        assert_eq!(store.reset(&strategy, "").await, Err(Error::EmptyKey));
    });
}

#[test]
fn the_servers_clock_decides() {
    let server = RedisServer::start();
    block_on(async {
        let store = on::<FixedWindow>(&server).build().unwrap();
        let strategy = FixedWindow::new(1, Duration::from_secs(1 << 24)).unwrap();
        let here = tk_core::SystemClock.now();
        let decision = store.check(&strategy, "key", 1).await.unwrap();
        assert!(decision.reset_at > here);
        assert!(decision.reset_at.since(here) <= strategy.window());
    });
}
