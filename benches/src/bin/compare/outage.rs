//! What an outage of Redis costs those who ask, and how soon it is over once the server is back.
//!
//! A server is killed, or stopped in its tracks so that its connections stay open. Meanwhile tasks ask as fast as they can, through a limiter that denies
//! without an answer. The probe interval is the default, a second.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use tk_benches::{Stopwatch, Table};
use tk_core::FixedWindow;
use tk_store_redis::RedisStore;
use tk_testkit::servers::RedisServer;
use tk_twotier::{FailurePolicy, Mode, TwoTier};
use tokio::{task::JoinHandle, time::sleep};

use crate::section::Settings;

/// Tasks that ask as fast as they can.
const TASKS: usize = 64;

/// One of so many checks is timed.
const TIMED: u64 = 64;

type Limiter = Arc<TwoTier<RedisStore<FixedWindow>>>;

#[derive(Clone, Copy, Debug)]
enum Outage {
    Killed,
    Stopped,
}

pub(crate) fn run(settings: &Settings) -> Result<Vec<Table>> {
    let runtime = tokio::runtime::Runtime::new()?;
    let mut tables = vec![
        Table::new("Redis gone, a check under the policy", "nanoseconds"),
        Table::new(
            "Redis gone, memory at full load after so long",
            "MiB resident; millions of checks in all",
        ),
        Table::new(
            "Redis back, five times in a row",
            "milliseconds until a check is enforced; probes are a second apart",
        ),
    ];
    for (name, outage) in [("killed", Outage::Killed), ("stopped", Outage::Stopped)] {
        let figures = runtime.block_on(live(settings, outage))?;
        for (table, figures) in tables.iter_mut().zip(figures) {
            table.row(name, figures);
        }
    }
    Ok(tables)
}

type Figures = Vec<(String, f64)>;

async fn live(settings: &Settings, outage: Outage) -> Result<[Figures; 3]> {
    let mut server = RedisServer::start();
    let strategy = FixedWindow::per_day(1 << 40)?;
    let store = RedisStore::builder("outage").url(server.url()).build()?;
    let limiter = TwoTier::builder(strategy, store)
        .mode(Mode::Strict)
        .on_failure(FailurePolicy::deny())
        .build()?;
    let limiter = Arc::new(limiter);
    until_enforced(&limiter).await?;
    strike(&mut server, outage);
    until_open(&limiter).await?;
    let (times, memory) = load(settings, &limiter).await?;
    let mut returns = Vec::new();
    for round in 1..=5 {
        heal(&mut server, outage);
        let since = Stopwatch::start();
        until_enforced(&limiter).await?;
        returns.push((format!("{round}"), since.elapsed().as_secs_f64() * 1e3));
        strike(&mut server, outage);
        until_open(&limiter).await?;
        // The next return finds any point between two probes.
        sleep(Duration::from_millis(1_300 * round)).await;
    }
    // A server that is stopped cannot be ended in peace.
    heal(&mut server, outage);
    Ok([times, memory, returns])
}

fn strike(server: &mut RedisServer, outage: Outage) {
    match outage {
        Outage::Killed => server.kill(),
        Outage::Stopped => server.pause(),
    }
}

/// Returns when the server answers.
fn heal(server: &mut RedisServer, outage: Outage) {
    match outage {
        Outage::Killed => server.run(),
        Outage::Stopped => {
            server.unpause();
            let _ = server.ask(&["PING"]);
        }
    }
}

/// Only the server allows.
async fn until_enforced(limiter: &Limiter) -> Result<()> {
    for _ in 0..30_000 {
        if limiter.check("alice").await?.allowed {
            return Ok(());
        }
        sleep(Duration::from_millis(1)).await;
    }
    anyhow::bail!("the server is never found again")
}

/// Once the breaker is open, a hundred calls in a row take no time.
async fn until_open(limiter: &Limiter) -> Result<()> {
    for _ in 0..1_000 {
        let since = Stopwatch::start();
        for _ in 0..100 {
            let _ = limiter.check("alice").await?;
        }
        if since.elapsed() < Duration::from_millis(10) {
            return Ok(());
        }
    }
    anyhow::bail!("the breaker never opens")
}

/// What a check takes, and how much memory the process has, while tasks ask as fast as they can.
async fn load(settings: &Settings, limiter: &Limiter) -> Result<(Figures, Figures)> {
    let ended = Arc::new(AtomicBool::new(false));
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| ask(limiter.clone(), ended.clone()))
        .collect();
    let seconds = if settings.quick {
        [1, 2, 3]
    } else {
        [1, 10, 30]
    };
    let (mut memory, mut passed) = (Vec::new(), 0);
    for until in seconds {
        sleep(Duration::from_secs(until - passed)).await;
        passed = until;
        memory.push((format!("{until} s"), resident()?));
    }
    ended.store(true, Relaxed);
    let (mut checks, mut nanos) = (0, Vec::new());
    for task in tasks {
        let (count, times) = task.await??;
        checks += count;
        nanos.extend(times);
    }
    nanos.sort_unstable();
    let percentile = |percent: usize| {
        let at = (nanos.len() * percent / 100).min(nanos.len().saturating_sub(1));
        nanos.get(at).map_or(f64::NAN, |nanos| f64::from(*nanos))
    };
    memory.push(("checks".into(), checks as f64 / 1e6));
    let times = vec![
        ("p50".into(), percentile(50)),
        ("p99".into(), percentile(99)),
    ];
    Ok((times, memory))
}

/// Asks until told to end: how many checks that were, and what some of them took.
fn ask(limiter: Limiter, ended: Arc<AtomicBool>) -> JoinHandle<Result<(u64, Vec<u32>)>> {
    // All the room that is needed is taken and touched now, so that it is not counted as growth.
    let mut times = vec![1; 10_000];
    times.clear();
    tokio::spawn(async move {
        let mut checks = 0_u64;
        while !ended.load(Relaxed) {
            checks += 1;
            let since = Stopwatch::start();
            let decision = limiter.check("alice").await?;
            ensure!(!decision.allowed, "nobody could have allowed that");
            if checks.is_multiple_of(TIMED) && times.len() < times.capacity() {
                times.push(u32::try_from(since.elapsed().as_nanos()).unwrap_or(u32::MAX));
            }
            tokio::task::yield_now().await;
        }
        Ok((checks, times))
    })
}

/// Memory of this process, as the kernel counts it.
fn resident() -> Result<f64> {
    let status = fs::read_to_string("/proc/self/status").context("this needs Linux")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    Ok(kib.context("no VmRSS")? / 1_024.0)
}
