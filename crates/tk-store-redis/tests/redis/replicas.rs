//! A primary and its replica.

use std::time::Duration;

use tk_core::{Error, FixedWindow, Store};
use tk_store_redis::{Applied, ErrorKind, RedisStore};
use tk_testkit::{
    conformance::block_on,
    servers::{Answer, Fault, Proxy, RedisServer},
};

/// Long enough that nothing replenishes while a test runs.
const LONG: Duration = Duration::from_secs(1 << 24);

fn limit() -> FixedWindow {
    FixedWindow::new(20, LONG).unwrap()
}

fn store(url: &str) -> RedisStore<FixedWindow> {
    RedisStore::builder("test")
        .url(url)
        .deadline(Duration::from_secs(2))
        .build()
        .unwrap()
}

/// Returns once the replica has all that was written so far.
///
/// `WAIT` waits for the writes of its own connection only, so this one writes too, behind the others in the stream.
pub(crate) fn replicate(primary: &RedisServer) {
    let mut wire = primary.wire();
    wire.ask(&["SET", "marker", "1", "EX", "3600"]).unwrap();
    assert_eq!(wire.ask(&["WAIT", "1", "5000"]).unwrap(), Answer::Number(1));
}

/// As behind a name that is given the new primary's address: the old primary has become a replica, and refuses writes.
#[test]
fn a_demoted_primary_is_left_within_the_call_that_finds_it_out() {
    // Each connection finds it out by itself.
    for connections in [1, 2] {
        is_left_within_the_call(connections);
    }
}

fn is_left_within_the_call(connections: usize) {
    let primary = RedisServer::start();
    let replica = RedisServer::replica_of(primary.port());
    let name = Proxy::to(&primary);
    block_on(async {
        let builder = RedisStore::builder("test").url(name.url());
        let builder = builder.deadline(Duration::from_secs(2));
        let store = builder.connections(connections).build().unwrap();
        let allowed = store.check(&limit(), "key", 7).await.unwrap().allowed;
        assert!(allowed);
        for _ in 1..connections {
            let _ = store.peek(&limit(), "key").await.unwrap();
        }
        replicate(&primary);
        replica.ask(&["REPLICAOF", "NO", "ONE"]);
        name.lead_to(replica.port());
        primary.ask(&["REPLICAOF", "127.0.0.1", &replica.port().to_string()]);
        let decision = store.check(&limit(), "key", 1).await.unwrap();
        assert_eq!(decision.remaining, 12, "neither lost nor counted twice");
        let many = store.check_many(&limit(), &[("key", 1), ("key", 1)]).await;
        assert_eq!(many[1].as_ref().unwrap().remaining, 10);
    });
}

#[test]
fn a_replica_without_a_primary_in_sight_is_told_apart() {
    let primary = RedisServer::start();
    let replica = RedisServer::replica_of(primary.port());
    block_on(async {
        let store = store(&replica.url());
        let Err(Error::Store(error)) = store.check(&limit(), "key", 1).await else {
            panic!("a replica took a write");
        };
        assert_eq!(*error.kind(), ErrorKind::ReadOnly);
        assert_eq!((error.applied(), error.is_transient()), (Applied::No, true));
        // It writes nothing, and a replica may answer it.
        assert_eq!(store.peek(&limit(), "key").await.unwrap().remaining, 20);
    });
}

/// What a promotion may admit beyond the limit is what the lost writes charged, and no more.
#[test]
fn a_promoted_replica_admits_at_most_what_it_missed() {
    let primary = RedisServer::start();
    let stream = Proxy::to(&primary);
    let replica = RedisServer::replica_of(stream.port());
    block_on(async {
        let before = store(&primary.url());
        for _ in 0..12 {
            assert!(before.check(&limit(), "key", 1).await.unwrap().allowed);
        }
        let lent = before.lease(&limit(), "key", 2, 1).await.unwrap();
        replicate(&primary);
        stream.set(Fault::LosesReplies);
        let missed = 5;
        for _ in 0..missed {
            assert!(before.check(&limit(), "key", 1).await.unwrap().allowed);
        }
        replica.ask(&["REPLICAOF", "NO", "ONE"]);
        let after = store(&replica.url());
        let mut admitted = 0;
        while after.check(&limit(), "key", 1).await.unwrap().allowed {
            admitted += 1;
        }
        assert_eq!(
            12 + 2 + missed + admitted,
            20 + missed,
            "the limit, and the lost writes"
        );
        // The replica knows the grant that it has seen, and takes its units back once.
        assert_eq!(
            after.give_back(&limit(), "key", lent.tag, 2).await.unwrap(),
            2
        );
        replica.assert_all_keys_expire();
    });
}
