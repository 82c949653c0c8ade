//! A cluster of three masters with a replica each.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use futures_util::poll;
use tk_core::{Error, FixedWindow, Gcra, ManualClock, Store, Strategy};
use tk_store_redis::{Applied, ErrorKind, RedisStore, Scripted};
use tk_testkit::{
    conformance::{self, Harness, block_on},
    servers::RedisCluster,
};

use crate::support::{PATIENT, calls_of};

/// Long enough that nothing replenishes while a test runs.
const LONG: Duration = Duration::from_secs(1 << 24);

struct OnCluster {
    cluster: RedisCluster,
    stores: AtomicU64,
}

impl<S: Strategy + Scripted> Harness<S> for OnCluster {
    type Store = RedisStore<S>;

    async fn store(&self, clock: Arc<ManualClock>) -> RedisStore<S> {
        let prefix = format!("test {}", self.stores.fetch_add(1, Relaxed));
        let builder = RedisStore::builder("test")
            .url(self.cluster.url())
            .deadline(PATIENT);
        builder.prefix(prefix).clock(clock).build().unwrap()
    }
}

fn store<S: Scripted>(cluster: &RedisCluster) -> RedisStore<S> {
    RedisStore::builder("test")
        .url(cluster.url())
        .deadline(Duration::from_secs(2))
        .build()
        .unwrap()
}

#[test]
fn the_store_conforms_on_a_cluster() {
    let harness = OnCluster {
        cluster: RedisCluster::start(),
        stores: AtomicU64::new(0),
    };
    block_on(conformance::scripts(&harness));
    block_on(conformance::changes::all(&harness));
    harness.cluster.assert_all_keys_expire();
}

/// One hash tag for all keys would put them on one node.
#[test]
fn keys_spread_over_all_masters_and_many_checks_reach_each() {
    let cluster = RedisCluster::start();
    block_on(async {
        let store = store::<FixedWindow>(&cluster);
        let strategy = FixedWindow::new(2, LONG).unwrap();
        let calls: Vec<_> = (0..3_000u64).map(|i| (i % 1_500, 1)).collect();
        let answers = store.check_many(&strategy, &calls).await;
        for (i, answer) in answers.iter().enumerate() {
            assert_eq!(
                answer.as_ref().unwrap().remaining,
                1 - i as u64 / 1_500,
                "call {i}"
            );
        }
        let held: Vec<_> = cluster.nodes()[..3]
            .iter()
            .map(|node| node.keys().len())
            .collect();
        assert_eq!(held.iter().sum::<usize>(), 1_500);
        assert!(held.iter().all(|&keys| keys > 400), "{held:?}");
        cluster.assert_all_keys_expire();
    });
}

#[test]
fn a_key_that_has_moved_is_followed_and_keeps_its_usage() {
    let cluster = RedisCluster::start();
    block_on(async {
        let store = store::<FixedWindow>(&cluster);
        let strategy = FixedWindow::new(10, LONG).unwrap();
        assert!(store.check(&strategy, "alice", 7).await.unwrap().allowed);
        let key = "{tk:test:fixed:alice}";
        let home = cluster.home_of(key);
        cluster.start_moving(key, (home + 1) % 3);
        let Err(Error::Store(error)) = store.check(&strategy, "alice", 1).await else {
            panic!("a key was answered for while it moved");
        };
        assert_eq!(*error.kind(), ErrorKind::Moving);
        assert_eq!((error.applied(), error.is_transient()), (Applied::No, true));
        cluster.finish_moving(key, (home + 1) % 3);
        assert_eq!(
            store.check(&strategy, "alice", 1).await.unwrap().remaining,
            2
        );
    });
}

#[test]
fn a_failover_keeps_limits_and_calls_come_back() {
    let mut cluster = RedisCluster::start();
    block_on(async {
        let store: RedisStore<Gcra> = RedisStore::builder("test")
            .url(cluster.url())
            .deadline(Duration::from_millis(200))
            .breaker(5, Duration::from_millis(200))
            .build()
            .unwrap();
        let strategy = Gcra::new(10, LONG).unwrap();
        let answered = async |key: &str| {
            for _ in 0..6_000 {
                match store.check(&strategy, key, 10).await {
                    Ok(decision) => return decision.allowed,
                    Err(Error::Store(error)) => assert!(error.is_transient(), "{error}"),
                    Err(error) => panic!("{error}"),
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            panic!("the cluster never came back");
        };
        let keys: Vec<_> = (0..30).map(|i| format!("key {i}")).collect();
        for key in &keys {
            assert!(answered(key).await);
        }
        let home = cluster.home_of("{tk:test:gcra:key%200}");
        let replica = cluster.nodes()[3 + home].port();
        // All is replicated before the master is gone.
        tokio::time::sleep(Duration::from_millis(200)).await;
        cluster.node_mut(home).kill();
        cluster.wait_for_failover(home);
        for key in &keys {
            assert!(!answered(key).await, "{key} was admitted twice");
        }
        assert!(
            cluster
                .nodes()
                .iter()
                .any(|node| node.port() == replica && !node.keys().is_empty())
        );
        cluster.assert_all_keys_expire();
    });
}

/// Somebody who gives a batch up learns nothing of any of the nodes that it went to, so each of them is asked.
#[test]
fn every_node_of_a_batch_that_was_given_up_is_asked_for_a_sign_of_life() {
    let cluster = RedisCluster::start();
    block_on(async {
        let store = store::<FixedWindow>(&cluster);
        let strategy = FixedWindow::new(2, LONG).unwrap();
        let calls: Vec<_> = (0..100u64).map(|i| (i, 1)).collect();
        for answer in store.check_many(&strategy, &calls).await {
            let _ = answer.unwrap();
        }
        let masters = &cluster.nodes()[..3];
        for node in masters {
            node.ask(&["CONFIG", "RESETSTAT"]);
        }
        assert!(
            poll!(pin!(store.check_many(&strategy, &calls))).is_pending(),
            "and dropped"
        );
        for node in masters {
            let mut looks = 0;
            while calls_of("ping", node) == 0 {
                looks += 1;
                assert!(looks < 2_000, "{:?} was not asked", node.port());
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    });
}
