//! Checks over a real Redis: against the round trip itself, and against what the server can do.
//!
//! The server runs on the same machine, so it takes part in the contest for its processors. PING is sent by the same client library as the scripts, so
//! what is compared is a script, not a library. What the server can do is what its own benchmark tool makes of the same script, learnt from the server's log
//! of slow commands.

#[cfg(limitador)]
mod limitador;
mod steps;

use std::{process::Command, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, ensure};
use fred::{
    clients::Client,
    interfaces::ClientLike,
    types::{Builder as FredBuilder, ClusterHash, CustomCommand, Value, config::Config},
};
use tk_benches::{Stopwatch, Table};
use tk_core::{AsyncRateLimiter, FixedWindow, Gcra, Limiter, SystemClock};
use tk_store_redis::{RedisStore, Scripted};
use tk_testkit::servers::{Answer, Proxy, RedisServer};
use tk_twotier::{Lease, Mode, TwoTier};
use tokio::runtime::{Builder, Runtime};

use crate::section::Settings;

/// As many tasks as commands that the server's tool keeps in flight.
const TASKS: usize = 64;

/// Neither a limit nor a machine that is disturbed is to end a measurement.
const LIMIT: u64 = 1 << 40;
const PATIENT: Duration = Duration::from_secs(20);

pub(crate) fn run(settings: &Settings) -> Result<Vec<Table>> {
    let server = RedisServer::start();
    let runtime = Builder::new_current_thread().enable_all().build()?;
    // What `#[tokio::main]` makes of this machine.
    let threads = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let _entered = runtime.enter();
    let check = runtime.block_on(async {
        let limiter = AsyncRateLimiter::new(Gcra::per_second(LIMIT)?, store(&server)?);
        command_of_a_check(&server, &limiter).await
    })?;
    type Part<'a> = (&'a str, &'a dyn Fn() -> Result<Table>);
    let parts: &[Part<'_>] = &[
        ("steps", &|| steps::run(settings, &server, &check)),
        ("round trips", &|| {
            let way = ("one thread", &runtime, server.url());
            round_trips(settings, &server, way)
        }),
        ("round trips on threads", &|| {
            let way = ("two worker threads", &threads, server.url());
            round_trips(settings, &server, way)
        }),
        // With a round trip as long as one to another host.
        ("round trips through a proxy", &|| {
            let proxy = Proxy::to(&server);
            proxy.delay_replies(Duration::from_micros(10));
            let way = (
                "one thread, through a proxy that delays",
                &runtime,
                proxy.url(),
            );
            round_trips(settings, &server, way)
        }),
        ("in flight", &|| {
            ceiling(settings, &server, ("one thread", &runtime))
        }),
        ("in flight on threads", &|| {
            ceiling(settings, &server, ("two worker threads", &threads))
        }),
        ("leased", &|| {
            leased(settings, &server, ("one thread", &runtime))
        }),
        ("leased on threads", &|| {
            leased(settings, &server, ("two worker threads", &threads))
        }),
        #[cfg(limitador)]
        ("limitador", &|| limitador::run(settings, &server, &runtime)),
    ];
    let wanted = parts.iter().filter(|(name, _)| settings.wants(name));
    wanted.map(|(_, part)| part()).collect()
}

fn store<S: Scripted>(server: &RedisServer) -> Result<RedisStore<S>> {
    store_at(&server.url())
}

fn store_at<S: Scripted>(url: &str) -> Result<RedisStore<S>> {
    let builder = RedisStore::builder("bench").url(url);
    Ok(builder.deadline(PATIENT).build()?)
}

