//! A transaction whose `EXEC` is not answered is unknown, and is never made again.

use std::time::Duration;

use tk_core::{Error, Store};
use tk_store_redis::{Applied, StoreError, TransactionStore};
use tk_testkit::{
    conformance::block_on,
    servers::{Fault, Proxy, RedisServer},
};

use crate::support::{Tab, on};

const HUNDRED: Tab = Tab { limit: 100 };

/// What the server has counted, seen by a store with a way of its own.
async fn counted(server: &RedisServer) -> u64 {
    let seen: TransactionStore<Tab> = on(server).build().unwrap();
    100 - seen.peek(&HUNDRED, "key").await.unwrap().remaining
}

fn unknown<T: std::fmt::Debug>(answer: Result<T, Error<StoreError>>) {
    match answer {
        Err(Error::Store(error)) => {
            assert_eq!(error.applied(), Applied::Unknown, "{error}");
            assert!(error.is_transient(), "{error}");
        }
        answer => panic!("an answer that was lost: {answer:?}"),
    }
}

fn through(proxy: &Proxy) -> TransactionStore<Tab> {
    let builder = TransactionStore::builder("test", "own").url(proxy.url());
    builder.deadline(Duration::from_secs(2)).build().unwrap()
}

#[test]
fn a_transaction_whose_connection_breaks_is_unknown_and_counted_once() {
    let server = RedisServer::start();
    let proxy = Proxy::to(&server);
    block_on(async {
        let store = through(&proxy);
        assert!(store.check(&HUNDRED, "key", 1).await.unwrap().allowed);
        for round in 1..=5 {
            proxy.set_from("EXEC", Fault::CutsInsteadOfNextReply);
            unknown(store.check(&HUNDRED, "key", 1).await);
            // Whoever were to repeat it could do so now, and with the next call at the latest.
            let _ = store.peek(&HUNDRED, "key").await.unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
            assert_eq!(counted(&server).await, 1 + round);
        }
    });
}

#[test]
fn a_transaction_that_is_never_answered_ends_at_the_deadline_and_is_counted_once() {
    let server = RedisServer::start();
    let proxy = Proxy::to(&server);
    block_on(async {
        let builder = TransactionStore::builder("test", "own").url(proxy.url());
        let store: TransactionStore<Tab> = builder
            .deadline(Duration::from_millis(500))
            .connections(1)
            .build()
            .unwrap();
        assert!(store.check(&HUNDRED, "key", 1).await.unwrap().allowed);
        proxy.set_from("EXEC", Fault::LosesReplies);
        unknown(store.check(&HUNDRED, "key", 1).await);
        proxy.set(Fault::None);
        let _ = store.peek(&HUNDRED, "key").await.unwrap();
        assert_eq!(counted(&server).await, 2);
    });
}
