//! Calls that are made at the same time and go to the server together.

use std::{pin::pin, sync::mpsc, time::Duration};

use fred::{
    interfaces::ClientLike,
    types::{Builder as FredBuilder, RespVersion, config::Config},
};
use futures_util::{future::join_all, poll};
use tk_core::{Error, FixedWindow, Gcra, SlidingWindow, SlidingWindowLog, Store, TokenBucket};
use tk_store_redis::{Applied, ErrorKind, RedisStore, Scripted};
use tk_testkit::{conformance::block_on, servers::RedisServer};
use tokio::runtime::Runtime;

use crate::support::{PATIENT, calls_of, on};

/// Long enough that nothing replenishes while a test runs.
const LONG: Duration = Duration::from_secs(1 << 24);

fn hundred() -> FixedWindow {
    FixedWindow::new(100, LONG).unwrap()
}

/// One of a single thread, which stands still unless it is asked to run.
fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

/// How often the server has run a script.
fn scripts_run(server: &RedisServer) -> u64 {
    calls_of("evalsha", server) + calls_of("eval", server)
}

async fn known<S: Scripted>(server: &RedisServer, store: &RedisStore<S>, strategy: &S) {
    let _ = store.check(strategy, "another", 1).await.unwrap();
    for answer in store.check_many(strategy, &[("another", 1); 2]).await {
        let _ = answer.unwrap();
    }
    server.ask(&["CONFIG", "RESETSTAT"]);
}

#[test]
fn concurrent_checks_share_commands_and_checks_alone_do_not_wait() {
    let server = RedisServer::start();
    // With more threads than one it depends on them how many calls find each other.
    runtime().block_on(async {
        let store = on(&server).build().unwrap();
        known(&server, &store, &hundred()).await;
        let strategy = hundred();
        let checks = (0..100).map(|_| store.check(&strategy, "key", 1));
        for answer in join_all(checks).await {
            assert!(answer.unwrap().allowed);
        }
        // One alone, and the others in two commands of at most 64.
        assert_eq!(scripts_run(&server), 3);
        assert!(store.check(&hundred(), "key", 1).await.unwrap().is_denied());
        assert_eq!(scripts_run(&server), 4);
    });
}

#[test]
fn a_batch_goes_in_commands_of_the_size_that_was_set() {
    let server = RedisServer::start();
    block_on(async {
        for (max_batch, commands) in [(1, 100), (7, 15), (64, 2), (1_024, 1)] {
            let builder = on(&server).prefix(format!("{max_batch}"));
            let store = builder.max_batch(max_batch).build().unwrap();
            known(&server, &store, &hundred()).await;
            let answers = store.check_many(&hundred(), &[("key", 1); 100]).await;
            let remaining = answers.into_iter().map(|answer| answer.unwrap().remaining);
            assert!(remaining.eq((0..100).rev()), "they see each other in order");
            assert_eq!(scripts_run(&server), commands);
        }
        for bad in [0, 1_025] {
            let error = on::<Gcra>(&server).max_batch(bad).build().unwrap_err();
            assert!(error.to_string().contains("max_batch"), "{error}");
        }
    });
}

async fn texts_stay_at_home<S: Scripted>(strategy: S) {
    let server = RedisServer::start();
    let store = on(&server).build().unwrap();
    known(&server, &store, &strategy).await;
    for answer in store.check_many(&strategy, &[("key", 1); 20]).await {
        assert!(answer.unwrap().allowed);
    }
    assert_eq!(calls_of("eval", &server), 0);
    assert!(calls_of("evalsha", &server) >= 1);
}

#[test]
fn a_batch_sends_no_text_of_a_script_that_the_server_knows() {
    block_on(async {
        texts_stay_at_home(Gcra::new(50, LONG).unwrap()).await;
        texts_stay_at_home(TokenBucket::new(50, 50, LONG).unwrap()).await;
        texts_stay_at_home(FixedWindow::new(50, LONG).unwrap()).await;
        texts_stay_at_home(SlidingWindow::new(50, LONG).unwrap()).await;
        texts_stay_at_home(SlidingWindowLog::new(50, LONG).unwrap()).await;
    });
}

