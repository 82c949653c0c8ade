//! Keyed checks, against governor's keyed limiter on its default map.

use std::{hint::black_box, num::NonZeroU32, time::Duration};

use anyhow::Result;
use governor::{
    Quota,
    clock::{DefaultClock, QuantaUpkeepClock},
    middleware::NoOpMiddleware,
    state::keyed::DefaultKeyedStateStore,
};
use spinning_top::Spinlock;
use tk_benches::{Contender, FlatTable, Harness, Spread, Table, Traffic, name_of};
use tk_core::{CachedClock, Clock, Gcra, QuantaClock, RateLimiter, SystemClock};
use tk_store_memory::MemoryStore;

use crate::section::Settings;

/// Both of governor's real clocks count in this.
type Instant = <DefaultClock as governor::clock::Clock>::Instant;
type Governor<C> =
    governor::RateLimiter<String, DefaultKeyedStateStore<String>, C, NoOpMiddleware<Instant>>;

const SPREADS: [(&str, Spread); 4] = [
    ("one hot key", Spread::One),
    ("100k keys uniform", Spread::Uniform { keys: 100_000 }),
    ("1M keys uniform", Spread::Uniform { keys: 1_000_000 }),
    (
        "1M keys Zipf 1.1",
        Spread::Zipf {
            keys: 1_000_000,
            exponent: 1.1,
        },
    ),
];

/// How often a cached clock is refreshed, on both sides.
const REFRESH: Duration = Duration::from_millis(1);

/// With the clocks that a user gets without asking.
pub(crate) fn run(settings: &Settings, harness: &mut Harness) -> Result<Table> {
    let table = Table::new("Keyed checks", "nanoseconds per check, as a thread sees it");
    measure(
        settings,
        harness,
        table,
        QuantaClock::new(),
        DefaultClock::default(),
        true,
    )
}

/// With clocks that a thread of their own refreshes.
pub(crate) fn run_cached(settings: &Settings, harness: &mut Harness) -> Result<Table> {
    let table = Table::new(
        "Keyed checks, cached clocks on both sides",
        "nanoseconds per check, as a thread sees it",
    );
    let theirs = QuantaUpkeepClock::from_interval(REFRESH)?;
    measure(
        settings,
        harness,
        table,
        CachedClock::every(REFRESH)?,
        theirs,
        false,
    )
}

fn measure<O, T>(
    settings: &Settings,
    harness: &mut Harness,
    mut table: Table,
    ours: O,
    theirs: T,
    real: bool,
) -> Result<Table>
where
    O: Clock + Clone + 'static,
    T: governor::clock::Clock<Instant = Instant> + Clone + Sync + 'static,
{
    for (spread_name, spread) in SPREADS {
        for allowed in [true, false] {
            let verdict = if allowed { "allow" } else { "deny" };
            let wanted = |threads: usize| {
                let name = format!("{spread_name}, {verdict}, {threads} threads");
                settings.wants(&name).then_some((threads, name))
            };
            let rows: Vec<_> = [1, 2].into_iter().filter_map(wanted).collect();
            if rows.is_empty() {
                continue;
            }
            let side = Sides::new((spread, allowed), ours.clone(), theirs.clone(), real)?;
            for (threads, name) in rows {
                let contenders = side.contenders(threads);
                let plan = settings.plan(threads, 50_000);
                let figures = harness.compare(plan, &contenders);
                let names = contenders.iter().map(|one| one.name().to_owned());
                table.row(name.replace("1 threads", "1 thread"), names.zip(figures));
            }
        }
    }
    Ok(table)
}

struct Sides<O: Clock + 'static, T: governor::clock::Clock<Instant = Instant>> {
    traffic: Traffic,
    ours: RateLimiter<MemoryStore<Gcra, O>>,
    /// Ours with the system's clock.
    system: RateLimiter<MemoryStore<Gcra, SystemClock>>,
    theirs: Governor<T>,
    flat: Spinlock<FlatTable<O>>,
    /// A table of its own: one that was just used by the contender before would be in the caches.
    locked: Spinlock<FlatTable<O>>,
    /// Whether the clocks are real ones, and not cached.
    real: bool,
}

