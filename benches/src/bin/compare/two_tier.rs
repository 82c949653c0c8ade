//! Two tiers: what a hit costs beside a check in memory, and what leasing saves when the store is far away.

use std::{
    convert::Infallible,
    hint::black_box,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use anyhow::{Context as _, Result};
use tk_benches::{Contender, Harness, Report, Spread, Stopwatch, Table, Traffic, name_of};
use tk_core::{
    Clock, Decision, Error, FixedWindow, Grant, Key, QuantaClock, RateLimiter, Store, SyncStore,
    SystemClock, Tag,
};
use tk_store_memory::MemoryStore;
use tk_twotier::{Lease, LeaseSpender, Mode, Spending, TwoTier};
use tokio::runtime::Runtime;

use crate::section::Settings;

pub(crate) fn run(settings: &Settings, harness: &mut Harness, report: &mut Report) -> Result<()> {
    report.tables.push(hits(settings, harness)?);
    if settings.wants("LeaseSpender") {
        report.tables.push(spender(settings, harness)?);
    }
    if settings.wants("far") {
        let (table, calls) = latency(settings, harness)?;
        report.tables.push(table);
        report.notes.push(calls);
    }
    Ok(())
}

/// A limit that no bench reaches, with a window that does not end meanwhile.
fn ample() -> Result<FixedWindow> {
    Ok(FixedWindow::new(
        1 << 48,
        Duration::from_secs(300 * 86_400),
    )?)
}

fn runtime() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().build()?)
}

/// A leased hit beside a check of the memory store on the same keys, by the same clock: the default of both, `QuantaClock`, and the
/// system's.
fn hits(settings: &Settings, harness: &mut Harness) -> Result<Table> {
    let mut table = Table::new("Leased hits", "nanoseconds per check");
    for keys in [1, 1_000, 100_000, 1_000_000] {
        let row = format!("{keys} keys, QuantaClock (default)");
        if settings.wants(&row) {
            table.row(row, hits_of(keys, QuantaClock::new(), settings, harness)?);
        }
        let row = format!("{keys} keys, SystemClock");
        if settings.wants(&row) {
            table.row(row, hits_of(keys, SystemClock, settings, harness)?);
        }
    }
    Ok(table)
}

fn hits_of<C: Clock + Clone + 'static>(
    keys: u64,
    clock: C,
    settings: &Settings,
    harness: &mut Harness,
) -> Result<Vec<(String, f64)>> {
    let runtime = runtime()?;
    let memory = RateLimiter::new(ample()?, MemoryStore::with_clock(clock.clone()));
    let lease = Lease::batch(1 << 28).window_coupled(true);
    let tier = TwoTier::builder(ample()?, MemoryStore::with_clock(clock.clone()))
        .clock(clock)
        .max_keys(2_000_000)
        .mode(Mode::Leased(lease))
        .build()?;
    for number in 0..keys {
        let name = name_of(number);
        anyhow::ensure!(memory.check(&name)?.allowed, "a new key is admitted");
        anyhow::ensure!(runtime.block_on(tier.check(&name))?.allowed, "and here too");
    }
    let traffic = Traffic::of(if keys == 1 {
        Spread::One
    } else {
        Spread::Uniform { keys }
    });
    let contenders = [
        Contender::new("memory store check", |thread, count| {
            for key in traffic.requests(thread, count) {
                black_box(&memory.check(key.as_str()));
            }
        }),
        Contender::new("try_check", |thread, count| {
            for key in traffic.requests(thread, count) {
                black_box(&tier.try_check(key.as_str()));
            }
        }),
        Contender::new("check().await", |thread, count| {
            runtime.block_on(async {
                for key in traffic.requests(thread, count) {
                    black_box(&tier.check(key.as_str()).await);
                }
            });
        }),
    ];
    let figures = harness.compare(settings.plan(1, 50_000), &contenders);
    let names = contenders.iter().map(|one| one.name().to_owned());
    Ok(names.zip(figures).collect())
}

