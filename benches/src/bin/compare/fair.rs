//! Checks of the fair escrow: at the median, and the longest one.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use tk_benches::{Random, Stopwatch, Table};
use tk_core::{ManualClock, Timestamp};
use tk_fair::{Weigh, WeightedFairEscrow};

use crate::section::Settings;

const WINDOW: Duration = Duration::from_secs(60);

/// Tenants by number; weights 1 to 10.
struct Weights;

impl Weigh<u64> for Weights {
    fn weight(&self, tenant: &u64) -> u64 {
        1 + tenant % 10
    }
}

/// An escrow in which everyone has three units per window on average.
struct Crowd {
    escrow: WeightedFairEscrow<Weights, Arc<ManualClock>>,
    clock: Arc<ManualClock>,
    tenants: u64,
}

/// Nanoseconds of single checks.
#[derive(Default)]
struct Times {
    admitted: Vec<u64>,
    denied: Vec<u64>,
}

impl Crowd {
    fn new(tenants: u64) -> Result<Self> {
        let clock = Arc::new(ManualClock::at(Timestamp::from_secs(600)));
        let escrow = WeightedFairEscrow::builder(3 * tenants, WINDOW)
            .weight_of(Weights)
            .clock(clock.clone())
            .build()?;
        Ok(Self {
            escrow,
            clock,
            tenants,
        })
    }

    /// Everyone asks once; the longest check in nanoseconds.
    fn all_ask(&self) -> Result<u64> {
        let mut times = Times::default();
        for tenant in 0..self.tenants {
            self.check(tenant, &mut times)?;
        }
        Ok(times.longest())
    }

    /// Goes to the next window with everyone active, and checks at random.
    fn roll(&self, checks: u64, times: &mut Times) -> Result<()> {
        self.clock.advance(WINDOW - Duration::from_secs(3));
        self.all_ask()?;
        self.clock.advance(Duration::from_secs(3));
        let mut random = Random::new(7);
        (0..checks).try_for_each(|_| self.check(random.below(self.tenants), times))
    }

    fn check(&self, tenant: u64, times: &mut Times) -> Result<()> {
        let stopwatch = Stopwatch::start();
        let decision = self.escrow.check(&tenant, 1)?;
        let nanoseconds = stopwatch.elapsed().as_nanos() as u64;
        if decision.allowed {
            times.admitted.push(nanoseconds);
        } else {
            times.denied.push(nanoseconds);
        }
        Ok(())
    }
}

impl Times {
    fn longest(&self) -> u64 {
        let all = self.admitted.iter().chain(&self.denied);
        all.copied().max().unwrap_or(0)
    }

    fn all(&self) -> Vec<u64> {
        [self.admitted.as_slice(), &self.denied].concat()
    }
}

fn median(mut times: Vec<u64>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(f64::NAN, |t| *t as f64)
}

/// Medians, each of single checks; reading the clock twice is in them.
pub(crate) fn run(settings: &Settings) -> Result<Table> {
    let mut table = Table::new(
        "Fair escrow",
        "nanoseconds of a single check at the median, with the two clock readings around it",
    );
    for tenants in sizes(settings) {
        let crowd = Crowd::new(tenants)?;
        crowd.all_ask()?;
        let mut times = Times::default();
        crowd.roll(2 * tenants.max(50_000), &mut times)?;
        table.row(
            format!("{tenants} tenants"),
            [
                ("all".to_owned(), median(times.all())),
                ("admitted".to_owned(), median(times.admitted)),
                ("denied".to_owned(), median(times.denied)),
            ],
        );
    }
    Ok(table)
}

/// The longest checks, in the calmest of several runs, since a gap of the machine only ever adds.
pub(crate) fn run_pauses(settings: &Settings) -> Result<Table> {
    let mut table = Table::new(
        "Pauses of the fair escrow",
        "microseconds of the longest single check, in the calmest of several runs",
    );
    for tenants in sizes(settings) {
        let (mut joining, mut rolling) = (u64::MAX, u64::MAX);
        for _ in 0..if settings.quick { 2 } else { 4 } {
            let crowd = Crowd::new(tenants)?;
            joining = joining.min(crowd.all_ask()?);
            let mut times = Times::default();
            crowd.roll(tenants, &mut times)?;
            rolling = rolling.min(times.longest());
        }
        table.row(
            format!("{tenants} tenants"),
            [
                ("all join".to_owned(), joining as f64 / 1e3),
                ("a window begins".to_owned(), rolling as f64 / 1e3),
            ],
        );
    }
    Ok(table)
}

fn sizes(settings: &Settings) -> [u64; 2] {
    if settings.quick {
        [1_024, 100_000]
    } else {
        [1_024, 1_000_000]
    }
}
