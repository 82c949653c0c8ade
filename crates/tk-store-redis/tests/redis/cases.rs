//! Faults of other limiters that this one must not have.

use std::{sync::Arc, time::Duration};

use tk_core::{
    Error, FixedWindow, Gcra, ManualClock, SlidingWindow, SlidingWindowLog, Store, Timestamp,
    TokenBucket,
};
use tk_store_redis::{Applied, ErrorKind, RedisStore, Scripted};
use tk_testkit::{conformance::block_on, servers::RedisServer};

use crate::support::on;

/// Members named by their time would overwrite each other.
#[test]
fn calls_at_one_instant_are_all_counted_by_a_log() {
    let server = RedisServer::start();
    block_on(async {
        let clock = Arc::new(ManualClock::at(Timestamp::from_secs(7)));
        let store = on::<SlidingWindowLog>(&server)
            .clock(clock)
            .build()
            .unwrap();
        let strategy = SlidingWindowLog::per_minute(3).unwrap();
        let mut allowed = 0;
        for _ in 0..10 {
            allowed += u64::from(store.check(&strategy, "key", 1).await.unwrap().allowed);
        }
        assert_eq!(allowed, 3);
    });
}

/// A clock of whole seconds would refill nothing within one.
#[test]
fn tokens_drip_within_a_second() {
    let server = RedisServer::start();
    block_on(async {
        let clock = Arc::new(ManualClock::at(Timestamp::from_secs(7)));
        let store = on::<TokenBucket>(&server)
            .clock(clock.clone())
            .build()
            .unwrap();
        let strategy = TokenBucket::new(10, 10, Duration::from_secs(1)).unwrap();
        assert!(store.check(&strategy, "key", 10).await.unwrap().allowed);
        for call in 0..100 {
            clock.advance(Duration::from_millis(100));
            assert!(
                store.check(&strategy, "key", 1).await.unwrap().allowed,
                "call {call}"
            );
        }
    });
}

#[test]
fn policies_and_strategies_count_apart() {
    let server = RedisServer::start();
    block_on(async {
        let five = FixedWindow::per_day(5).unwrap();
        let ten = FixedWindow::per_hour(10).unwrap();
        let first = on::<FixedWindow>(&server).build().unwrap();
        let second = first.with_policy::<FixedWindow>("another").unwrap();
        let third = first.with_policy::<Gcra>("test").unwrap();
        assert!(first.check(&five, "user", 5).await.unwrap().allowed);
        assert_eq!(second.check(&ten, "user", 1).await.unwrap().remaining, 9);
        let gcra = Gcra::per_day(5).unwrap();
        assert!(third.check(&gcra, "user", 5).await.unwrap().allowed);
        assert!(first.check(&five, "user", 1).await.unwrap().is_denied());
        assert_eq!(server.keys().len(), 3);
        let same = on::<FixedWindow>(&server).build().unwrap();
        assert!(same.check(&five, "user", 1).await.unwrap().is_denied());
    });
}

#[test]
fn a_state_that_is_none_is_an_error_and_not_a_decision() {
    let server = RedisServer::start();
    block_on(async {
        let store = on::<Gcra>(&server).build().unwrap();
        let strategy = Gcra::per_day(5).unwrap();
        assert!(store.check(&strategy, "key", 5).await.unwrap().allowed);
        let key = server.keys().remove(0).0;
        for bad in [&b"nonsense"[..], b"1 2 3", &[0xff; 39], &[0xff; 40]] {
            server.wire().ask(&[b"SET", &key[..], bad]).unwrap();
            let Err(Error::Store(error)) = store.check(&strategy, "key", 1).await else {
                panic!("{bad:?} was taken for a state");
            };
            assert!(!error.is_transient(), "{error}");
            assert!(matches!(error.kind(), ErrorKind::BadState(_)), "{error:?}");
            assert_eq!(error.applied(), Applied::No);
            let peeked = store.peek(&strategy, "key").await;
            assert!(matches!(peeked, Err(Error::Store(_))), "{peeked:?}");
        }
        server.wire().ask(&[&b"DEL"[..], &key]).unwrap();
        server.wire().ask(&[&b"LPUSH"[..], &key, b"x"]).unwrap();
        let Err(Error::Store(error)) = store.check(&strategy, "key", 1).await else {
            panic!("a list was taken for a state");
        };
        assert_eq!(error.applied(), Applied::No, "{error}");
        assert!(!error.is_transient());
    });
}