async fn errors_stay_with_their_keys<S: Scripted>(strategy: S) {
    let server = RedisServer::start();
    let store: RedisStore<S> = on(&server).build().unwrap();
    let _ = store.check(&strategy, "bad", 1).await.unwrap();
    let keys = server.ask(&["KEYS", "*bad*"]);
    let key = keys.list().unwrap()[0].text().unwrap();
    server.ask(&["DEL", &key]);
    server.ask(&["LPUSH", &key, "something else"]);
    server.ask(&["PEXPIRE", &key, "100000"]);
    for _ in 0..2 {
        let calls = [("a", 1), ("bad", 1), ("b", 1), ("bad", 1), ("c", 1)];
        let answers = store.check_many(&strategy, &calls).await;
        for ((key, _), answer) in calls.iter().zip(&answers) {
            match answer {
                Ok(decision) => assert!(decision.allowed && *key != "bad"),
                Err(Error::Store(error)) => {
                    assert_eq!(*key, "bad");
                    assert!(
                        matches!(error.kind(), ErrorKind::Refused(text) if text.starts_with("WRONGTYPE")),
                        "{error}"
                    );
                    assert_eq!(error.applied(), Applied::No);
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
    for key in ["a", "b", "c"] {
        let seen = store.peek(&strategy, key).await.unwrap();
        assert_eq!(seen.limit - seen.remaining, 2, "{key}");
    }
    server.assert_all_keys_expire();
}

#[test]
fn an_error_of_one_key_is_that_of_no_other() {
    block_on(async {
        errors_stay_with_their_keys(Gcra::new(50, LONG).unwrap()).await;
        errors_stay_with_their_keys(TokenBucket::new(50, 50, LONG).unwrap()).await;
        errors_stay_with_their_keys(FixedWindow::new(50, LONG).unwrap()).await;
        errors_stay_with_their_keys(SlidingWindow::new(50, LONG).unwrap()).await;
        errors_stay_with_their_keys(SlidingWindowLog::new(50, LONG).unwrap()).await;
    });
}

#[test]
fn a_full_memory_refuses_each_key_of_a_batch_and_charges_none() {
    let server = RedisServer::start();
    block_on(async {
        let store = on(&server).build().unwrap();
        known(&server, &store, &hundred()).await;
        server.ask(&["CONFIG", "SET", "maxmemory", "1"]);
        for answer in store.check_many(&hundred(), &[("key", 1); 5]).await {
            let Err(Error::Store(error)) = answer else {
                panic!("{answer:?}");
            };
            assert!(error.is_transient(), "{error}");
            assert_eq!(error.applied(), Applied::No, "{error}");
        }
        server.ask(&["CONFIG", "SET", "maxmemory", "0"]);
        assert_eq!(store.peek(&hundred(), "key").await.unwrap().remaining, 100);
    });
}

/// A server with slots, behind a client that does not know of them, as behind a proxy.
#[test]
fn keys_of_other_slots_go_by_themselves_once_the_server_has_said_so() {
    let server = RedisServer::start_with(&["--cluster-enabled", "yes"]);
    server.ask(&["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
    block_on(async {
        let store = on(&server).build().unwrap();
        while store.check(&hundred(), "first", 1).await.is_err() {
            // The node is on its way to call the cluster complete.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let keys: Vec<_> = (0..20).map(|i| (format!("key {i}"), 1)).collect();
        for left in [99, 98] {
            for answer in store.check_many(&hundred(), &keys).await {
                assert_eq!(answer.unwrap().remaining, left);
            }
        }
        let strategy = hundred();
        let checks = keys.iter().map(|(key, _)| store.check(&strategy, key, 1));
        for answer in join_all(checks).await {
            assert_eq!(answer.unwrap().remaining, 97);
        }
    });
}

#[test]
fn scripts_of_several_kinds_keep_the_order_of_a_batch_on_a_server_that_knows_none() {
    let server = RedisServer::start();
    block_on(async {
        let store = on(&server).build().unwrap();
        // The server knows one of them only.
        let _ = store.peek(&hundred(), "key").await.unwrap();
        let calls = [("key", 0), ("key", 3), ("key", 0), ("key", 2), ("key", 0)];
        let answers = store.check_many(&hundred(), &calls).await;
        let remaining = answers.into_iter().map(|answer| answer.unwrap().remaining);
        assert!(remaining.eq([100, 97, 97, 95, 95]));
    });
}

/// Sixty-five are a full command and one call, for which there is a script of its own.
#[test]
fn the_last_call_of_a_batch_does_not_overtake_the_others_on_a_server_that_knows_its_script_only() {
    let server = RedisServer::start();
    block_on(async {
        let store = on(&server).build().unwrap();
        let _ = store.check(&hundred(), "key", 1).await.unwrap();
        let answers = store.check_many(&hundred(), &[("key", 1); 65]).await;
        let remaining = answers.into_iter().map(|answer| answer.unwrap().remaining);
        assert!(remaining.eq((34..99).rev()));
    });
}

/// A server refuses a command for the sake of any one key.
#[test]
fn a_key_that_an_acl_forbids_refuses_no_other() {
    let server = RedisServer::start();
    let rules = ["on", ">secret", "+@all", "~{tk:mine:*"];
    server.ask(&[&["ACL", "SETUSER", "guest"], &rules[..]].concat());
    let url = server.url().replace("://", "://guest:secret@");
    block_on(async {
        let builder = RedisStore::builder("mine").url(url).deadline(PATIENT);
        let mine: RedisStore<FixedWindow> = builder.build().unwrap();
        let others = mine.with_policy("others").unwrap();
        for left in [99, 98] {
            let (strategy, keys) = (hundred(), ["a", "b", "c", "d"]);
            let stores = [&mine, &mine, &others, &mine];
            let checks = stores.iter().zip(keys);
            let checks = checks.map(|(store, key)| store.check(&strategy, key, 1));
            let mut answers = join_all(checks).await;
            let Err(Error::Store(error)) = answers.remove(2) else {
                panic!("what is forbidden was done");
            };
            assert!(error.to_string().contains("NOPERM"), "{error}");
            assert_eq!(error.applied(), Applied::No, "{error}");
            for answer in answers {
                assert_eq!(answer.unwrap().remaining, left);
            }
        }
    });
}

#[test]
fn clients_of_either_protocol_can_take_the_answers_of_many_calls() {
    let server = RedisServer::start();
    block_on(async {
        for version in [RespVersion::RESP2, RespVersion::RESP3] {
            let mut config = Config::from_url(&server.url()).unwrap();
            config.version = version;
            let client = FredBuilder::from_config(config).build().unwrap();
            let connection = client.init().await.unwrap();
            server.ask(&["FLUSHALL"]);
            let bad = "{tk:test:fixed:bad}";
            server.ask(&["SET", bad, "something else", "PX", "100000"]);
            let builder = RedisStore::builder("test").client(client.clone());
            let store = builder.deadline(PATIENT).build().unwrap();
            let calls = [("key", 1), ("bad", 1), ("key", 2)];
            let answers = store.check_many(&hundred(), &calls).await;
            assert_eq!(answers[0].as_ref().unwrap().remaining, 99);
            let error = answers[1].as_ref().unwrap_err().to_string();
            assert!(error.contains("no use"), "{error}");
            assert_eq!(answers[2].as_ref().unwrap().remaining, 97);
            client.quit().await.unwrap();
            let _ = connection.await;
        }
    });
}

#[test]
fn a_runtime_that_stands_still_does_not_hold_up_the_calls_of_another() {
    let server = RedisServer::start();
    let strategy = hundred();
    let running = runtime();
    let store = running.block_on(async {
        let store = on(&server).build().unwrap();
        known(&server, &store, &strategy).await;
        store
    });
    let standing = runtime();
    standing.block_on(async {
        let checks = (0..3).map(|_| store.check(&strategy, "key", 1));
        assert!(poll!(pin!(join_all(checks))).is_pending());
    });
    running.block_on(async {
        let checks = (0..3).map(|_| store.check(&strategy, "key", 1));
        for answer in join_all(checks).await {
            let _ = answer.unwrap();
        }
    });
}

#[test]
fn a_thread_that_is_kept_busy_does_not_hold_up_the_calls_that_it_began_to_gather() {
    let server = RedisServer::start();
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let builder = on(&server).deadline(Duration::from_secs(2));
        let store = builder.build().unwrap();
        known(&server, &store, &hundred()).await;
        for _ in 0..10 {
            let store = store.clone();
            let (answered, done) = mpsc::channel::<()>();
            let asks = tokio::spawn(async move {
                // It has its turn before the calls are sent, on this thread or on the other.
                tokio::spawn(async move { done.recv_timeout(PATIENT) });
                let strategy = hundred();
                let checks = (0..2).map(|_| store.check(&strategy, "key", 1));
                join_all(checks).await
            });
            for answer in asks.await.unwrap() {
                let _ = answer.unwrap();
            }
            drop(answered);
        }
    });
}

#[test]
fn callers_learn_that_the_runtime_of_a_store_has_ended() {
    let server = RedisServer::start();
    let strategy = hundred();
    let ends = runtime();
    let store = ends.block_on(async {
        let store = on(&server).build().unwrap();
        known(&server, &store, &strategy).await;
        store
    });
    let lives = runtime();
    let checks = (0..3).map(|_| store.check(&strategy, "key", 1));
    let mut checks = pin!(join_all(checks));
    lives.block_on(async { assert!(poll!(&mut checks).is_pending()) });
    drop(ends);
    lives.block_on(async {
        for (place, answer) in checks.await.into_iter().enumerate() {
            let Err(Error::Store(error)) = answer else {
                panic!("{answer:?}");
            };
            assert!(!matches!(error.kind(), ErrorKind::Timeout), "{error}");
            // The first had been sent, and the others waited to be.
            assert_eq!(error.applied() == Applied::No, place > 0, "{error}");
        }
    });
}

#[test]
fn a_caller_that_leaves_takes_nobody_along() {
    let server = RedisServer::start();
    block_on(async {
        let store = on(&server).build().unwrap();
        known(&server, &store, &hundred()).await;
        for round in 1..=20 {
            let tasks: Vec<_> = (0..4)
                .map(|_| {
                    let store = store.clone();
                    tokio::spawn(async move { store.check(&hundred(), "key", 1).await })
                })
                .collect();
            tokio::task::yield_now().await;
            for (place, task) in tasks.into_iter().enumerate() {
                if place < round % 4 {
                    task.abort();
                } else {
                    assert!(task.await.unwrap().is_ok());
                }
            }
        }
    });
}

#[test]
fn nobody_is_charged_for_a_call_that_was_given_up_before_it_was_sent() {
    let server = RedisServer::start();
    let strategy = hundred();
    runtime().block_on(async {
        let store = on(&server).build().unwrap();
        known(&server, &store, &strategy).await;
        {
            let checks = (0..3).map(|_| store.check(&strategy, "key", 1));
            let mut checks = pin!(join_all(checks));
            assert!(poll!(&mut checks).is_pending());
        }
        let after = store.check(&strategy, "key", 1).await.unwrap();
        // The first went alone, and at once.
        assert!(after.remaining >= 98, "{after:?}");
    });
}
