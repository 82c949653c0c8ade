//! Pools for tests.

use std::time::Duration;

use tk_core::{Clock, FixedWindow};
use tk_fair::PoolRule;
use tk_store_redis::{Builder, RedisRegionFairPool, RedisStore};
use tk_testkit::servers::RedisServer;

/// A pool by the server's clock, with a deadline that no test meets by accident.
pub(crate) fn pool(server: &RedisServer, rule: PoolRule) -> RedisRegionFairPool {
    pool_at(server.port(), rule)
}

/// The same, for a process that knows only the port.
pub(crate) fn pool_at(port: u16, rule: PoolRule) -> RedisRegionFairPool {
    RedisRegionFairPool::over(&builder(port).build().unwrap(), "pool", rule).unwrap()
}

/// A pool by a caller's clock.
pub(crate) fn pool_by(
    server: &RedisServer,
    name: &str,
    rule: PoolRule,
    clock: impl Clock + 'static,
) -> RedisRegionFairPool {
    let store = builder(server.port()).clock(clock).build().unwrap();
    RedisRegionFairPool::over(&store, name, rule).unwrap()
}

pub(crate) fn builder(port: u16) -> Builder<FixedWindow> {
    RedisStore::builder("test")
        .url(format!("redis://127.0.0.1:{port}"))
        .deadline(Duration::from_secs(20))
}