/// Numbers that no writer of ours has: taken for what they say, they would deny until somebody resets the key.
#[test]
fn a_window_of_impossible_numbers_is_an_error_and_is_gone_after_a_reset() {
    let server = RedisServer::start();
    block_on(async {
        let store = on::<FixedWindow>(&server).build().unwrap();
        let strategy = FixedWindow::per_day(5).unwrap();
        assert!(store.check(&strategy, "key", 5).await.unwrap().allowed);
        let key = server.keys().remove(0).0;
        for bad in [&[0xff; 32][..], &[0xff; 31], b"nonsense"] {
            server.wire().ask(&[b"SET", &key[..], bad]).unwrap();
            let checked = store.check(&strategy, "key", 1).await.map(|_| ());
            let leased = store.lease(&strategy, "key", 5, 1).await.map(|_| ());
            for answer in [checked, leased] {
                let Err(Error::Store(error)) = answer else {
                    panic!("{bad:?} was taken for a state");
                };
                assert!(matches!(error.kind(), ErrorKind::BadState(_)), "{error:?}");
                assert_eq!(error.applied(), Applied::No);
                assert!(!error.is_transient());
            }
            let peeked = store.peek(&strategy, "key").await;
            assert!(matches!(peeked, Err(Error::Store(_))), "{peeked:?}");
        }
        store.reset(&strategy, "key").await.unwrap();
        assert!(store.check(&strategy, "key", 5).await.unwrap().allowed);
    });
}

/// The server keeps its clock from scripts.
#[test]
fn a_server_that_refuses_time_is_told_apart_and_a_callers_clock_helps() {
    let server = RedisServer::start();
    server.ask(&["ACL", "SETUSER", "default", "-time"]);
    block_on(async {
        let strategy = Gcra::per_second(5).unwrap();
        let store = on::<Gcra>(&server).build().unwrap();
        let Err(Error::Store(error)) = store.check(&strategy, "key", 1).await else {
            panic!("decided without a clock");
        };
        assert!(
            matches!(error.kind(), ErrorKind::TimeRefused(_)),
            "{error:?}"
        );
        assert!(error.to_string().contains(".clock(..)"), "{error}");
        assert_eq!(
            (error.applied(), error.is_transient()),
            (Applied::No, false)
        );
        let clock = Arc::new(ManualClock::at(Timestamp::from_secs(7)));
        let store = on::<Gcra>(&server).clock(clock).build().unwrap();
        assert!(store.check(&strategy, "key", 1).await.unwrap().allowed);
    });
}

#[test]
fn a_key_of_a_megabyte_is_a_key() {
    let server = RedisServer::start();
    block_on(async {
        let store = on::<Gcra>(&server).build().unwrap();
        let strategy = Gcra::per_day(2).unwrap();
        let long = vec![0xff; 1 << 20];
        assert_eq!(store.check(&strategy, &long, 1).await.unwrap().remaining, 1);
        assert_eq!(store.check(&strategy, &long, 1).await.unwrap().remaining, 0);
        assert_eq!(
            store
                .check(&strategy, &long[1..], 1)
                .await
                .unwrap()
                .remaining,
            1
        );
        assert!(server.keys().iter().all(|(key, _)| key.len() < 200));
    });
}

#[test]
fn a_denial_takes_nothing() {
    let server = RedisServer::start();
    block_on(async {
        let store: RedisStore<FixedWindow> = on(&server).build().unwrap();
        let strategy = FixedWindow::new(10, Duration::from_secs(1 << 24)).unwrap();
        assert!(store.check(&strategy, "key", 8).await.unwrap().allowed);
        assert!(store.check(&strategy, "key", 5).await.unwrap().is_denied());
        let decision = store.check(&strategy, "key", 1).await.unwrap();
        assert_eq!((decision.allowed, decision.remaining), (true, 1));
    });
}

