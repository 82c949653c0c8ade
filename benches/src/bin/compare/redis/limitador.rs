//! limitador's Redis storage, beside ours. Built on request: `RUSTFLAGS="--cfg limitador"`.
//!
//! Release 0.6 is the newest whose `redis_storage` builds without its `disk_storage`, which is RocksDB. Its check is two round trips:
//! the counter is read, and raised if it allows. Two callers may read the same, so a limit may be passed; ours is one script. Its cached storage
//! decides by itself and tells the server afterwards, each second: to be set beside leases, which never exceed their bound.

use std::{collections::HashMap, sync::Arc};

use anyhow::{Result, ensure};
use limitador::{
    AsyncRateLimiter as Peer,
    limit::{Limit, Namespace},
    storage::{
        AsyncCounterStorage,
        redis::{AsyncRedisStorage, CachedRedisStorageBuilder},
    },
};
use tk_benches::Table;
use tk_core::{AsyncRateLimiter, FixedWindow};
use tk_store_redis::RedisStore;
use tk_testkit::servers::RedisServer;
use tk_twotier::{Lease, Mode, TwoTier};
use tokio::runtime::Runtime;

use super::{LIMIT, TASKS, in_tasks, named, percentile, serial, store, timed};
use crate::section::Settings;

const BATCH: u64 = 100;

pub(super) fn run(settings: &Settings, server: &RedisServer, runtime: &Runtime) -> Result<Table> {
    let mut table = Table::new("Redis, beside limitador 0.6", "nanoseconds per check");
    let (rounds, calls) = if settings.quick {
        (3, 200)
    } else {
        (11, 2_000)
    };
    let strategy = FixedWindow::per_day(LIMIT)?;
    let url = server.url();
    let (strict, peer, leased, cached) = runtime.block_on(async {
        let strict = AsyncRateLimiter::new(strategy, store::<FixedWindow>(server)?);
        let leased = TwoTier::builder(strategy, store::<FixedWindow>(server)?)
            .mode(Mode::Leased(Lease::batch(BATCH)))
            .build()?;
        let peer = peer(Box::new(AsyncRedisStorage::new(&url).await?));
        let cached = peer_cached(&url).await?;
        anyhow::Ok((Arc::new(strict), Arc::new(peer), leased, cached))
    })?;
    let mut times = [const { Vec::new() }; 6];
    for round in 0..=rounds {
        let blocks = [
            timed(runtime, calls, serial(&*strict, calls)),
            timed(runtime, calls, theirs(&peer, calls)),
            timed(
                runtime,
                TASKS as u32 * calls,
                in_tasks(|| serial_of(strict.clone(), calls)),
            ),
            timed(
                runtime,
                TASKS as u32 * calls,
                in_tasks(|| theirs_of(peer.clone(), calls)),
            ),
            timed(
                runtime,
                calls * BATCH as u32,
                serial(&leased, calls * BATCH as u32),
            ),
            timed(
                runtime,
                calls * BATCH as u32,
                theirs(&cached, calls * BATCH as u32),
            ),
        ];
        for (times, block) in times.iter_mut().zip(blocks) {
            let block = block?;
            if round > 0 {
                times.push(block);
            }
        }
    }
    let [a, b, c, d, e, f] = times.each_mut().map(|times| percentile(times, 50) * 1e3);
    let row = |ours, theirs| [("ThrottleKit", ours), ("limitador", theirs)].map(named);
    table.row("strict, one call after the other", row(a, b));
    table.row(format!("strict, {TASKS} calls in flight"), row(c, d));
    table.row(format!("leased, batch {BATCH}, and cached"), row(e, f));
    Ok(table)
}

async fn serial_of(
    limiter: Arc<AsyncRateLimiter<RedisStore<FixedWindow>>>,
    calls: u32,
) -> Result<()> {
    serial(&*limiter, calls).await
}

async fn theirs(limiter: &Peer, calls: u32) -> Result<()> {
    let namespace = Namespace::from("bench".to_owned());
    let values = HashMap::from([("user".to_owned(), "alice".to_owned())]);
    for _ in 0..calls {
        let result = limiter.check_rate_limited_and_update(&namespace, &values, 1, false);
        let limited = result
            .await
            .map_err(|error| anyhow::anyhow!("{error}"))?
            .limited;
        ensure!(!limited, "nothing is denied here");
    }
    Ok(())
}

async fn theirs_of(limiter: Arc<Peer>, calls: u32) -> Result<()> {
    theirs(&limiter, calls).await
}

fn peer(storage: Box<dyn AsyncCounterStorage>) -> Peer {
    let peer = Peer::new_with_storage(storage);
    let limit = Limit::new(
        "bench",
        LIMIT as i64,
        86_400,
        Vec::<String>::new(),
        ["user"],
    );
    peer.add_limit(limit);
    peer
}

async fn peer_cached(url: &str) -> Result<Peer> {
    Ok(peer(Box::new(
        CachedRedisStorageBuilder::new(url).build().await?,
    )))
}
