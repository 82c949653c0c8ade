//! Many callers at once.

use std::time::Duration;

use tk_core::{FixedWindow, Gcra, SlidingWindow, SlidingWindowLog, Store, TokenBucket};
use tk_store_redis::{RedisStore, Scripted};
use tk_testkit::{conformance::block_on, servers::RedisServer};

use crate::support::on;

/// Long enough that nothing replenishes while a test runs.
const LONG: Duration = Duration::from_secs(1 << 24);

/// How many of `callers` concurrent checks are allowed.
async fn allowed<S: Scripted>(stores: &[RedisStore<S>], strategy: &S, callers: usize) -> usize {
    let tasks: Vec<_> = (0..callers)
        .map(|i| {
            let (store, strategy) = (stores[i % stores.len()].clone(), strategy.clone());
            tokio::spawn(async move { store.check(&strategy, "key", 1).await.unwrap().allowed })
        })
        .collect();
    let mut allowed = 0;
    for task in tasks {
        allowed += usize::from(task.await.unwrap());
    }
    allowed
}

async fn exactly_fifty<S: Scripted>(strategy: S) {
    let server = RedisServer::start();
    let stores: Vec<RedisStore<S>> = (0..4)
        .map(|_| on(&server).connections(2).build().unwrap())
        .collect();
    assert_eq!(allowed(&stores, &strategy, 200).await, 50);
    server.assert_all_keys_expire();
}

#[test]
fn two_hundred_concurrent_checks_at_limit_fifty_admit_fifty() {
    block_on(async {
        exactly_fifty(Gcra::new(50, LONG).unwrap()).await;
        exactly_fifty(TokenBucket::new(50, 50, LONG).unwrap()).await;
        exactly_fifty(FixedWindow::new(50, LONG).unwrap()).await;
        exactly_fifty(SlidingWindow::new(50, LONG).unwrap()).await;
        exactly_fifty(SlidingWindowLog::new(50, LONG).unwrap()).await;
    });
}

/// A script that the server has forgotten is sent along, and its call is decided once all the same.
#[test]
fn flushing_scripts_under_load_decides_every_call_once() {
    let server = RedisServer::start();
    block_on(async {
        let stores: Vec<RedisStore<Gcra>> = (0..2).map(|_| on(&server).build().unwrap()).collect();
        let port = server.port();
        let flusher = tokio::task::spawn_blocking(move || {
            let mut wire = tk_testkit::servers::Wire::connect(port).unwrap();
            for _ in 0..300 {
                wire.ask(&["SCRIPT", "FLUSH"]).unwrap();
            }
        });
        let strategy = Gcra::new(1_500, LONG).unwrap();
        let mut admitted = 0;
        for _ in 0..20 {
            admitted += allowed(&stores, &strategy, 100).await;
        }
        flusher.await.unwrap();
        assert_eq!(admitted, 1_500);
        server.wire().ask(&["SCRIPT", "FLUSH"]).unwrap();
        assert!(
            stores[0]
                .check(&strategy, "key", 1)
                .await
                .unwrap()
                .is_denied()
        );
    });
}

#[test]
fn many_checks_are_answered_in_their_order_and_see_each_other() {
    let server = RedisServer::start();
    block_on(async {
        let store = on::<FixedWindow>(&server).build().unwrap();
        let strategy = FixedWindow::new(3, LONG).unwrap();
        let calls: Vec<_> = (0..500).map(|i| (format!("key {}", i % 100), 1)).collect();
        let answers = store.check_many(&strategy, &calls).await;
        let remaining: Vec<_> = answers
            .iter()
            .map(|answer| answer.as_ref().unwrap().remaining)
            .collect();
        for (i, remaining) in remaining.iter().enumerate() {
            assert_eq!(*remaining, [2, 1, 0, 0, 0][i / 100], "call {i}");
        }
        let denied = answers
            .iter()
            .filter(|answer| answer.as_ref().unwrap().is_denied())
            .count();
        assert_eq!(denied, 200);
    });
}
