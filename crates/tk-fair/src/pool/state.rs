//! What a pool remembers of one window.

use std::collections::BTreeMap;

use super::{Draw, MAX_REGION_WEIGHT, MAX_REGIONS, PoolFull, PoolRule, fill::sum};

/// A pool's whole state: small, ordered and without time of its own, so that it can be hashed, compared and stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PoolState {
    /// The window's first instant in microseconds.
    pub start: u64,
    /// When the state of this window was begun.
    pub begun: u64,
    /// The newest instant seen.
    pub latest: u64,
    /// The regions that were active in this window.
    pub regions: BTreeMap<Box<str>, Region>,
}

/// What a pool remembers of a region. All of it is about one window, but `weight` and `asked`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Region {
    /// The weight it last asked with.
    pub weight: u64,
    /// The least weight it has had since the window's first instant; 0 if it came late.
    pub base: u64,
    /// The largest weight it has had in the window.
    pub peak: u64,
    /// What of the drawn was used by tenants that are no longer active.
    pub settled: u64,
    /// Units granted; never falls within a window.
    pub granted: u64,
    /// Units handed back.
    pub returned: u64,
    /// Hand-backs applied.
    pub turn: u64,
    /// When it last asked.
    pub asked: u64,
}

impl Region {
    /// What it has: granted and not handed back.
    #[must_use]
    pub const fn drawn(&self) -> u64 {
        self.granted.saturating_sub(self.returned)
    }

    pub(super) const fn is_active(&self, rule: &PoolRule, at: u64) -> bool {
        self.weight > 0 && at.saturating_sub(self.asked) < rule.idle_after
    }
}

impl PoolState {
    /// The state of a pool that nobody has asked.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            start: 0,
            begun: 0,
            latest: 0,
            regions: BTreeMap::new(),
        }
    }

    /// What all regions have. Never above the limit.
    #[must_use]
    pub fn drawn(&self) -> u64 {
        // SPEC: RegionPool!DrawnWithinLimit
        // SPEC: RegionPool!NeverOverAdmits
        sum(self.regions.values().map(Region::drawn))
    }

    pub(super) fn region(&self, name: &str) -> Region {
        self.regions.get(name).copied().unwrap_or_default()
    }

    /// Step 1. The instant that counts: time does not run backwards.
    pub(super) fn roll(&mut self, rule: &PoolRule, now: u64) -> u64 {
        let now = now.max(self.latest);
        self.latest = now;
        let start = now - now % rule.window;
        if start > self.start || self.regions.is_empty() {
            self.start = start;
            self.begun = now;
            self.regions
                .retain(|_, region| region.is_active(rule, start));
            for region in self.regions.values_mut() {
                *region = Region {
                    weight: region.weight,
                    base: region.weight,
                    peak: region.weight,
                    asked: region.asked,
                    ..Region::default()
                };
            }
        }
        now
    }

    /// Step 2.
    pub(super) fn arrive(
        &mut self,
        rule: &PoolRule,
        name: &str,
        draw: Draw,
        now: u64,
    ) -> Result<(), PoolFull> {
        if self.regions.len() >= MAX_REGIONS && !self.regions.contains_key(name) {
            return Err(PoolFull);
        }
        let region = self.regions.entry(name.into()).or_default();
        if !region.is_active(rule, now) {
            region.base = 0;
        }
        region.weight = draw.weight.min(MAX_REGION_WEIGHT);
        // SPEC: RegionPool!PromisesAreKept
        region.base = region.base.min(region.weight);
        region.peak = region.peak.max(region.weight);
        region.settled = draw.settled.min(region.drawn());
        region.asked = now;
        Ok(())
    }

    pub(super) fn grant(&mut self, name: &str, amount: u64) {
        if let Some(region) = self.regions.get_mut(name) {
            // SPEC: RegionPool!GrantsOnlyGrow
            region.granted = region.granted.saturating_add(amount);
        }
    }

    pub(super) fn take_back(&mut self, name: &str, turn: u64, amount: u64) -> u64 {
        let Some(region) = self.regions.get_mut(name) else {
            return 0;
        };
        // SPEC: RegionPool!PoolNeverForgets
        let taken = amount.min(region.drawn());
        if region.turn != turn || taken == 0 {
            return 0;
        }
        region.returned = region.returned.saturating_add(taken);
        region.turn = region.turn.saturating_add(1);
        region.settled = region.settled.min(region.drawn());
        taken
    }
}
