//! Servers that answer, and refuse: each error says whether the call was applied, and whether it may succeed soon.

use std::time::Duration;

use tk_core::{Error, FixedWindow, Gcra, SlidingWindow, SlidingWindowLog, Store, TokenBucket};
use tk_store_redis::{Applied, ErrorKind, RedisStore, Scripted, StoreError};
use tk_testkit::{conformance::block_on, servers::RedisServer};

use crate::support::{PATIENT, on};

const HOUR: Duration = Duration::from_secs(3_600);

fn ten() -> FixedWindow {
    FixedWindow::new(10, HOUR * 24 * 365).unwrap()
}

fn error<T: std::fmt::Debug>(answer: Result<T, Error<StoreError>>) -> StoreError {
    match answer {
        Err(Error::Store(error)) => error,
        answer => panic!("no error of the store: {answer:?}"),
    }
}

/// A store that is connected, and whose server knows its script.
async fn ready<S: Scripted>(server: &RedisServer, strategy: &S) -> RedisStore<S> {
    let store = on(server).build().unwrap();
    let _ = store.check(strategy, "another", 1).await.unwrap();
    store
}

/// What the server answers begins with `code`, and the call was not applied, but may be soon.
async fn refuses_for_now(store: &RedisStore<FixedWindow>, code: &str) {
    let refused = error(store.check(&ten(), "key", 1).await);
    let is_named = matches!(refused.kind(), ErrorKind::Refused(text) if text.starts_with(code));
    assert!(is_named, "{refused:?} instead of {code}");
    assert_eq!(
        (refused.applied(), refused.is_transient()),
        (Applied::No, true),
        "{refused}"
    );
}

async fn used(store: &RedisStore<FixedWindow>) -> u64 {
    10 - store.peek(&ten(), "key").await.unwrap().remaining
}

#[test]
fn a_server_that_is_busy_with_somebody_elses_script_refuses_for_now() {
    let server = RedisServer::start_with(&["--lua-time-limit", "5"]);
    block_on(async {
        let store = ready(&server, &ten()).await;
        let mut wire = server.wire();
        let endless = tokio::task::spawn_blocking(move || {
            wire.ask(&["EVAL", "while true do end", "0"]).map(drop)
        });
        // Until the other script has begun and its time is over.
        while store.check(&ten(), "another", 1).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        refuses_for_now(&store, "BUSY").await;
        server.ask(&["SCRIPT", "KILL"]);
        let _ = endless.await.unwrap();
        assert_eq!(used(&store).await, 0);
    });
}

#[test]
fn a_server_without_enough_replicas_refuses_for_now() {
    let server = RedisServer::start();
    block_on(async {
        let store = ready(&server, &ten()).await;
        server.ask(&["CONFIG", "SET", "min-replicas-to-write", "1"]);
        refuses_for_now(&store, "NOREPLICAS").await;
        server.ask(&["CONFIG", "SET", "min-replicas-to-write", "0"]);
        assert_eq!(used(&store).await, 0);
    });
}

#[test]
fn a_replica_that_has_lost_its_primary_refuses_for_now() {
    let server = RedisServer::start();
    block_on(async {
        let store = ready(&server, &ten()).await;
        server.ask(&["CONFIG", "SET", "replica-serve-stale-data", "no"]);
        server.ask(&["REPLICAOF", "127.0.0.1", "1"]);
        refuses_for_now(&store, "MASTERDOWN").await;
        server.ask(&["REPLICAOF", "NO", "ONE"]);
        assert_eq!(used(&store).await, 0);
    });
}

#[test]
fn a_key_is_kept_in_the_database_that_the_url_names() {
    let server = RedisServer::start();
    block_on(async {
        let builder = RedisStore::builder("test").url(format!("{}/3", server.url()));
        let store = builder.deadline(PATIENT).build().unwrap();
        let _ = store.check(&ten(), "key", 1).await.unwrap();
        assert!(server.keys().is_empty(), "none in the first");
        assert_eq!(used(&store).await, 1);
        let other = ready(&server, &ten()).await;
        assert_eq!(used(&other).await, 0);
    });
}

/// What a guest is told who may not call `command`: whether that was applied, and never that it may be soon.
async fn applied<S: Scripted>(strategy: &S, command: &str) -> Applied {
    let server = RedisServer::start();
    let forbidden = format!("-{command}");
    let rules = ["on", ">secret", "~*", "+@all", &forbidden];
    server.ask(&[&["ACL", "SETUSER", "guest"][..], &rules].concat());
    let _known = ready(&server, strategy).await;
    let url = server.url().replace("://", "://guest:secret@");
    let builder = RedisStore::builder("test").url(url).deadline(PATIENT);
    let store: RedisStore<S> = builder.build().unwrap();
    let refused = error(store.check(strategy, "key", 1).await);
    assert!(
        matches!(refused.kind(), ErrorKind::Refused(_)),
        "{refused:?}"
    );
    assert!(!refused.is_transient(), "{refused}");
    if refused.applied() == Applied::No {
        let seen = on(&server).build().unwrap().peek(strategy, "key").await;
        let seen: tk_core::Decision = seen.unwrap();
        assert_eq!(seen.remaining, seen.limit, "{command}");
    }
    refused.applied()
}

/// A command that a script may not call leaves done what came before it in the script.
#[test]
fn a_command_that_an_acl_forbids_in_a_script_is_unknown_only_after_others_have_written() {
    use Applied::{No, Unknown};
    block_on(async {
        for (command, expected) in [("evalsha", No), ("get", No), ("set", No)] {
            let gcra = Gcra::new(10, HOUR).unwrap();
            assert_eq!(applied(&gcra, command).await, expected, "{command}");
            let bucket = TokenBucket::new(10, 10, HOUR).unwrap();
            assert_eq!(applied(&bucket, command).await, expected, "{command}");
            assert_eq!(applied(&ten(), command).await, expected, "{command}");
        }
        for (command, expected) in [("hgetall", No), ("hset", No), ("pexpireat", Unknown)] {
            let sliding = SlidingWindow::new(10, HOUR).unwrap();
            assert_eq!(applied(&sliding, command).await, expected, "{command}");
        }
        for (command, expected) in [("zrange", No), ("zadd", No), ("pexpireat", Unknown)] {
            let log = SlidingWindowLog::new(10, HOUR).unwrap();
            assert_eq!(applied(&log, command).await, expected, "{command}");
        }
    });
}
