//! A primary and its replica, found by way of a sentinel.

use std::time::Duration;

use tk_core::{Error, FixedWindow, Store};
use tk_store_redis::{Applied, RedisStore};
use tk_testkit::{
    conformance::block_on,
    servers::{RedisSentinel, RedisServer},
};

use crate::replicas::replicate;

/// Long enough that nothing replenishes while a test runs.
const LONG: Duration = Duration::from_secs(1 << 24);

fn limit() -> FixedWindow {
    FixedWindow::new(20, LONG).unwrap()
}

fn store(sentinel: &RedisSentinel) -> RedisStore<FixedWindow> {
    RedisStore::builder("test")
        .url(sentinel.url())
        .deadline(Duration::from_secs(2))
        .breaker(3, Duration::from_millis(200))
        .build()
        .unwrap()
}

/// Units left after a check of the first call that gets through, and how many may have been charged in vain before it.
async fn check_until_answered(store: &RedisStore<FixedWindow>) -> (u64, u64) {
    let mut unknown = 0;
    for _ in 0..1_000 {
        match store.check(&limit(), "key", 1).await {
            Ok(decision) => return (decision.remaining, unknown),
            Err(Error::Store(error)) => {
                assert!(error.is_transient(), "{error}");
                unknown += u64::from(error.applied() == Applied::Unknown);
            }
            Err(error) => panic!("{error}"),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no call gets through");
}

/// Checks that the store finds the new primary, where of 20 units the 7 from before are missing, and those of calls that were lost.
async fn assert_kept(store: &RedisStore<FixedWindow>, replica: &RedisServer) {
    let (remaining, unknown) = check_until_answered(store).await;
    let expected = 12 - unknown..=12;
    assert!(expected.contains(&remaining), "{remaining} are left");
    replica.assert_all_keys_expire();
}

#[test]
fn a_sentinel_leads_to_the_primary_and_after_its_end_to_the_replica() {
    let mut primary = RedisServer::start();
    let replica = RedisServer::replica_of(primary.port());
    let sentinel = RedisSentinel::of(&primary);
    block_on(async {
        let store = store(&sentinel);
        assert!(store.check(&limit(), "key", 7).await.unwrap().allowed);
        replicate(&primary);
        primary.kill();
        sentinel.wait_for_primary(replica.port());
        assert_kept(&store, &replica).await;
    });
}

/// The old primary lives on as a replica, and refuses what is still sent to it.
#[test]
fn a_primary_that_a_sentinel_demotes_is_left_with_nothing_lost() {
    let primary = RedisServer::start();
    let replica = RedisServer::replica_of(primary.port());
    let sentinel = RedisSentinel::of(&primary);
    block_on(async {
        let store = store(&sentinel);
        assert!(store.check(&limit(), "key", 7).await.unwrap().allowed);
        replicate(&primary);
        sentinel.fail_over();
        sentinel.wait_for_primary(replica.port());
        assert_kept(&store, &replica).await;
    });
}
