//! What goes wrong never admits more, and errors say what was applied.

use std::time::Duration;

use tk_core::{ConfigError, Error, Gcra, Store};
use tk_store_redis::{
    Applied, BuildError, ErrorKind, RedisStore, StoreError, TransactionBuilder, TransactionStore,
};
use tk_testkit::{
    conformance::block_on,
    servers::{Answer, Proxy, RedisServer, Wire, free_port},
};

use tokio::{task::yield_now, time::timeout};

use crate::support::{LONG, PATIENT, Tab, on};

fn store_error<T: std::fmt::Debug>(answer: Result<T, Error<StoreError>>) -> StoreError {
    match answer {
        Err(Error::Store(error)) => error,
        other => panic!("{other:?} is no error of the store"),
    }
}

/// With a connection goes what it watches; a transaction that went on unwatched would overwrite what others have charged.
#[test]
fn connections_killed_under_load_admit_no_more() {
    let server = RedisServer::start();
    block_on(async {
        let strategy = Tab { limit: 300 };
        let stores: Vec<TransactionStore<Tab>> = (0..3)
            .map(|_| on(&server).attempts(1_000).build().unwrap())
            .collect();
        let port = server.port();
        let killer = tokio::task::spawn_blocking(move || {
            let mut wire = Wire::connect(port).unwrap();
            for _ in 0..200 {
                wire.ask(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"])
                    .unwrap();
            }
        });
        let (mut allowed, mut failed) = (0, 0);
        for round in 0.. {
            let tasks: Vec<_> = (0..60)
                .map(|i| {
                    let (store, strategy) = (stores[i % stores.len()].clone(), strategy.clone());
                    tokio::spawn(async move { store.check(&strategy, "key", 1).await })
                })
                .collect();
            for task in tasks {
                match task.await.unwrap() {
                    Ok(decision) => allowed += u64::from(decision.allowed),
                    Err(_) => failed += 1,
                }
            }
            if killer.is_finished() && round > 10 {
                break;
            }
        }
        killer.await.unwrap();
        // Those that failed may have been charged, and nobody else.
        let charged = 300 - stores[0].peek(&strategy, "key").await.unwrap().remaining;
        assert!(
            allowed <= charged,
            "{allowed} were admitted and {charged} charged"
        );
        assert!(charged <= allowed + failed);
    });
}

#[test]
fn dropped_calls_leave_no_trace_in_others() {
    let server = RedisServer::start();
    block_on(async {
        let strategy = Gcra::new(400, LONG).unwrap();
        let store = on::<Gcra>(&server).connections(2).build().unwrap();
        let mut admitted = 0;
        for i in 0..300 {
            let call = store.check(&strategy, "key", 1);
            let _ = tokio::time::timeout(Duration::from_micros(10 * (i % 60)), call).await;
            admitted += u64::from(store.check(&strategy, "key", 1).await.unwrap().allowed);
        }
        assert!(admitted <= 400);
        let left = store.peek(&strategy, "key").await.unwrap().remaining;
        assert!(400 - left >= admitted && 400 - left <= admitted + 300);
    });
}

#[test]
fn without_a_server_nothing_is_applied() {
    block_on(async {
        let store: TransactionStore<Tab> = TransactionStore::builder("test", "tab")
            .url(format!("redis://127.0.0.1:{}", free_port()))
            .build()
            .unwrap();
        for _ in 0..5 {
            let error = store_error(store.check(&Tab { limit: 8 }, "key", 1).await);
            assert!(matches!(error.kind(), ErrorKind::Unreachable(_)), "{error}");
            assert_eq!(error.applied(), Applied::No);
        }
        let error = store_error(store.check(&Tab { limit: 8 }, "key", 1).await);
        assert_eq!(error.kind(), &ErrorKind::BreakerOpen);
    });
}

/// A store that gives up soon.
fn hasty(server: &RedisServer) -> TransactionBuilder<Tab> {
    on(server)
        .deadline(Duration::from_millis(100))
        .breaker(3, Duration::from_millis(200))
}

async fn is_open(store: &TransactionStore<Tab>, key: &str) -> bool {
    let answer = store.check(&Tab { limit: 8 }, key, 0).await;
    matches!(answer, Err(Error::Store(error)) if *error.kind() == ErrorKind::BreakerOpen)
}

/// What the server has to say may be an error, and it has said it.
#[test]
fn an_answered_probe_closes_the_breaker_whatever_becomes_of_the_call() {
    let server = RedisServer::start();
    block_on(async {
        let store = hasty(&server).build().unwrap();
        server.ask(&["SET", "{tk:test:tx.own:bad}", "junk", "PX", "1000000"]);
        server.pause();
        let patience = Duration::from_secs(60);
        let opened = async {
            while !is_open(&store, "key").await {
                yield_now().await;
            }
        };
        timeout(patience, opened).await.expect("the breaker opens");
        server.unpause();
        let is_bad = |error: StoreError| matches!(error.kind(), ErrorKind::BadState(_));
        let probed = async {
            while !is_bad(store_error(store.check(&Tab { limit: 8 }, "bad", 1).await)) {
                yield_now().await;
            }
        };
        timeout(patience, probed)
            .await
            .expect("a probe gets through");
        for _ in 0..3 {
            assert!(!is_open(&store, "key").await);
        }
    });
}

#[test]
fn callers_who_wait_less_than_the_deadline_open_the_breaker_of_a_server_that_is_gone() {
    let server = RedisServer::start();
    block_on(async {
        let store = hasty(&server).build().unwrap();
        assert!(!is_open(&store, "key").await);
        server.pause();
        let patience = Duration::from_millis(30);
        let mut left = 0;
        while tokio::time::timeout(patience, is_open(&store, "key")).await != Ok(true) {
            left += 1;
            assert!(left < 1_000, "each of them pays for the whole outage");
        }
        server.unpause();
    });
}

#[test]
fn callers_in_a_hurry_do_not_open_the_breaker_of_a_server_that_is_well() {
    let server = RedisServer::start();
    let proxy = Proxy::to(&server);
    block_on(async {
        let builder = hasty(&server).url(proxy.url()).deadline(PATIENT);
        let store = builder.build().unwrap();
        assert!(!is_open(&store, "key").await);
        proxy.delay_replies(Duration::from_millis(20));
        for _ in 0..60 {
            let check = is_open(&store, "key");
            let open = tokio::time::timeout(Duration::from_millis(5), check).await;
            assert_ne!(open, Ok(true), "it answers, though later than they wait");
        }
    });
}

#[test]
fn a_server_that_stops_before_the_read_has_applied_nothing() {
    let server = RedisServer::start();
    block_on(async {
        let strategy = Tab { limit: 8 };
        let store = on::<Tab>(&server)
            .deadline(Duration::from_secs(1))
            .build()
            .unwrap();
        assert!(store.check(&strategy, "key", 1).await.unwrap().allowed);
        server.pause();
        let error = store_error(store.check(&strategy, "key", 1).await);
        server.unpause();
        assert!(matches!(error.kind(), ErrorKind::Unread(_)), "{error}");
        assert_eq!(error.applied(), Applied::No);
        let patient = on::<Tab>(&server).build().unwrap();
        assert_eq!(
            patient.check(&strategy, "key", 1).await.unwrap().remaining,
            6
        );
    });
}

#[test]
fn a_full_memory_is_an_error_that_passes() {
    let server = RedisServer::start_with(&["--maxmemory", "1", "--maxmemory-policy", "noeviction"]);
    block_on(async {
        let store = on::<Tab>(&server).build().unwrap();
        let error = store_error(store.check(&Tab { limit: 8 }, "key", 1).await);
        assert_eq!(error.applied(), Applied::No, "{error}");
        assert!(error.is_transient(), "{error}");
    });
}

#[test]
fn a_state_of_another_type_is_an_error_and_stays() {
    let server = RedisServer::start();
    block_on(async {
        let store = on::<Tab>(&server).build().unwrap();
        server.ask(&["SET", "{tk:test:tx.own:key}", "junk", "PX", "1000000"]);
        let error = store_error(store.check(&Tab { limit: 8 }, "key", 1).await);
        assert!(matches!(error.kind(), ErrorKind::BadState(_)), "{error}");
        assert_eq!(error.applied(), Applied::No);
        assert!(!error.is_transient());
        let kept = server.ask(&["GET", "{tk:test:tx.own:key}"]);
        assert_eq!(kept.text().unwrap(), "junk");
        store.reset(&Tab { limit: 8 }, "key").await.unwrap();
        assert!(
            store
                .check(&Tab { limit: 8 }, "key", 1)
                .await
                .unwrap()
                .allowed
        );
    });
}

#[test]
fn a_key_that_would_live_for_ever_is_given_a_life_by_a_denial_too() {
    let server = RedisServer::start();
    block_on(async {
        let store = on::<Tab>(&server).build().unwrap();
        let strategy = Tab { limit: 8 };
        assert!(store.check(&strategy, "key", 8).await.unwrap().allowed);
        server.ask(&["PERSIST", "{tk:test:tx.own:key}"]);
        assert!(store.check(&strategy, "key", 1).await.unwrap().is_denied());
        server.assert_all_keys_expire();
        assert_eq!(server.keys().len(), 1);
    });
}

#[test]
fn keys_of_scripts_and_of_transactions_stay_apart() {
    let server = RedisServer::start();
    block_on(async {
        let strategy = Gcra::new(1, LONG).unwrap();
        let scripted: RedisStore<Gcra> = RedisStore::builder("test")
            .url(server.url())
            .build()
            .unwrap();
        let own: TransactionStore<Gcra> = TransactionStore::builder("test", "gcra")
            .url(server.url())
            .build()
            .unwrap();
        let own = own.clone();
        assert!(own.check(&strategy, "key", 1).await.unwrap().allowed);
        assert!(scripted.check(&strategy, "key", 1).await.unwrap().allowed);
        assert_eq!(server.keys().len(), 2);
    });
}

#[test]
fn bad_settings_are_named() {
    let builder = || TransactionStore::<Tab>::builder("test", "tab").url("redis://127.0.0.1");
    let field = |builder: TransactionBuilder<Tab>| match block_on(async { builder.build() }) {
        Err(BuildError::Config(
            ConfigError::OutOfRange { field, .. } | ConfigError::DurationOutOfRange { field, .. },
        )) => field,
        other => panic!("{other:?} is not out of range"),
    };
    assert_eq!(field(builder().connections(0)), "connections");
    assert_eq!(field(builder().attempts(0)), "attempts");
    assert_eq!(field(builder().deadline(Duration::ZERO)), "deadline");
    let named = TransactionStore::<Tab>::builder("test", "").url("redis://127.0.0.1");
    let error = block_on(async { named.build() }).unwrap_err();
    assert!(error.to_string().contains("strategy"), "{error}");
}

/// Milliseconds passed where seconds are meant would make it live for a thousand times as long.
#[test]
fn no_key_outlives_its_state() {
    let server = RedisServer::start();
    block_on(async {
        let minute = Duration::from_secs(60);
        let strategy = Gcra::new(10, minute).unwrap();
        let store = on::<Gcra>(&server).build().unwrap();
        let claim = |what: &str| {
            let keys = server.keys();
            assert_eq!(keys.len(), 1, "{keys:?}");
            let left = keys[0].1;
            assert!(0 < left && left <= 60_001, "{what}: {left} ms");
        };
        assert!(store.check(&strategy, "key", 1).await.unwrap().allowed);
        claim("check");
        let grant = store.lease(&strategy, "key", 9, 1).await.unwrap();
        assert_eq!(grant.amount, 9);
        claim("lease");
        let taken = store
            .give_back(&strategy, "key", grant.tag, 2)
            .await
            .unwrap();
        assert_eq!(taken, 2);
        claim("hand-back");
        server.ask(&["PERSIST", "{tk:test:tx.own:key}"]);
        assert!(store.check(&strategy, "key", 5).await.unwrap().is_denied());
        claim("denial of a key that would live for ever");
    });
}

/// As behind a name that is given the new primary's address: the old primary has become a replica, and refuses writes.
#[test]
fn a_demoted_primary_is_left_within_the_call_that_finds_it_out() {
    let primary = RedisServer::start();
    let replica = RedisServer::replica_of(primary.port());
    let name = Proxy::to(&primary);
    block_on(async {
        let strategy = Tab { limit: 10 };
        let store: TransactionStore<Tab> = TransactionStore::builder("test", "own")
            .url(name.url())
            .deadline(Duration::from_secs(5))
            .build()
            .unwrap();
        assert!(store.check(&strategy, "key", 3).await.unwrap().allowed);
        let mut wire = primary.wire();
        wire.ask(&["SET", "marker", "1", "EX", "3600"]).unwrap();
        assert_eq!(wire.ask(&["WAIT", "1", "5000"]).unwrap(), Answer::Number(1));
        replica.ask(&["REPLICAOF", "NO", "ONE"]);
        name.lead_to(replica.port());
        primary.ask(&["REPLICAOF", "127.0.0.1", &replica.port().to_string()]);
        let decision = store.check(&strategy, "key", 1).await.unwrap();
        assert_eq!(decision.remaining, 6, "neither lost nor counted twice");
    });
}

#[test]
fn a_server_that_refuses_time_is_told_apart_and_a_callers_clock_helps() {
    let server = RedisServer::start();
    server.ask(&["ACL", "SETUSER", "default", "-time"]);
    block_on(async {
        let strategy = Tab { limit: 8 };
        let store = on::<Tab>(&server).build().unwrap();
        let error = store_error(store.check(&strategy, "key", 1).await);
        assert!(
            matches!(error.kind(), ErrorKind::TimeRefused(_)),
            "{error:?}"
        );
        assert!(error.to_string().contains(".clock(..)"), "{error}");
        assert_eq!(
            (error.applied(), error.is_transient()),
            (Applied::No, false)
        );
        let clock = tk_core::ManualClock::at(tk_core::Timestamp::from_secs(7));
        let store = on::<Tab>(&server).clock(clock).build().unwrap();
        assert!(store.check(&strategy, "key", 1).await.unwrap().allowed);
    });
}
