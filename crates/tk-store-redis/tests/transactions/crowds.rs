//! Many callers at once, of several stores, as of several processes.

use serde::{Serialize, de::DeserializeOwned};
use tk_core::{FixedWindow, Gcra, SlidingWindow, SlidingWindowLog, Store, Strategy, TokenBucket};
use tk_store_redis::TransactionStore;
use tk_testkit::{conformance::block_on, servers::RedisServer};

use crate::support::{LONG, Tab, on};

async fn exactly_fifty<S>(strategy: S)
where
    S: Strategy,
    S::State: Serialize + DeserializeOwned,
{
    let server = RedisServer::start();
    let stores: Vec<TransactionStore<S>> = (0..4)
        .map(|_| on(&server).attempts(1_000).build().unwrap())
        .collect();
    let tasks: Vec<_> = (0..200)
        .map(|i| {
            let (store, strategy) = (stores[i % stores.len()].clone(), strategy.clone());
            tokio::spawn(async move { store.check(&strategy, "key", 1).await.unwrap().allowed })
        })
        .collect();
    let mut allowed = 0;
    for task in tasks {
        allowed += usize::from(task.await.unwrap());
    }
    assert_eq!(allowed, 50);
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
        exactly_fifty(Tab { limit: 50 }).await;
    });
}

#[test]
fn a_key_that_others_keep_changing_is_given_up_and_not_charged() {
    let server = RedisServer::start();
    block_on(async {
        let strategy = Tab { limit: 1_000_000 };
        let stores: Vec<TransactionStore<Tab>> = (0..4)
            .map(|_| on(&server).attempts(1).build().unwrap())
            .collect();
        let tasks: Vec<_> = (0..200)
            .map(|i| {
                let (store, strategy) = (stores[i % stores.len()].clone(), strategy.clone());
                tokio::spawn(async move { store.check(&strategy, "key", 1).await })
            })
            .collect();
        let mut charged = 0;
        for task in tasks {
            match task.await.unwrap() {
                Ok(_) => charged += 1,
                Err(tk_core::Error::Store(error)) => {
                    assert!(matches!(
                        error.kind(),
                        tk_store_redis::ErrorKind::Contended(1)
                    ));
                    assert!(error.is_transient());
                    assert_eq!(error.applied(), tk_store_redis::Applied::No);
                }
                Err(error) => panic!("{error}"),
            }
        }
        let left = stores[0].peek(&strategy, "key").await.unwrap().remaining;
        assert_eq!(left, 1_000_000 - charged);
    });
}