/// Spending beside one atomic addition.
fn spender(settings: &Settings, harness: &mut Harness) -> Result<Table> {
    let mut table = Table::new("LeaseSpender", "nanoseconds per request");
    let spender = LeaseSpender::builder(1 << 48, Duration::from_secs(3_600))
        .batch(1 << 47)
        .build()?;
    let now = SystemClock.monotonic();
    if let Spending::NeedsRefresh(refresh) = spender.spend(now, 1)? {
        let (state, want) = (&mut Default::default(), refresh.demand().want);
        let grant =
            Grant::charge::<_, Infallible>(&ample()?, state, SystemClock.now(), want, 1, 0)?;
        let _ = spender.apply_lease(refresh, &grant);
    }
    let counter = AtomicU64::new(0);
    let contenders = [
        Contender::new("spend", |_, count| {
            for _ in 0..count {
                black_box(&spender.spend(black_box(now), black_box(1)));
            }
        }),
        Contender::new("an atomic addition", |_, count| {
            for _ in 0..count {
                black_box(counter.fetch_add(1, Ordering::Relaxed));
            }
        }),
    ];
    let figures = harness.compare(settings.plan(1, 200_000), &contenders);
    let names = contenders.iter().map(|one| one.name().to_owned());
    table.row("one thread", names.zip(figures));
    Ok(table)
}

/// Leased, batch 100, beside strict, over a store whose answers take 100 microseconds.
fn latency(settings: &Settings, harness: &mut Harness) -> Result<(Table, String)> {
    let mut table = Table::new(
        "A store 100 microseconds away",
        "nanoseconds per request, one caller",
    );
    let runtime = runtime()?;
    let tier = |mode| {
        TwoTier::builder(ample()?, Far::default())
            .mode(mode)
            .build()
            .context("mode")
    };
    let leased = tier(Mode::Leased(Lease::batch(100).window_coupled(true)))?;
    let strict = tier(Mode::Strict)?;
    let requests = |limiter: &TwoTier<Far>, count| {
        runtime.block_on(async {
            for _ in 0..count {
                black_box(&limiter.check("user0000000").await);
            }
        });
    };
    let contenders = [
        Contender::new("leased, batch 100", |_, count| requests(&leased, count)),
        Contender::new("strict", |_, count| requests(&strict, count)),
    ];
    let figures = harness.compare(settings.plan(1, 1_000), &contenders);
    let names = contenders.iter().map(|one| one.name().to_owned());
    table.row("one key", names.zip(figures));
    let stats = leased.stats();
    let calls = format!(
        "Leased over the far store with batch 100: {} calls for {} requests, {:.2} per thousand.",
        stats.l2_calls,
        stats.admitted(),
        1_000.0 * stats.l2_calls as f64 / stats.admitted() as f64,
    );
    Ok((table, calls))
}

/// A memory store whose answers take 100 microseconds.
#[derive(Debug)]
struct Far(MemoryStore<FixedWindow>);

impl Default for Far {
    fn default() -> Self {
        Self(MemoryStore::new())
    }
}

/// Timers are coarser than that, so it keeps the only caller waiting by looking at the time.
fn far<T>(answer: T) -> T {
    let stopwatch = Stopwatch::start();
    while stopwatch.elapsed() < Duration::from_micros(100) {
        std::hint::spin_loop();
    }
    answer
}

impl Store for Far {
    type Strategy = FixedWindow;
    type Error = Infallible;

    async fn check<K: Key + ?Sized>(
        &self,
        strategy: &FixedWindow,
        key: &K,
        cost: u64,
    ) -> Result<Decision, Error> {
        far(self.0.check_sync(strategy, key, cost))
    }

    async fn peek<K: Key + ?Sized>(
        &self,
        strategy: &FixedWindow,
        key: &K,
    ) -> Result<Decision, Error> {
        far(self.0.peek_sync(strategy, key))
    }

    async fn lease<K: Key + ?Sized>(
        &self,
        strategy: &FixedWindow,
        key: &K,
        want: u64,
        at_least: u64,
    ) -> Result<Grant, Error> {
        far(self.0.lease_sync(strategy, key, want, at_least))
    }

    async fn give_back<K: Key + ?Sized>(
        &self,
        strategy: &FixedWindow,
        key: &K,
        tag: Tag,
        amount: u64,
    ) -> Result<u64, Error> {
        far(self.0.give_back_sync(strategy, key, tag, amount))
    }

    async fn reset<K: Key + ?Sized>(&self, strategy: &FixedWindow, key: &K) -> Result<(), Error> {
        far(self.0.reset_sync(strategy, key))
    }

    async fn check_many<K: Key>(
        &self,
        strategy: &FixedWindow,
        calls: &[(K, u64)],
    ) -> Vec<Result<Decision, Error>> {
        far(self.0.check_many_sync(strategy, calls))
    }
}