impl<O, T> Sides<O, T>
where
    O: Clock + Clone + 'static,
    T: governor::clock::Clock<Instant = Instant> + Sync,
{
    /// All keys are known beforehand. To allow, the burst is larger than what is asked for; to deny, one request
    /// per key and day is the limit.
    fn new((spread, allowed): (Spread, bool), ours: O, theirs: T, real: bool) -> Result<Self> {
        let (strategy, quota) = if allowed {
            let hundred = NonZeroU32::MIN.saturating_add(99);
            let burst = hundred.saturating_mul(NonZeroU32::MIN.saturating_add(999_999));
            let strategy = Gcra::per_hour(hundred.get().into())?.burst(burst.get().into())?;
            (strategy, Quota::per_hour(hundred).allow_burst(burst))
        } else {
            let day = Duration::from_secs(86_400);
            let quota = Quota::with_period(day).ok_or_else(|| anyhow::anyhow!("a day is long"))?;
            (Gcra::new(1, day)?, quota)
        };
        let keys = spread.keys();
        let sides = Self {
            real,
            traffic: Traffic::of(spread),
            ours: RateLimiter::new(strategy, MemoryStore::with_clock(ours.clone())),
            system: RateLimiter::new(strategy, MemoryStore::with_clock(SystemClock)),
            theirs: Governor::new(quota, DefaultKeyedStateStore::default(), theirs),
            flat: Spinlock::new(FlatTable::new(keys as usize, strategy, ours.clone())),
            locked: Spinlock::new(FlatTable::new(keys as usize, strategy, ours)),
        };
        let mut flat = sides.flat.lock();
        for number in 0..keys {
            let name = name_of(number);
            anyhow::ensure!(sides.ours.check(&name)?.allowed, "a new key is admitted");
            anyhow::ensure!(
                sides.theirs.check_key(&name).is_ok(),
                "a new key is admitted"
            );
            anyhow::ensure!(flat.check(&name).allowed, "a new key is admitted");
            let locked = sides.locked.lock().check(&name);
            anyhow::ensure!(locked.allowed, "a new key is admitted");
            if real {
                anyhow::ensure!(sides.system.check(&name)?.allowed, "a new key is admitted");
            }
        }
        drop(flat);
        for name in sides.traffic.stretch().iter().take(100) {
            anyhow::ensure!(sides.ours.check(name)?.allowed == allowed);
            anyhow::ensure!(sides.theirs.check_key(name).is_ok() == allowed);
        }
        Ok(sides)
    }

    fn contenders(&self, threads: usize) -> Vec<Contender<'_>> {
        let mut contenders = vec![
            Contender::new("ThrottleKit", |thread, count| {
                for key in self.traffic.requests(thread, count) {
                    black_box(&self.ours.check(key.as_str()));
                }
            }),
            Contender::new("governor", |thread, count| {
                for key in self.traffic.requests(thread, count) {
                    black_box(&self.theirs.check_key(key));
                }
            }),
        ];
        if self.real {
            contenders.push(Contender::new(
                "ThrottleKit, SystemClock",
                |thread, count| {
                    for key in self.traffic.requests(thread, count) {
                        black_box(&self.system.check(key.as_str()));
                    }
                },
            ));
        }
        if threads == 1 {
            contenders.push(Contender::new("bare flat table", |thread, count| {
                let mut flat = self.flat.lock();
                for key in self.traffic.requests(thread, count) {
                    black_box(&flat.check(key));
                }
            }));
            contenders.push(Contender::new("the same behind a lock", |thread, count| {
                for key in self.traffic.requests(thread, count) {
                    black_box(&self.locked.lock().check(key));
                }
            }));
        }
        contenders
    }
}
