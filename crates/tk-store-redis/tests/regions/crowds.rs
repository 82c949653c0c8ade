//! Several regions at once, by the server's clock.

use std::time::Duration;

use tk_fair::{Draw, PoolRule, RegionName, RegionPool};
use tk_store_redis::{Applied, PoolError, RedisRegionFairPool, RedisStore};
use tk_testkit::{
    conformance::block_on,
    servers::{Fault, Proxy, RedisServer},
};

use crate::support::pool;

#[test]
fn regions_that_draw_at_once_never_draw_more_than_the_limit() {
    let server = RedisServer::start();
    block_on(async {
        let day = Duration::from_secs(1 << 24);
        let rule = PoolRule::new(1_000, day, day / 10).unwrap();
        let tasks: Vec<_> = (0..4)
            .map(|i| {
                let pool = pool(&server, rule);
                tokio::spawn(async move {
                    let region = RegionName::new(&format!("region {i}")).unwrap();
                    let (mut drawn, mut back) = (0, 0);
                    for step in 0..200u64 {
                        let draw = Draw {
                            weight: i + 1,
                            settled: 0,
                            want: 7,
                        };
                        let grant = pool.draw(&region, draw).await.unwrap();
                        drawn += grant.amount;
                        if step % 5 == 0 {
                            back += pool.give_back(&region, grant.tag, 3).await.unwrap();
                        }
                    }
                    (drawn, back)
                })
            })
            .collect();
        let (mut kept, mut returned) = (0, 0);
        for task in tasks {
            let (drawn, back) = task.await.unwrap();
            kept += drawn - back;
            returned += back;
        }
        assert_eq!(kept, 1_000, "all is drawn, and no more");
        assert!(returned > 0);
    });
    server.assert_all_keys_expire();
}

#[test]
fn a_key_that_would_live_for_ever_is_given_a_life_by_a_hand_back() {
    let server = RedisServer::start();
    block_on(async {
        let day = Duration::from_secs(1 << 24);
        let pool = pool(&server, PoolRule::new(10, day, day / 10).unwrap());
        let region = RegionName::new("us").unwrap();
        let draw = Draw {
            weight: 1,
            settled: 0,
            want: 5,
        };
        let tag = pool.draw(&region, draw).await.unwrap().tag;
        server.ask(&["PERSIST", "{tk:pool:pool:regions}"]);
        assert_eq!(pool.give_back(&region, tag, 9).await.unwrap(), 5);
        assert_eq!(pool.give_back(&region, tag, 9).await.unwrap(), 0, "once");
    });
    server.assert_all_keys_expire();
    assert_eq!(server.keys().len(), 1);
}

/// Claims outlive their window by one; milliseconds passed where seconds are meant would make them live for ever.
#[test]
fn no_pool_outlives_the_window_after_the_present_one() {
    let server = RedisServer::start();
    block_on(async {
        let minute = Duration::from_secs(60);
        let pool = pool(&server, PoolRule::new(10, minute, minute / 10).unwrap());
        let region = RegionName::new("us").unwrap();
        let draw = Draw {
            weight: 1,
            settled: 0,
            want: 5,
        };
        let claim = |what: &str| {
            let keys = server.keys();
            assert_eq!(keys.len(), 1, "{keys:?}");
            let left = keys[0].1;
            assert!(0 < left && left <= 120_001, "{what}: {left} ms");
        };
        let tag = pool.draw(&region, draw).await.unwrap().tag;
        claim("draw");
        let _ = pool.give_back(&region, tag, 3).await.unwrap();
        claim("hand-back");
        server.ask(&["PERSIST", "{tk:pool:pool:regions}"]);
        let _ = pool.draw(&region, draw).await.unwrap();
        claim("draw of a key that would live for ever");
    });
}

#[test]
fn a_draw_whose_reply_is_lost_is_debited_once_and_so_is_a_hand_back() {
    let server = RedisServer::start();
    let proxy = Proxy::to(&server);
    block_on(async {
        let day = Duration::from_secs(1 << 24);
        let rule = PoolRule::new(100, day, day / 10).unwrap();
        let store: RedisStore<tk_core::FixedWindow> = RedisStore::builder("test")
            .url(proxy.url())
            .deadline(Duration::from_secs(2))
            .build()
            .unwrap();
        let distant = RedisRegionFairPool::over(&store, "pool", rule).unwrap();
        let near = pool(&server, rule);
        let region = RegionName::new("us").unwrap();
        let draw = |want| Draw {
            weight: 1,
            settled: 0,
            want,
        };
        // Once it answers, nothing else is under way.
        let settle = async || {
            for _ in 0..500 {
                if let Ok(grant) = distant.draw(&region, draw(0)).await {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    return grant.spare;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            panic!("calls never get through again");
        };
        // The server learns both scripts: what is lost later shall not be that it does not know one.
        let grant = near.draw(&region, draw(1)).await.unwrap();
        assert_eq!(near.give_back(&region, grant.tag, 1).await.unwrap(), 1);
        assert_eq!(settle().await, 100);
        proxy.set(Fault::CutsInsteadOfNextReply);
        let Err(PoolError::Store(error)) = distant.draw(&region, draw(7)).await else {
            panic!("an answer that was lost");
        };
        assert_eq!(error.applied(), Applied::Unknown, "{error}");
        assert_eq!(settle().await, 93);
        let grant = near.draw(&region, draw(0)).await.unwrap();
        proxy.set(Fault::CutsInsteadOfNextReply);
        let Err(PoolError::Store(error)) = distant.give_back(&region, grant.tag, 3).await else {
            panic!("an answer that was lost");
        };
        assert_eq!(error.applied(), Applied::Unknown, "{error}");
        assert_eq!(settle().await, 96);
    });
}
