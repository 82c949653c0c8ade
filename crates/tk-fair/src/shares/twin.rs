//! The same rule, spelled out with sums over everyone at every step, and fractions instead of levels.

use std::collections::BTreeMap;

use super::{Ask, FORGOTTEN, Verdict};

#[derive(Clone, Debug)]
pub(super) struct Tenant {
    pub(super) weight: u128,
    pub(super) cost: u128,
    pub(super) used: u128,
    asked: u64,
    turn: u64,
    turned: bool,
    pub(super) late: bool,
    pub(super) active: bool,
}

/// All the state there is: no tree, no epoch.
#[derive(Clone, Debug, Default)]
pub(super) struct Twin {
    idle_after: u64,
    keep_for: u64,
    max_tenants: usize,
    latest: u64,
    pub(super) budget: u128,
    pub(super) used: u128,
    /// The weights that count in this window.
    counted: BTreeMap<u128, u128>,
    turns: u64,
    pub(super) tenants: BTreeMap<u128, Tenant>,
    /// The active and the idle, those first who have been so longest.
    active: Vec<u128>,
    idle: Vec<u128>,
}

impl Twin {
    pub(super) fn new(idle_after: u64, keep_for: u64, max_tenants: usize) -> Self {
        Self {
            idle_after,
            keep_for,
            max_tenants,
            ..Self::default()
        }
    }

    pub(super) fn roll(&mut self, start: u64, budget: u64) {
        self.expire(start);
        self.budget = u128::from(budget);
        self.used = 0;
        self.counted.clear();
        for (id, tenant) in &mut self.tenants {
            tenant.used = 0;
            tenant.turned = false;
            tenant.late = false;
            if tenant.active {
                self.counted.insert(*id, tenant.weight);
            }
        }
    }

    pub(super) fn ask(&mut self, ask: &Ask) -> Verdict {
        let now = ask.now.max(self.latest);
        self.latest = now;
        self.expire(now);
        self.forget(now);
        if ask.weight == 0 {
            self.leave(ask.tenant);
            return Verdict::Weightless;
        }
        if !self.record(ask.tenant) {
            return Verdict::Full {
                until: self.next_expiry(None),
            };
        }
        self.appear(ask, now);
        self.decide(ask.tenant)
    }

    pub(super) fn leave(&mut self, id: u128) {
        self.tenants.remove(&id);
        self.counted_again_if_last(id);
        self.idle.retain(|other| *other != id);
    }

    /// The weights of all who were active in this window.
    pub(super) fn weight(&self) -> u128 {
        self.counted.values().sum()
    }

    fn counted_again_if_last(&mut self, id: u128) {
        let was_active = self.active.contains(&id);
        self.active.retain(|other| *other != id);
        if was_active && self.active.is_empty() {
            self.counted.clear();
        } else if let Some(weight) = self.counted.remove(&id) {
            // Its weight stays in the sum though it is forgotten, under a name that nobody has.
            let nobody = u128::MAX - self.counted.len() as u128 - u128::from(self.latest);
            *self.counted.entry(nobody).or_default() += weight;
        }
    }

    fn decide(&mut self, id: u128) -> Verdict {
        let left = self.budget - self.used;
        let me = self.tenants[&id].clone();
        if me.cost > left {
            let short = (me.cost - left) as u64;
            return Verdict::Exhausted { short };
        }
        let total = self.weight();
        let promised = |t: &Tenant| (t.used + t.cost) * total <= self.budget * t.weight;
        let units = me.used + me.cost;
        if promised(&me) && !me.late {
            self.charge(id);
            return Verdict::Admitted;
        }
        // Weights of those that may rise to the fair level, and to mine; what all others have used.
        let (mut fair, mut mine, mut flat) = (0, 0, units);
        for (other, tenant) in &self.tenants {
            if *other == id {
                continue;
            }
            let theirs = (tenant.used + tenant.cost) * me.weight;
            let level = units * tenant.weight;
            let ahead = theirs < level || (theirs == level && tenant.turn < me.turn);
            let counts = tenant.active && tenant.cost <= left;
            if counts && promised(&me) && !tenant.late && promised(tenant) {
                fair += tenant.weight;
            } else if counts && ahead && (tenant.late || !promised(&me)) {
                mine += tenant.weight;
            } else {
                flat += tenant.used;
            }
        }
        // Used by tenants that were forgotten.
        flat += self.used - self.tenants.values().map(|t| t.used).sum::<u128>();
        let fair = (fair * self.budget).div_ceil(total);
        let need = flat + fair + (mine * units).div_ceil(me.weight);
        if need > self.budget {
            return Verdict::Kept {
                short: (need - self.budget) as u64,
                until: self.next_expiry(Some(id)),
            };
        }
        if let Some(tenant) = self.tenants.get_mut(&id).filter(|tenant| !tenant.turned) {
            self.turns += 1;
            tenant.turn = self.turns;
            tenant.turned = true;
        }
        self.charge(id);
        Verdict::Admitted
    }

    fn charge(&mut self, id: u128) {
        if let Some(tenant) = self.tenants.get_mut(&id) {
            tenant.used += tenant.cost;
            self.used += tenant.cost;
        }
    }

    fn record(&mut self, id: u128) -> bool {
        if self.tenants.contains_key(&id) {
            return true;
        }
        if self.tenants.len() >= self.max_tenants {
            let Some(first) = self.idle.first().copied() else {
                return false;
            };
            self.leave(first);
        }
        self.turns += 1;
        let tenant = Tenant {
            weight: 0,
            cost: 0,
            used: 0,
            asked: 0,
            turn: self.turns,
            turned: false,
            late: true,
            active: false,
        };
        self.tenants.insert(id, tenant);
        self.idle.push(id);
        true
    }

    fn appear(&mut self, ask: &Ask, now: u64) {
        let id = ask.tenant;
        self.active.retain(|other| *other != id);
        self.idle.retain(|other| *other != id);
        self.active.push(id);
        let Some(tenant) = self.tenants.get_mut(&id) else {
            return;
        };
        let weight = u128::from(ask.weight);
        if !tenant.active || tenant.weight != weight {
            tenant.late = true;
            let counted = self.counted.entry(id).or_default();
            *counted = weight.max(*counted);
        }
        tenant.active = true;
        tenant.weight = weight;
        tenant.cost = u128::from(ask.cost);
        tenant.asked = now;
    }

    fn expire(&mut self, now: u64) {
        while let Some(first) = self.active.first().copied() {
            let Some(tenant) = self.tenants.get_mut(&first) else {
                return;
            };
            if now.saturating_sub(tenant.asked) < self.idle_after {
                return;
            }
            tenant.active = false;
            self.active.remove(0);
            self.idle.push(first);
            if self.active.is_empty() {
                self.counted.clear();
            }
        }
    }

    fn forget(&mut self, now: u64) {
        for _ in 0..FORGOTTEN {
            let Some(first) = self.idle.first().copied() else {
                return;
            };
            let tenant = &self.tenants[&first];
            if tenant.used > 0 || now.saturating_sub(tenant.asked) < self.keep_for {
                return;
            }
            self.leave(first);
        }
    }

    fn next_expiry(&self, asking: Option<u128>) -> u64 {
        let first = self.active.first().filter(|first| Some(**first) != asking);
        first.map_or(u64::MAX, |first| {
            self.tenants[first].asked + self.idle_after
        })
    }
}
