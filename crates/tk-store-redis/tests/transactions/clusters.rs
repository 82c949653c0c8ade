//! Transactions in a cluster of three masters with a replica each.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use serde::{Serialize, de::DeserializeOwned};
use tk_core::{Error, ManualClock, Store, Strategy};
use tk_store_redis::{Applied, TransactionStore};
use tk_testkit::{
    conformance::{self, Harness, block_on},
    servers::RedisCluster,
};

use crate::support::{PATIENT, Tab};

struct OnCluster {
    cluster: RedisCluster,
    stores: AtomicU64,
}

impl<S> Harness<S> for OnCluster
where
    S: Strategy,
    S::State: Serialize + DeserializeOwned,
{
    type Store = TransactionStore<S>;

    async fn store(&self, clock: Arc<ManualClock>) -> TransactionStore<S> {
        let prefix = format!("test {}", self.stores.fetch_add(1, Relaxed));
        let builder = TransactionStore::builder("test", "own").url(self.cluster.url());
        let builder = builder.deadline(PATIENT).prefix(prefix);
        builder.clock(clock).connections(2).build().unwrap()
    }
}

#[test]
fn a_strategy_of_ones_own_conforms_on_a_cluster() {
    let harness = OnCluster {
        cluster: RedisCluster::start(),
        stores: AtomicU64::new(0),
    };
    block_on(conformance::conforms_under(&harness, &Tab { limit: 50 }));
    harness.cluster.assert_all_keys_expire();
}

/// Each transaction goes to the node of its key, and what it watches is watched there.
#[test]
fn concurrent_transactions_on_keys_of_all_nodes_admit_exactly_the_limit() {
    let cluster = RedisCluster::start();
    block_on(async {
        let stores: Vec<TransactionStore<Tab>> = (0..3)
            .map(|_| {
                let builder = TransactionStore::builder("test", "own").url(cluster.url());
                let builder = builder.deadline(PATIENT).attempts(1_000);
                builder.connections(4).build().unwrap()
            })
            .collect();
        let tasks: Vec<_> = (0..360_u64)
            .map(|i| {
                let store = stores[i as usize % 3].clone();
                // Of the 60 calls for each of 6 keys, each store makes 20.
                let key = i / 3 % 6;
                tokio::spawn(async move {
                    store
                        .check(&Tab { limit: 50 }, &key, 1)
                        .await
                        .unwrap()
                        .allowed
                })
            })
            .collect();
        let mut allowed = 0;
        for task in tasks {
            allowed += usize::from(task.await.unwrap());
        }
        assert_eq!(allowed, 6 * 50);
        let held = cluster.nodes()[..3].iter().map(|node| node.keys().len());
        let held: Vec<_> = held.collect();
        assert!(held.iter().all(|&keys| keys > 0), "on all nodes: {held:?}");
        cluster.assert_all_keys_expire();
    });
}

#[test]
fn a_slot_that_has_moved_is_found_within_the_call() {
    let cluster = RedisCluster::start();
    block_on(async {
        let builder = TransactionStore::builder("test", "own").url(cluster.url());
        let builder = builder.deadline(Duration::from_secs(5));
        let store: TransactionStore<Tab> = builder.build().unwrap();
        let strategy = Tab { limit: 10 };
        assert!(store.check(&strategy, "key", 3).await.unwrap().allowed);
        let name = "{tk:test:tx.own:key}";
        let to = (cluster.home_of(name) + 1) % 3;
        cluster.start_moving(name, to);
        if let Err(Error::Store(error)) = store.check(&strategy, "key", 1).await {
            assert_eq!(error.applied(), Applied::No, "halfway: {error}");
            assert!(error.is_transient(), "{error}");
        } else {
            panic!("a key that is elsewhere was charged");
        }
        cluster.finish_moving(name, to);
        let decision = store.check(&strategy, "key", 1).await.unwrap();
        assert_eq!(decision.remaining, 6, "neither lost nor counted twice");
    });
}