/// Blocks of checks, of PINGs and of bare scripts take turns: how much of a check is the round trip, the script, and the store.
fn round_trips(
    settings: &Settings,
    server: &RedisServer,
    (name, runtime, url): (&str, &Runtime, String),
) -> Result<Table> {
    let mut table = Table::new(
        format!("Redis, one call after the other, {name}"),
        "microseconds of a call at the percentile",
    );
    let blocks = if settings.quick { 20 } else { 200 };
    let names = [
        "ThrottleKit strict",
        "PING",
        "a script that does nothing",
        "the same script, without the store",
    ];
    let mut times = [const { Vec::new() }; 4];
    runtime.block_on(async {
        let limiter = AsyncRateLimiter::new(Gcra::per_second(LIMIT)?, store_at(&url)?);
        let client = connect(&url).await?;
        let nothing = server.ask(&["SCRIPT", "LOAD", "return 1"]);
        let nothing = nothing.text().context("the server takes no script")?;
        let nothing = [b"EVALSHA".to_vec(), nothing.into_bytes(), b"0".to_vec()];
        let check = command_of_a_check(server, &limiter).await?;
        for block in 0..=blocks {
            for (contender, times) in times.iter_mut().enumerate() {
                for _ in 0..100 {
                    let stopwatch = Stopwatch::start();
                    match contender {
                        0 => ensure!(
                            limiter.check("alice").await?.allowed,
                            "nothing is denied here"
                        ),
                        1 => client.ping::<()>(None).await?,
                        2 => script(&client, &nothing).await?,
                        _ => script(&client, &check).await?,
                    }
                    times.push(stopwatch.elapsed());
                }
                if block == 0 {
                    // The first block only warms up.
                    times.clear();
                }
            }
        }
        anyhow::Ok(())
    })?;
    for percent in [50, 99] {
        let figures = names.into_iter().zip(&mut times);
        let figures = figures.map(|(name, times)| named((name, percentile(times, percent))));
        table.row(format!("p{percent}"), figures);
    }
    Ok(table)
}

/// Calls a script by the client library alone.
async fn script(client: &Client, command: &[Vec<u8>]) -> Result<()> {
    let evalsha = CustomCommand::new_static("EVALSHA", ClusterHash::FirstKey, false);
    let arguments = command[1..]
        .iter()
        .map(|word| Value::Bytes(word.clone().into()));
    let _: Value = client
        .custom(evalsha, arguments.collect::<Vec<_>>())
        .await?;
    Ok(())
}

/// Many tasks on one connection, beside the server's tool with as many commands in flight.
fn ceiling(
    settings: &Settings,
    server: &RedisServer,
    (name, runtime): (&str, &Runtime),
) -> Result<Table> {
    let mut table = Table::new(
        format!("Redis, {TASKS} calls in flight on one connection, {name}"),
        "nanoseconds per check",
    );
    let (rounds, each) = if settings.quick { (3, 200) } else { (7, 2_000) };
    let (mut ours, mut tool) = (Vec::new(), Vec::new());
    let store: RedisStore<Gcra> = runtime.block_on(async { store(server) })?;
    let limiter = Arc::new(AsyncRateLimiter::new(Gcra::per_second(LIMIT)?, store));
    let command = runtime.block_on(command_of_a_check(server, &limiter))?;
    let script = for_the_tool(server, &command)?;
    for _ in 0..rounds {
        let stopwatch = Stopwatch::start();
        runtime.block_on(many(&limiter, each))?;
        ours.push(stopwatch.elapsed() / (TASKS as u32 * each));
        tool.push(by_tool(server, &script, TASKS as u32 * each)?);
    }
    let figures = [
        ("ThrottleKit strict", percentile(&mut ours, 50) * 1e3),
        ("redis-benchmark", percentile(&mut tool, 50) * 1e3),
    ];
    table.row("the same script", figures.map(named));
    Ok(table)
}

async fn many(limiter: &Arc<AsyncRateLimiter<RedisStore<Gcra>>>, each: u32) -> Result<()> {
    in_tasks(|| {
        let limiter = limiter.clone();
        async move {
            for _ in 0..each {
                ensure!(
                    limiter.check("alice").await?.allowed,
                    "nothing is denied here"
                );
            }
            Ok(())
        }
    })
    .await
}

