//! What one run is made of, all of it drawn from the seed.

use std::time::Duration;

use tk_core::ConfigError;
use tk_twotier::{Fault, LeaseRules};

use super::network::Network;
use crate::Random;

/// Which runs to draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Scenario {
    fault: Option<Fault>,
    forgets: bool,
    is_hungry: bool,
    is_tightened: bool,
}

impl Scenario {
    /// A rule of the protocol is broken in every node: a bound should break.
    pub const fn with_fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// The store also loses its data, and the key is reset. Each time a window's budget begins anew, so the bound is
    /// higher by the limit for each time.
    pub const fn forgetful(mut self) -> Self {
        self.forgets = true;
        self
    }

    /// One unit less than the bound is allowed. Some run must break that, or the bound would be looser than it need be.
    pub const fn tightened(mut self) -> Self {
        self.is_tightened = true;
        self
    }

    /// Leases coupled to fixed windows, batches of at most a tenth of a node's share, a calm network, and
    /// more demand at every node than there is budget.
    pub const fn hungry(mut self) -> Self {
        self.is_hungry = true;
        self
    }
}

/// Whether credits are carried over the edge of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// They are.
    Carried,
    /// They end with the span of their grant.
    Coupled,
}

/// The strategy of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are the strategies")]
#[non_exhaustive]
pub enum Rule {
    FixedWindow,
    SlidingWindow,
    SlidingWindowLog,
    Gcra,
    TokenBucket,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Plan {
    pub seed: u64,
    pub rule: Rule,
    pub mode: Mode,
    pub nodes: u64,
    pub limit: u64,
    /// In microseconds, as all times.
    pub window: u64,
    pub batch: u64,
    pub low_water: u64,
    /// Batches up to `batch` are chosen by a learner.
    pub is_adaptive: bool,
    pub dearest: u64,
    /// Monotonic clocks are off by up to so much, and the margin allows for it.
    pub drift_ppm: u64,
    /// Walls are off by up to so much.
    pub skew: u64,
    pub start: u64,
    pub end: u64,
    /// A call that takes longer has failed.
    pub deadline: u64,
    pub patience: u64,
    pub network: Network,
    pub fault: Option<Fault>,
    pub forgets: bool,
    /// Quiet windows and busy ones take turns, for all nodes alike.
    pub is_tidal: bool,
    /// Nothing goes wrong but the clocks.
    pub is_calm: bool,
    pub is_hungry: bool,
    pub is_tightened: bool,
}

impl Plan {
    pub(super) fn draw(seed: u64, scenario: &Scenario) -> Self {
        let random = &mut Random::new(seed);
        let nodes = random.choose(&[1, 2, 2, 3, 3, 4, 5, 8]);
        let limit = random.choose(&[1, 2, 3, 4, 5, 6, 10, 10, 20, 40]);
        let batch = random.within(1, limit.min(8));
        let low_water = random.choose(&[0, 0, 0, 1, 2]).min(batch - 1);
        let window = random.choose(&[2_000, 50_000, 1_000_000, 1_000_000, 60_000_000]);
        let is_calm = scenario.is_hungry || random.chance(25);
        let network = if is_calm {
            Network::calm(window)
        } else {
            Network::draw(random, window)
        };
        let deadline = window * random.choose(&[1, 5, 20, 100]) / 10;
        let start = 1_700_000_000_000_000 + random.within(0, 3 * window);
        let plan = Self {
            seed,
            rule: draw_rule(random),
            mode: random.choose(&[Mode::Carried, Mode::Coupled]),
            nodes,
            limit,
            window,
            batch,
            low_water,
            is_adaptive: random.chance(20),
            dearest: random.choose(&[1, 1, 1, 2, limit]).min(limit),
            drift_ppm: random.choose(&[0, 1_000, 1_000, 50_000]),
            skew: window * random.choose(&[0, 1, 10, 20]) / 10,
            start,
            end: start + window * random.within(3, 6),
            deadline: deadline.max(3 * network.usual),
            patience: window * random.choose(&[1, 10, 30]) / 10,
            network,
            fault: scenario.fault,
            forgets: scenario.forgets,
            is_tidal: random.chance(50),
            is_calm,
            is_hungry: scenario.is_hungry,
            is_tightened: scenario.is_tightened,
        };
        if scenario.is_hungry {
            plan.starved(random)
        } else {
            plan
        }
    }

    fn starved(mut self, random: &mut Random) -> Self {
        self.rule = Rule::FixedWindow;
        self.mode = Mode::Coupled;
        self.window = 1_000_000;
        self.network = Network::calm(self.window);
        self.limit = random.within(10 * self.nodes, 60 * self.nodes);
        self.batch = random.within(1, self.limit / (10 * self.nodes));
        self.low_water = self.low_water.min(self.batch - 1);
        self.dearest = 1;
        self.end = self.start + 5 * self.window;
        self.deadline = self.window;
        self.patience = self.window;
        self
    }

    pub(super) const fn window(&self) -> Duration {
        Duration::from_micros(self.window)
    }

    /// The rules of every node's ledger.
    pub(super) fn rules(&self) -> Result<LeaseRules, ConfigError> {
        let rules = LeaseRules::new(self.batch)?
            .coupled(self.mode == Mode::Coupled)
            .low_water(self.low_water)?
            .drift_ppm(u32::try_from(self.drift_ppm).unwrap_or(u32::MAX))?;
        Ok(match self.fault {
            Some(fault) => rules.with_fault(fault),
            None => rules,
        })
    }

    /// A rate of a monotonic clock within the margin, in parts per million.
    pub(super) fn rate(&self, random: &mut Random) -> u64 {
        let (low, high) = (1_000_000 - self.drift_ppm, 1_000_000 + self.drift_ppm);
        match random.within(0, 3) {
            0 => low,
            1 => high,
            _ => random.within(low, high),
        }
    }

    /// How far a wall is ahead; behind, if it is below zero.
    pub(super) fn skew(&self, random: &mut Random) -> i64 {
        let skew = i64::try_from(random.within(0, self.skew)).unwrap_or(i64::MAX);
        if random.chance(50) { -skew } else { skew }
    }
}

/// Fixed windows have the bounds that are easiest to break, so they are drawn most often.
fn draw_rule(random: &mut Random) -> Rule {
    match random.within(0, 9) {
        0 => Rule::SlidingWindow,
        1 => Rule::SlidingWindowLog,
        2 => Rule::Gcra,
        3 => Rule::TokenBucket,
        _ => Rule::FixedWindow,
    }
}
