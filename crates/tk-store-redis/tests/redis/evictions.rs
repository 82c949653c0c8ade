//! A server that drops keys when its memory is full.

use std::time::Duration;

use tk_core::{FixedWindow, Store};
use tk_store_redis::RedisStore;
use tk_testkit::{conformance::block_on, servers::RedisServer};

use crate::support::on;

/// Long enough that nothing replenishes while a test runs.
const LONG: Duration = Duration::from_secs(1 << 24);

fn ten() -> FixedWindow {
    FixedWindow::new(10, LONG).unwrap()
}

/// Checks keys of others until the server has dropped `victim`; says how many checks that took.
async fn evict(server: &RedisServer, store: &RedisStore<FixedWindow>, victim: &[u8]) -> usize {
    let mut wire = server.wire();
    for batch in 0..1_000_u64 {
        let others: Vec<_> = (0..500_u64).map(|other| ((batch, other), 1)).collect();
        for answer in store.check_many(&ten(), &others).await {
            assert!(answer.unwrap().allowed, "a full server still decides");
        }
        let exists = wire.ask(&[&b"EXISTS"[..], victim]).unwrap();
        if exists.number() == Some(0) {
            return 500 * (batch as usize + 1);
        }
    }
    panic!("the server never drops the key: {}", server.log());
}

/// What `docs/REDIS.md` says of eviction: no error, no warning from the call, one more limit for the key, and nothing is handed back to its new life.
#[test]
fn a_dropped_key_starts_anew_and_refuses_what_was_leased_before() {
    let settings = ["--maxmemory", "4mb", "--maxmemory-policy", "allkeys-lru"];
    let server = RedisServer::start_with(&settings);
    block_on(async {
        let store = on::<FixedWindow>(&server).build().unwrap();
        let grant = store.lease(&ten(), "victim", 4, 4).await.unwrap();
        assert!(store.check(&ten(), "victim", 6).await.unwrap().allowed);
        assert!(store.check(&ten(), "victim", 1).await.unwrap().is_denied());
        let victim = server.keys().remove(0).0;
        let checks = evict(&server, &store, &victim).await;
        println!(
            "dropped after {checks} checks of other keys, {} keys are left",
            server.keys().len()
        );
        let mut again = 0;
        while store.check(&ten(), "victim", 1).await.unwrap().allowed {
            again += 1;
        }
        assert_eq!(again, 10, "one more limit");
        let taken = store
            .give_back(&ten(), "victim", grant.tag, 4)
            .await
            .unwrap();
        assert_eq!(taken, 0, "it belongs to a life that was forgotten");
        assert!(store.check(&ten(), "victim", 1).await.unwrap().is_denied());
        server.assert_all_keys_expire();
    });
}
