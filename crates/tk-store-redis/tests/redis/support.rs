//! Servers and stores for tests.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tk_core::{ManualClock, Strategy};
use tk_store_redis::{Builder, RedisStore, Scripted};
use tk_testkit::{
    conformance::Harness,
    servers::{Answer, RedisServer},
};

/// A deadline that no test meets by accident, on a machine that is busy with other tests.
pub(crate) const PATIENT: Duration = Duration::from_secs(20);

/// A server whose every store is a name space of its own and reads the clock it is given.
pub(crate) struct OnCallersClock {
    pub(crate) server: RedisServer,
    stores: AtomicU64,
}

impl OnCallersClock {
    pub(crate) fn new() -> Self {
        Self {
            server: RedisServer::start(),
            stores: AtomicU64::new(0),
        }
    }

    pub(crate) fn builder<S: Scripted>(&self, clock: Arc<ManualClock>) -> Builder<S> {
        let prefix = format!("test {}", self.stores.fetch_add(1, Relaxed));
        on(&self.server).prefix(prefix).clock(clock)
    }
}

impl<S: Strategy + Scripted> Harness<S> for OnCallersClock {
    type Store = RedisStore<S>;

    async fn store(&self, clock: Arc<ManualClock>) -> RedisStore<S> {
        self.builder(clock).build().unwrap()
    }
}

/// A patient store on a server.
pub(crate) fn on<S: Scripted>(server: &RedisServer) -> Builder<S> {
    RedisStore::builder("test")
        .url(server.url())
        .deadline(PATIENT)
}

/// How often a server has run a command since its statistics were last reset.
pub(crate) fn calls_of(command: &str, server: &RedisServer) -> u64 {
    let Answer::Text(text) = server.ask(&["INFO", "commandstats"]) else {
        panic!("INFO without a text");
    };
    let text = String::from_utf8(text).unwrap();
    let head = format!("cmdstat_{command}:calls=");
    let line = text.lines().find_map(|line| line.strip_prefix(&head));
    line.map_or(0, |line| line.split(',').next().unwrap().parse().unwrap())
}