/// Has as many tasks do the same.
async fn in_tasks<F>(work: impl Fn() -> F) -> Result<()>
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    let tasks: Vec<_> = (0..TASKS).map(|_| tokio::spawn(work())).collect();
    for task in tasks {
        task.await??;
    }
    Ok(())
}

/// The command that a check sends, as the server saw it.
async fn command_of_a_check(
    server: &RedisServer,
    limiter: &AsyncRateLimiter<RedisStore<Gcra>>,
) -> Result<Vec<Vec<u8>>> {
    // The first check may have sent the script's text along.
    let _ = limiter.check("alice").await?;
    server.ask(&["CONFIG", "SET", "slowlog-log-slower-than", "0"]);
    let _ = limiter.check("alice").await?;
    server.ask(&["CONFIG", "SET", "slowlog-log-slower-than", "-1"]);
    let log = server.ask(&["SLOWLOG", "GET", "10"]);
    let commands = log.list().unwrap_or_default().iter();
    let mut commands = commands.filter_map(|entry| entry.list()?.get(3)?.list());
    let is_script = |command: &&[Answer]| {
        let name = command.first().and_then(Answer::text);
        name.is_some_and(|name| name.eq_ignore_ascii_case("evalsha"))
    };
    let command = commands.find(is_script).context("no script in the log")?;
    let words = command.iter().map(|word| match word {
        Answer::Text(bytes) => Ok(bytes.clone()),
        other => anyhow::bail!("a command with {other:?} in it"),
    });
    words.collect()
}

/// A check of GCRA by the server's clock, as the store puts it together.
const SCRIPT: &str = concat!(
    include_str!("../../../../crates/tk-store-redis/src/script/shared/alone.lua"),
    include_str!("../../../../crates/tk-store-redis/src/script/shared/time.lua"),
    include_str!("../../../../crates/tk-store-redis/src/script/tat/state.lua"),
    include_str!("../../../../crates/tk-store-redis/src/script/tat/debt.lua"),
    include_str!("../../../../crates/tk-store-redis/src/script/shared/muldiv.lua"),
    include_str!("../../../../crates/tk-store-redis/src/script/tat/convert.lua"),
    include_str!("../../../../crates/tk-store-redis/src/script/tat/check.lua"),
    include_str!("../../../../crates/tk-store-redis/src/script/tat/charge.lua"),
    include_str!("../../../../crates/tk-store-redis/src/script/shared/keep.lua"),
);

/// The same command with its numbers written into the script, since the tool sends no argument with a zero byte in it.
fn for_the_tool(server: &RedisServer, command: &[Vec<u8>]) -> Result<Vec<String>> {
    let [_, hash, _, key, numbers] = command else {
        anyhow::bail!("a check has changed its form");
    };
    let load = |script: &str| server.ask(&["SCRIPT", "LOAD", script]).text();
    ensure!(
        load(SCRIPT).as_deref().map(str::as_bytes) == Some(hash),
        "a check is not this script any more"
    );
    let bytes: String = numbers.iter().map(|byte| format!("\\{byte:03}")).collect();
    let hash = load(&format!("local ARGV = {{ '{bytes}' }}\n{SCRIPT}"));
    let hash = hash.context("the server takes no script")?;
    let key = String::from_utf8_lossy(key).into_owned();
    Ok(vec!["EVALSHA".into(), hash, "1".into(), key])
}

/// The time of a command by the server's own tool, with as many in flight.
fn by_tool(server: &RedisServer, command: &[String], requests: u32) -> Result<Duration> {
    let output = Command::new("redis-benchmark")
        .args(["-p", &server.port().to_string(), "-c", "1", "--csv"])
        .args(["-P", &TASKS.to_string(), "-n", &requests.to_string()])
        .args(command)
        .output()
        .context("running redis-benchmark")?;
    let text = String::from_utf8_lossy(&output.stdout);
    // The command is in the first column, and the calls per second are in the next.
    let row = text.lines().last().unwrap_or_default();
    let mut columns = row.split("\",\"").skip(1);
    let rate = columns.next().and_then(|rate| rate.parse::<f64>().ok());
    let rate = rate.with_context(|| format!("redis-benchmark printed {text}"))?;
    Ok(Duration::from_secs_f64(1.0 / rate))
}

