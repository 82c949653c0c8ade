//! An outage takes no memory, however many call. In a process of its own, so that nobody else's memory is counted.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test ends where something is missing")]

use std::{fs, time::Duration};

use tk_core::{Error, Gcra, Store};
use tk_store_redis::{ErrorKind, RedisStore};
use tk_testkit::{conformance::block_on, servers::RedisServer};

/// What a leak of a few bytes per call would exceed many times over.
const SLACK_KIB: u64 = 4_096;

#[test]
fn half_a_million_calls_during_an_outage_leave_nothing_behind() {
    let mut server = RedisServer::start();
    block_on(async {
        let store = RedisStore::builder("test")
            .url(server.url())
            .breaker(3, Duration::from_millis(200))
            .build()
            .unwrap();
        server.kill();
        call(&store, 20_000).await;
        let before = resident_kib();
        let open = call(&store, 500_000).await;
        let after = resident_kib();
        assert!(open > 490_000, "{open} calls were spared the wait");
        assert!(
            after < before + SLACK_KIB,
            "{before} KiB before and {after} after"
        );
    });
}

/// Calls from 16 tasks, and says how many the breaker kept back.
async fn call(store: &RedisStore<Gcra>, calls: usize) -> usize {
    let tasks: Vec<_> = (0..16)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                let strategy = Gcra::per_second(5).unwrap();
                let mut open = 0;
                for _ in 0..calls / 16 {
                    match store.check(&strategy, "key", 1).await {
                        Err(Error::Store(error)) if *error.kind() == ErrorKind::BreakerOpen => {
                            open += 1
                        }
                        Err(Error::Store(_)) => {}
                        answer => panic!("a server that is gone: {answer:?}"),
                    }
                    tokio::task::yield_now().await;
                }
                open
            })
        })
        .collect();
    let mut open = 0;
    for task in tasks {
        open += task.await.unwrap();
    }
    open
}

/// Memory of this process, as the kernel counts it.
fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.unwrap()
        .split_whitespace()
        .next()
        .unwrap()
        .parse()
        .unwrap()
}
