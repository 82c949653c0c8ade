//! What others have put under a pool's key is told apart and left alone.

use std::time::Duration;

use tk_fair::{Draw, PoolRule, PoolTag, RegionName, RegionPool};
use tk_store_redis::{Applied, ErrorKind, PoolError};
use tk_testkit::{
    conformance::block_on,
    servers::{Answer, RedisServer},
};

use crate::support::pool;

const KEY: &str = "{tk:pool:pool:regions}";

fn is_bad_state<T: std::fmt::Debug>(answer: Result<T, PoolError>, what: &str) {
    match answer {
        Err(PoolError::Store(error)) => {
            assert!(
                matches!(error.kind(), ErrorKind::BadState(_)),
                "{what}: {error}"
            );
            assert_eq!(error.applied(), Applied::No, "{what}: {error}");
            assert!(!error.is_transient(), "{what}: {error}");
        }
        answer => panic!("{what} was taken for a state: {answer:?}"),
    }
}

/// Numbers that no pool has would overflow in the rule, or be reckoned inexactly by the script.
#[test]
fn what_others_have_put_under_a_pools_key_is_told_apart_and_left_alone() {
    let server = RedisServer::start();
    let sound = ["region:a", "3 2 3 1 9 4 1 106"];
    let window = ["window", "0 0 0"];
    let states = [
        vec!["name", "bob"],
        vec!["window", "abc"],
        vec!["window", "1 2"],
        sound.to_vec(),
        [&window[..], &["name", "3 2 3 1 9 4 1 106"]].concat(),
        [&["window", "18446744073709551615 0 0"][..], &sound].concat(),
        [&["window", "0 0 18446744073709551615"][..], &sound].concat(),
        [&["window", "0 0 9007199254740992"][..], &sound].concat(),
        [&window[..], &["region:a", "3 9007199254740991 3 1 9 4 1 6"]].concat(),
        [&window[..], &["region:a", "3 2 2 1 9 4 1 6"]].concat(),
        [&window[..], &["region:a", "3 2 3 1 9 10 1 6"]].concat(),
        [&window[..], &["region:a", "3 2 3 6 9 4 1 6"]].concat(),
        [&window[..], &["region:a", "3 2 3 1 9 4 1"]].concat(),
        [&window[..], &["region:a", "1 1 70368744177665 1 9 4 1 6"]].concat(),
        [&window[..], &["region:a", "1 1 1 1 9007199254740992 4 1 6"]].concat(),
    ];
    block_on(async {
        let rule = PoolRule::new(100, Duration::from_secs(60), Duration::from_secs(6)).unwrap();
        let pool = pool(&server, rule);
        let region = RegionName::new("a").unwrap();
        let draw = Draw {
            weight: 1,
            settled: 0,
            want: 5,
        };
        for state in states {
            let what = state.join(" ");
            server.ask(&["DEL", KEY]);
            server.ask(&[&["HSET", KEY][..], &state].concat());
            let before = server.ask(&["DUMP", KEY]);
            is_bad_state(pool.draw(&region, draw).await, &what);
            let tag = PoolTag {
                start: 0,
                begun: 0,
                turn: 1,
            };
            is_bad_state(pool.give_back(&region, tag, 1).await, &what);
            assert_eq!(server.ask(&["DUMP", KEY]), before, "{what}");
            assert_eq!(server.ask(&["PTTL", KEY]), Answer::Number(-1), "{what}");
        }
        server.ask(&["DEL", KEY]);
        assert_eq!(pool.draw(&region, draw).await.unwrap().amount, 5);
        assert_eq!(server.keys()[0].0, KEY.as_bytes());
    });
}
