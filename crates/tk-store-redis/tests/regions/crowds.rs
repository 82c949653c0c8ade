//! Several regions at once, by the server's clock.

use std::time::Duration;

use tk_fair::{Draw, PoolRule, RegionName, RegionPool};
use tk_testkit::{conformance::block_on, servers::RedisServer};

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
