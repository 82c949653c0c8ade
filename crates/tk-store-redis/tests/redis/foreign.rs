//! What others have put under a limiter's key is told apart and left alone.

use std::time::Duration;

use tk_core::{
    Error, FixedWindow, Gcra, ManualClock, SlidingWindow, SlidingWindowLog, Store, Timestamp,
    TokenBucket,
};
use tk_store_redis::{Applied, ErrorKind, RedisStore, Scripted, StoreError};
use tk_testkit::{
    conformance::block_on,
    servers::{Answer, RedisServer},
};

use crate::support::on;

const HOUR: Duration = Duration::from_secs(3_600);

/// Whether that was said of it, and nothing charged.
fn is_bad_state<T: std::fmt::Debug>(answer: Result<T, Error<StoreError>>, what: &str) {
    match answer {
        Err(Error::Store(error)) => {
            let is_named = match error.kind() {
                ErrorKind::BadState(_) => true,
                ErrorKind::Refused(text) => text.starts_with("WRONGTYPE"),
                _ => false,
            };
            assert!(is_named, "{what}: {error}");
            assert_eq!(error.applied(), Applied::No, "{what}: {error}");
            assert!(!error.is_transient(), "{what}: {error}");
        }
        answer => panic!("{what} was taken for a state: {answer:?}"),
    }
}

/// Whatever is asked of a key under which each of these commands has put something.
async fn is_left_alone<S: Scripted>(strategy: S, commands: &[&[&str]]) {
    let server = RedisServer::start();
    let store: RedisStore<S> = on(&server).build().unwrap();
    let grant = store.lease(&strategy, "key", 3, 1).await.unwrap();
    let key = String::from_utf8(server.keys().remove(0).0).unwrap();
    for command in commands {
        let what = command.join(" ");
        server.ask(&["DEL", &key]);
        server.ask(&[&command[..1], &[&key], &command[1..]].concat());
        let before = server.ask(&["DUMP", &key]);
        assert!(matches!(before, Answer::Text(_)), "{what}: {before:?}");
        is_bad_state(store.check(&strategy, "key", 1).await, &what);
        is_bad_state(store.check(&strategy, "key", 0).await, &what);
        is_bad_state(store.peek(&strategy, "key").await, &what);
        is_bad_state(store.lease(&strategy, "key", 5, 1).await, &what);
        let back = store.give_back(&strategy, "key", grant.tag, 1).await;
        is_bad_state(back, &what);
        for answer in store.check_many(&strategy, &[("key", 1); 2]).await {
            is_bad_state(answer, &what);
        }
        assert_eq!(server.ask(&["DUMP", &key]), before, "{what}");
        assert_eq!(server.ask(&["PTTL", &key]), Answer::Number(-1), "{what}");
    }
    store.reset(&strategy, "key").await.unwrap();
    assert!(store.check(&strategy, "key", 1).await.unwrap().allowed);
}

const TEXT: &[&str] = &["SET", "hello"];
const LIST: &[&str] = &["LPUSH", "hello"];

#[test]
fn what_others_have_put_under_a_key_is_told_apart_and_left_alone_by_strings() {
    block_on(async {
        is_left_alone(Gcra::new(10, HOUR).unwrap(), &[TEXT, LIST]).await;
        is_left_alone(TokenBucket::new(10, 10, HOUR).unwrap(), &[TEXT, LIST]).await;
        is_left_alone(FixedWindow::new(10, HOUR).unwrap(), &[TEXT, LIST]).await;
    });
}