/// What the documentation tells operators to allow.
const COMMANDS: &str = "evalsha eval time get set pttl pexpire pexpireat unlink hgetall hset hdel hincrby zadd zrem zrange zrevrange \
    zrangebyscore zrevrangebyscore ping client|id info";

#[test]
fn the_permissions_in_the_documentation_are_enough() {
    async fn all<S: Scripted>(server: &RedisServer, strategy: S) {
        let url = server.url().replace("redis://", "redis://limits:secret@");
        let store = on::<S>(server).url(url).build().unwrap();
        assert!(store.check(&strategy, "key", 1).await.unwrap().allowed);
        assert!(store.peek(&strategy, "key").await.unwrap().allowed);
        let grant = store.lease(&strategy, "key", 3, 1).await.unwrap();
        assert_eq!(
            store
                .give_back(&strategy, "key", grant.tag, 1)
                .await
                .unwrap(),
            1
        );
        assert!(store.check(&strategy, "key", 10).await.unwrap().is_denied());
        store.reset(&strategy, "key").await.unwrap();
    }
    let server = RedisServer::start();
    let mut rule = vec!["ACL", "SETUSER", "limits", "on", ">secret", "~*", "-@all"];
    let allowed: Vec<_> = COMMANDS
        .split_whitespace()
        .map(|command| format!("+{command}"))
        .collect();
    rule.extend(allowed.iter().map(String::as_str));
    server.ask(&rule);
    server.ask(&["ACL", "SETUSER", "default", "off"]);
    block_on(async {
        let hour = Duration::from_secs(3_600);
        all(&server, Gcra::new(10, hour).unwrap()).await;
        all(
            &server,
            FixedWindow::new(10, Duration::from_secs(1 << 24)).unwrap(),
        )
        .await;
        all(&server, SlidingWindow::new(10, hour).unwrap()).await;
        all(&server, SlidingWindowLog::new(10, hour).unwrap()).await;
    });
}

/// A ring and a log that nobody of ours has written: a script that fails on them decides nothing.
#[test]
fn a_ring_or_a_log_that_is_none_is_an_error_and_is_gone_after_a_reset() {
    async fn is_refused<S: Scripted>(strategy: S, spoil: &[&[&str]]) {
        let server = RedisServer::start();
        let store: RedisStore<S> = on(&server).build().unwrap();
        for command in spoil {
            assert!(store.check(&strategy, "key", 5).await.unwrap().allowed);
            let key = String::from_utf8(server.keys().remove(0).0).unwrap();
            if command[0] == "SET" {
                server.ask(&["DEL", &key]);
            }
            server.ask(&[&[command[0], &key], &command[1..]].concat());
            let checked = store.check(&strategy, "key", 1).await.map(|_| ());
            let leased = store.lease(&strategy, "key", 5, 1).await.map(|_| ());
            let peeked = store.peek(&strategy, "key").await.map(|_| ());
            for answer in [checked, leased, peeked] {
                assert!(matches!(answer, Err(Error::Store(_))), "{command:?}");
            }
            store.reset(&strategy, "key").await.unwrap();
        }
        assert!(store.check(&strategy, "key", 5).await.unwrap().allowed);
    }
    let hour = Duration::from_secs(3_600);
    block_on(async {
        let ring = SlidingWindow::new(5, hour).unwrap().buckets(1).unwrap();
        let ways: [&[&str]; 3] = [
            &["HSET", "n", "nonsense"],
            &["HSET", "0", "-5", "1", "-5"],
            &["SET", "junk"],
        ];
        is_refused(ring, &ways).await;
        let log = SlidingWindowLog::new(5, hour).unwrap();
        let ways: [&[&str]; 2] = [&["ZADD", "9e15", "T1:2"], &["SET", "junk"]];
        is_refused(log, &ways).await;
    });
}
