//! The same rule, spelled out with sums over everyone at every step, and fractions instead of levels.

use std::collections::BTreeMap;

use super::{Ask, FORGOTTEN, Verdict};

/// The window, whether it was served in it or came in it, and a number.
type Turn = (u64, bool, u64);

#[derive(Clone, Debug)]
pub(super) struct Tenant {
    pub(super) weight: u128,
    pub(super) cost: u128,
    pub(super) used: u128,
    asked: u64,
    turn: Turn,
    turned: bool,
    pub(super) late: bool,
    pub(super) active: bool,
}

/// A tenant in the queue, at what cost, whether it was in it before this window, and whether it was the first then.
#[derive(Clone, Copy, Debug)]
struct Queued {
    id: u128,
    cost: u128,
    before: bool,
    first: bool,
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
    window: u64,
    pub(super) tenants: BTreeMap<u128, Tenant>,
    /// The active and the idle, those first who have been so longest.
    active: Vec<u128>,
    idle: Vec<u128>,
    /// Who was refused and has had nothing since, and whether that was before this window.
    queue: Vec<Queued>,
    dearest_overdue: u128,
    used_overdue: u128,
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
        self.window += 1;
        self.counted.clear();
        self.used_overdue = 0;
        if self.queue.first().is_some_and(|queued| queued.first) {
            self.queue.rotate_left(1);
        }
        for (place, queued) in self.queue.iter_mut().enumerate() {
            queued.before = true;
            queued.first = place == 0;
        }
        self.dearest_overdue = self.queue.first().map_or(0, |first| first.cost);
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
            self.retire(ask.tenant);
            return Verdict::Weightless;
        }
        if !self.record(ask.tenant) {
            let last = self.active.last();
            return Verdict::Full {
                until: last.map_or(u64::MAX, |last| self.tenants[last].asked + self.idle_after),
            };
        }
        self.appear(ask, now);
        let id = ask.tenant;
        let cost = u128::from(ask.cost);
        self.queue
            .retain(|queued| queued.id != id || queued.cost >= cost);
        let verdict = self.decide(id);
        if verdict == Verdict::Admitted {
            self.leave_queue(id);
        } else if self.tenants[&id].used == 0 && self.queue.iter().all(|queued| queued.id != id) {
            let (before, first) = (false, false);
            self.queue.push(Queued {
                id,
                cost,
                before,
                first,
            });
        }
        verdict
    }

    fn leave_queue(&mut self, id: u128) {
        self.queue.retain(|queued| queued.id != id);
    }

    fn kept_for_overdue(&self) -> u128 {
        let overdue = self.queue.iter().filter(|queued| queued.before);
        let most = self.budget.div_ceil(2).max(self.dearest_overdue);
        let costs = overdue.map(|queued| queued.cost).sum::<u128>();
        let kept = costs.min(most.saturating_sub(self.used_overdue));
        let left = self.budget - self.used;
        let first = self.queue.first();
        if first.is_some_and(|first| first.cost <= kept.min(left)) {
            kept
        } else {
            0
        }
    }

    pub(super) fn leave(&mut self, id: u128) {
        self.retire(id);
        if !self.counted.contains_key(&id) {
            self.remove(id);
        } else if let Some(tenant) = self.tenants.get_mut(&id) {
            self.turns += 1;
            tenant.turn = (self.window, false, self.turns);
            tenant.turned = false;
            tenant.used = 0;
        }
    }

    fn remove(&mut self, id: u128) {
        self.tenants.remove(&id);
        self.idle.retain(|other| *other != id);
    }

    /// The weights of all who were active in this window.
    pub(super) fn weight(&self) -> u128 {
        self.counted.values().sum()
    }

    /// Moves a tenant that is active to the idle. Its weight goes on counting, unless nobody is active any more.
    fn retire(&mut self, id: u128) {
        if !self.active.contains(&id) {
            return;
        }
        if let Some(tenant) = self.tenants.get_mut(&id) {
            tenant.active = false;
        }
        self.leave_queue(id);
        self.active.retain(|other| *other != id);
        self.idle.push(id);
        if self.active.is_empty() {
            self.counted.clear();
        }
    }

    /// Whoever is idle and does not count in this window, longest idle first.
    fn dispensable(&self) -> Option<u128> {
        let mut idle = self.idle.iter().copied();
        idle.find(|id| !self.counted.contains_key(id))
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
        let kept = self.kept_for_overdue();
        let first = self.queue.first().filter(|first| first.before);
        let guest = first.is_some_and(|first| first.id == id && me.cost <= kept);
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
            if counts && (promised(&me) || guest) && !tenant.late && promised(tenant) {
                fair += tenant.weight;
            } else if counts && ahead && !guest && (tenant.late || !promised(&me)) {
                mine += tenant.weight;
            } else {
                flat += tenant.used;
            }
        }
        // Used by tenants that were forgotten.
        flat += self.used - self.tenants.values().map(|t| t.used).sum::<u128>();
        let fair = (fair * self.budget).div_ceil(total);
        let kept = if guest { 0 } else { kept };
        let need = flat + fair + (mine * units).div_ceil(me.weight) + kept;
        if need > self.budget {
            return Verdict::Kept {
                short: (need - self.budget) as u64,
                until: self.next_expiry(id),
            };
        }
        if let Some(tenant) = self.tenants.get_mut(&id).filter(|tenant| !tenant.turned) {
            self.turns += 1;
            tenant.turn = (self.window, true, self.turns);
            tenant.turned = true;
        }
        if guest {
            self.used_overdue += me.cost;
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
            let Some(first) = self.dispensable() else {
                return false;
            };
            self.remove(first);
        }
        self.turns += 1;
        let tenant = Tenant {
            weight: 0,
            cost: 0,
            used: 0,
            asked: 0,
            turn: (self.window, false, self.turns),
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
            if now.saturating_sub(self.tenants[&first].asked) < self.idle_after {
                return;
            }
            self.retire(first);
        }
    }

    fn forget(&mut self, now: u64) {
        for _ in 0..FORGOTTEN {
            let Some(first) = self.dispensable() else {
                return;
            };
            let tenant = &self.tenants[&first];
            if tenant.used > 0 || now.saturating_sub(tenant.asked) < self.keep_for {
                return;
            }
            self.remove(first);
        }
    }

    fn next_expiry(&self, asking: u128) -> u64 {
        let first = self.active.first().filter(|first| **first != asking);
        first.map_or(u64::MAX, |first| {
            self.tenants[first].asked + self.idle_after
        })
    }
}
