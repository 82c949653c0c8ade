//! What is being compared.

use std::{sync::Arc, time::Duration};

use tk_core::{ConfigError, ManualClock, Timestamp};

use super::{Profile, Split, Trace};
use crate::{Weigh, WeightedFairEscrow};

/// [`WeightedFairEscrow`] on a clock that the trace moves.
#[derive(Debug)]
pub struct FairSplit {
    escrow: WeightedFairEscrow<Weights, Arc<ManualClock>>,
    clock: Arc<ManualClock>,
}

/// Weights by the tenant's number.
#[derive(Debug)]
struct Weights(Vec<u64>);

impl Weigh<u64> for Weights {
    fn weight(&self, tenant: &u64) -> u64 {
        self.0.get(*tenant as usize).copied().unwrap_or(0)
    }
}

impl FairSplit {
    /// An escrow for `trace`, with everything else at its default.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if the trace's limit is not within 1 to 2^48.
    pub fn new(trace: &Trace) -> Result<Self, ConfigError> {
        let clock = Arc::new(ManualClock::at(Timestamp::EPOCH));
        let weights = trace.tenants.iter().map(|tenant| tenant.weight).collect();
        let escrow = WeightedFairEscrow::builder(trace.limit, Trace::WINDOW)
            .weight_of(Weights(weights))
            .clock(clock.clone())
            .build()?;
        Ok(Self { escrow, clock })
    }
}

impl Split for FairSplit {
    fn ask(&mut self, now: u64, tenant: usize, profile: &Profile) -> bool {
        self.clock.set_wall(Timestamp::from_micros(now));
        let decision = self.escrow.check(&(tenant as u64), profile.cost);
        decision.is_ok_and(|decision| decision.allowed)
    }
}

/// One counter for all: who asks first is served first.
#[derive(Clone, Debug)]
pub struct FirstCome {
    limit: u64,
    window: u64,
    used: u64,
}

impl FirstCome {
    /// A counter for `trace`.
    #[must_use]
    pub const fn new(trace: &Trace) -> Self {
        Self {
            limit: trace.limit,
            window: 0,
            used: 0,
        }
    }
}

impl Split for FirstCome {
    fn ask(&mut self, now: u64, _tenant: usize, profile: &Profile) -> bool {
        roll(&mut self.window, now, || self.used = 0);
        let fits = self.used + profile.cost <= self.limit;
        if fits {
            self.used += profile.cost;
        }
        fits
    }
}

/// Each tenant seen in this window or the one before has its part by weight, and nobody may use another's.
#[derive(Clone, Debug)]
pub struct StaticReservation {
    limit: u64,
    window: u64,
    used: Vec<u64>,
    /// The window in which a tenant was last seen, counted from 1.
    seen: Vec<u64>,
    /// The sum of the weights of those who count.
    weight: u64,
    weights: Vec<u64>,
}

impl StaticReservation {
    /// Reservations for `trace`.
    #[must_use]
    pub fn new(trace: &Trace) -> Self {
        Self {
            limit: trace.limit,
            window: 0,
            used: vec![0; trace.tenants.len()],
            seen: vec![0; trace.tenants.len()],
            weight: 0,
            weights: trace.tenants.iter().map(|tenant| tenant.weight).collect(),
        }
    }
}

impl Split for StaticReservation {
    fn ask(&mut self, now: u64, tenant: usize, profile: &Profile) -> bool {
        let before = self.window;
        roll(&mut self.window, now, || {});
        let window = self.window + 1;
        if self.window > before {
            self.used.fill(0);
            let counts =
                |(seen, weight): (&u64, &u64)| if *seen + 1 >= window { *weight } else { 0 };
            self.weight = self.seen.iter().zip(&self.weights).map(counts).sum();
        }
        if self.seen[tenant] + 1 < window || self.seen[tenant] == 0 {
            self.weight += profile.weight;
        }
        self.seen[tenant] = window;
        let part = profile.weight * self.limit / self.weight.max(1);
        let total: u64 = self.used.iter().sum();
        let fits = self.used[tenant] + profile.cost <= part && total + profile.cost <= self.limit;
        if fits {
            self.used[tenant] += profile.cost;
        }
        fits
    }
}

/// Goes to the window of `now`.
fn roll(window: &mut u64, now: u64, fresh: impl FnOnce()) {
    let length = Duration::as_micros(&Trace::WINDOW) as u64;
    if now / length > *window {
        *window = now / length;
        fresh();
    }
}