/// One caller, whose units are leased in batches: by the default clock, by the system's, and by the default clock with the next batch asked for when
/// half of one is left.
fn leased(
    settings: &Settings,
    server: &RedisServer,
    (name, runtime): (&str, &Runtime),
) -> Result<Table> {
    let mut table = Table::new(
        format!("Redis, leased, {name}"),
        "nanoseconds per check, beside one that asks each time",
    );
    let (rounds, calls) = if settings.quick {
        (3, 500)
    } else {
        (11, 2_000)
    };
    let strategy = FixedWindow::per_day(LIMIT)?;
    let strict = AsyncRateLimiter::new(strategy, runtime.block_on(async { store(server) })?);
    for batch in [10, 100, 1_000] {
        let tier = |low_water| {
            let mode = Mode::Leased(Lease::batch(batch).low_water(low_water));
            anyhow::Ok(TwoTier::builder(strategy, store(server)?).mode(mode))
        };
        let (default, by_system, ahead) = runtime.block_on(async {
            let by_system = tier(0)?.clock(SystemClock).build()?;
            anyhow::Ok((tier(0)?.build()?, by_system, tier(batch / 2)?.build()?))
        })?;
        let mut times = [const { Vec::new() }; 4];
        for round in 0..=rounds {
            let leased = calls * batch as u32;
            let blocks = [
                timed(runtime, leased, serial(&default, leased))?,
                timed(runtime, leased, serial(&by_system, leased))?,
                timed(runtime, leased, serial(&ahead, leased))?,
                timed(runtime, calls, serial(&strict, calls))?,
            ];
            for (times, block) in times.iter_mut().zip(blocks) {
                if round > 0 {
                    times.push(block);
                }
            }
        }
        let [default, by_system, ahead, strict] =
            times.each_mut().map(|times| percentile(times, 50) * 1e3);
        for (how, leased) in [
            ("by default", default),
            ("SystemClock", by_system),
            ("refilled ahead", ahead),
        ] {
            table.row(
                format!("batch {batch}, {how}"),
                [("leased", leased), ("ThrottleKit strict", strict)].map(named),
            );
        }
    }
    Ok(table)
}

/// One check after the other.
async fn serial<L: Limiter>(limiter: &L, calls: u32) -> Result<()>
where
    L::Error: std::error::Error + Send + Sync + 'static,
{
    for _ in 0..calls {
        ensure!(
            limiter.check_n("alice", 1).await?.allowed,
            "nothing is denied here"
        );
    }
    Ok(())
}

/// The time of one of so many checks.
fn timed(
    runtime: &Runtime,
    checks: u32,
    work: impl Future<Output = Result<()>>,
) -> Result<Duration> {
    let stopwatch = Stopwatch::start();
    runtime.block_on(work)?;
    Ok(stopwatch.elapsed() / checks)
}

async fn connect(url: &str) -> Result<Client> {
    let client = FredBuilder::from_config(Config::from_url(url)?).build()?;
    client.init().await?;
    Ok(client)
}

/// Microseconds that `percent` of the times take at most.
fn percentile(times: &mut [Duration], percent: usize) -> f64 {
    times.sort_unstable();
    let at = (times.len() * percent / 100).min(times.len().saturating_sub(1));
    times
        .get(at)
        .map_or(f64::NAN, |time| time.as_nanos() as f64 / 1e3)
}

fn named((name, value): (&str, f64)) -> (String, f64) {
    (name.to_owned(), value)
}