#[test]
fn what_others_have_put_under_a_key_is_told_apart_and_left_alone_by_sliding_windows() {
    let commands: [&[&str]; 17] = [
        TEXT,
        LIST,
        &["HSET", "name", "bob", "mail", "b@x"],
        &["HSET", "n", "5"],
        &["HSET", "i", "five"],
        &["HSET", "1", "2"],
        &["HSET", "w", "3600000000", "b", "10", "n", "5"],
        &["HSET", "w", "3600000000", "b", "10", "i", "5"],
        &["HSET", "w", "0", "b", "10", "n", "5", "i", "1"],
        &["HSET", "w", "3600000000", "b", "0", "n", "5", "i", "1"],
        &["HSET", "w", "3600000000", "b", "1025", "n", "5", "i", "1"],
        &["HSET", "w", "3600000000", "b", "10", "n", "-5", "i", "1"],
        &["HSET", "w", "3600000000", "b", "10", "n", "0x5", "i", "1"],
        &["HSET", "w", "3600000000", "b", "10", "n", " 5", "i", "1"],
        &[
            "HSET",
            "w",
            "3600000000",
            "b",
            "10",
            "n",
            "5",
            "i",
            "1",
            "11",
            "1",
        ],
        &[
            "HSET",
            "w",
            "3600000000",
            "b",
            "10",
            "n",
            "5",
            "i",
            "1",
            "bin",
            "1",
        ],
        &[
            "HSET",
            "w",
            "3600000000",
            "b",
            "10",
            "n",
            "9007199254740992",
            "i",
            "1",
        ],
    ];
    block_on(is_left_alone(
        SlidingWindow::new(10, HOUR).unwrap(),
        &commands,
    ));
}

#[test]
fn what_others_have_put_under_a_key_is_told_apart_and_left_alone_by_logs() {
    let meta = "M3600000000:5";
    let commands: [&[&str]; 8] = [
        TEXT,
        LIST,
        &["ZADD", "1", "bob"],
        &["ZADD", "-inf", meta],
        &["ZADD", "-inf", meta, "9", "Tx"],
        &["ZADD", "-inf", meta, "9e15", "T9000000000000000:5:2"],
        &[
            "ZADD",
            "-inf",
            meta,
            "9e15",
            "T9000000000000000:0:9007199254740992",
        ],
        &[
            "ZADD",
            "-inf",
            "M3600000000:9007199254740992",
            "9e15",
            "T9000000000000000:0:10",
        ],
    ];
    block_on(is_left_alone(
        SlidingWindowLog::new(10, HOUR).unwrap(),
        &commands,
    ));
}

/// A log is too large to be looked at as a whole, so a member is when it is read.
#[test]
fn a_member_of_somebody_elses_within_a_log_is_told_apart_before_anything_is_written() {
    let server = RedisServer::start();
    let key = "{tk:test:log:key}";
    let ours = ["-inf", "M3600000000:5", "9999000000", "T9999000000:0:10"];
    let dead = ["5", "bob"];
    block_on(async {
        let clock = ManualClock::at(Timestamp::from_secs(10_000));
        let store = on(&server).clock(clock).build().unwrap();
        // Without the member that tells the instant of a unit, and with another one where dead ones are dropped.
        for (limit, others) in [(10, &[][..]), (20, &dead[..])] {
            let strategy = SlidingWindowLog::new(limit, HOUR).unwrap();
            server.ask(&["DEL", key]);
            server.ask(&[&["ZADD", key][..], &ours, others].concat());
            let before = server.ask(&["DUMP", key]);
            is_bad_state(store.check(&strategy, "key", 1).await, "check");
            is_bad_state(store.lease(&strategy, "key", 5, 1).await, "lease");
            assert_eq!(server.ask(&["DUMP", key]), before);
        }
        // In the way of running totals that have to be counted anew.
        let strategy = SlidingWindowLog::new(20, HOUR).unwrap();
        let first = "T9997000000:4503599627370480:4503599627370490";
        let last = "T9999000000:4503599627370490:4503599627370495";
        let totals = [
            "-inf",
            "M3600000000:5",
            "9997000000",
            first,
            "9999000000",
            last,
        ];
        for other in ["bob", "T9998000000:x:1"] {
            server.ask(&["DEL", key]);
            server.ask(&[&["ZADD", key][..], &totals, &["9998000000", other]].concat());
            let before = server.ask(&["DUMP", key]);
            is_bad_state(store.check(&strategy, "key", 1).await, "check");
            assert_eq!(server.ask(&["DUMP", key]), before);
        }
    });
}
