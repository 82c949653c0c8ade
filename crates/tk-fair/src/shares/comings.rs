//! Tenants come, fall silent and are forgotten: a few per call, and never all at once.
//!
//! Whoever counts in the window's sum of weights is not forgotten before the window ends: it would count again when it comes back,
//! and lower what is promised to everyone. Those who count became idle after all who do not, so they are at the end of the idle.

use super::{Ask, FORGOTTEN, Line, Shares, Tenant};

/// Newcomers in a window whose turns are before those of whoever is served in it. Turns last for 2^44 windows.
const NEWCOMERS: u64 = 1 << 20;

impl Shares {
    /// The record of a tenant, a new one if need be; none if all places are taken by those who count in this window.
    pub(super) fn record(&mut self, tenant: u128) -> Option<u32> {
        if let Some(place) = self.tenants.find(tenant) {
            return Some(place);
        }
        if self.tenants.len() >= self.max_tenants {
            let first = self.idle.first();
            self.remove_idle(first.filter(|first| !self.counts(&self.tenants[*first]))?);
        }
        let place = self.tenants.insert(tenant);
        self.tenants[place].turn = self.turn_of_newcomer();
        self.tenants.join(&mut self.idle, place);
        Some(place)
    }

    /// Sets apart the turns of those who will come in the window that begins: before those of everyone served in it.
    pub(super) fn set_turns_apart(&mut self) {
        let first = self.turns + 1;
        self.newcomers = first..first + NEWCOMERS;
        self.turns += NEWCOMERS;
    }

    /// A newcomer is behind everyone it found, but for those who had something in this window already.
    pub(super) fn turn_of_newcomer(&mut self) -> u64 {
        self.newcomers.next().unwrap_or_else(|| self.next_turn())
    }

    /// The end of the line of equals.
    pub(super) const fn next_turn(&mut self) -> u64 {
        self.turns += 1;
        self.turns
    }

    /// Notes that a tenant asks, and brings its weight and cost up to date. If that moves it, it is taken out of the trees.
    pub(super) fn appear(&mut self, place: u32, ask: &Ask, now: u64) -> Tenant {
        if self.is_active(&self.tenants[place]) {
            self.tenants.leave(&mut self.active, place);
        } else {
            self.tenants.leave(&mut self.idle, place);
        }
        self.tenants.join(&mut self.active, place);
        let mut tenant = self.tenants[place];
        let active = self.is_active(&tenant);
        if active && (tenant.weight != ask.weight || tenant.cost != ask.cost) {
            self.exit(place, &mut tenant);
        }
        if (active && tenant.weight != ask.weight) || self.was_left_behind(&tenant) {
            // The promise is void for this window, but the weight stays in its sum.
            self.count_early(&mut tenant);
        }
        if !active || tenant.weight != ask.weight {
            tenant.weight = ask.weight;
            self.come_late(&mut tenant);
        }
        tenant.entered &= active;
        if !active {
            tenant.queued = 0;
        } else if tenant.queued_cost < ask.cost {
            // Nobody has waited for as much.
            self.leave_queue(place, &mut tenant);
        }
        tenant.life = self.life;
        tenant.cost = ask.cost;
        tenant.asked = now;
        tenant
    }

    /// Nothing is promised to a tenant for the rest of the window, and its weight counts in the window's sum.
    pub(super) fn come_late(&mut self, tenant: &mut Tenant) {
        tenant.late_epoch = self.epoch;
        let counted = if tenant.counted_in == self.count {
            tenant.counted
        } else {
            0
        };
        tenant.counted_in = self.count;
        tenant.counted = counted.max(tenant.weight);
        self.weight += u64::from(tenant.counted - counted);
        self.find_fair_level();
    }

    /// Notes that the window's sum has the weight of a tenant that is early and will not be.
    pub(super) fn count_early(&self, tenant: &mut Tenant) {
        if tenant.late_epoch != self.epoch {
            tenant.counted = tenant.weight;
            tenant.counted_in = self.count;
        }
    }

    /// Finds tenants idle, those first who have been silent longest; not all at once, if there are many.
    pub(super) fn expire(&mut self, now: u64) {
        for _ in 0..self.expiries {
            let Some(first) = self.first_silent(now) else {
                return;
            };
            self.retire(first);
        }
        if self.first_silent(now).is_some() {
            self.keep_few(now);
        }
    }

    /// Whoever is still in the line of the active and has been silent for too long.
    pub(super) fn first_silent(&self, now: u64) -> Option<u32> {
        self.active
            .first()
            .filter(|first| self.is_silent(*first, now))
    }

    pub(super) fn is_silent(&self, place: u32, now: u64) -> bool {
        now.saturating_sub(self.tenants[place].asked) >= self.idle_after
    }

    /// If only few are not idle, begins the trees afresh with them.
    pub(super) fn keep_few(&mut self, now: u64) {
        let mut few: Vec<u32> = self
            .tenants
            .last_to_first(&self.active)
            .take_while(|place| !self.is_silent(*place, now))
            .take(self.expiries + 1)
            .collect();
        if few.len() > self.expiries {
            return;
        }
        few.iter()
            .for_each(|place| self.tenants.leave(&mut self.active, *place));
        self.tenants.move_all(&mut self.active, &mut self.idle);
        self.life += 1;
        self.waiting.clear();
        self.served.clear();
        self.bars.clear();
        few.reverse();
        self.queue_only(&few);
        for place in few {
            self.tenants.join(&mut self.active, place);
            let mut tenant = self.tenants[place];
            tenant.life = self.life;
            tenant.entered = false;
            self.enter(place, &mut tenant);
            self.tenants[place] = tenant;
        }
        if self.active.first().is_none() {
            self.nobody_is_active();
        }
    }

    /// Leaves in the queue only those of `few` that are in it.
    fn queue_only(&mut self, few: &[u32]) {
        let queued = |place: &u32| (self.tenants[*place].queued, *place);
        let mut still: Vec<_> = few.iter().map(queued).filter(|(at, _)| *at > 0).collect();
        still.sort_unstable();
        self.queue = Line::EMPTY;
        (self.queue_cost, self.overdue_cost) = (0, 0);
        for (queued, place) in still {
            let cost = u128::from(self.tenants[place].queued_cost);
            self.queue_cost += cost;
            if queued <= self.queued_at_roll {
                self.overdue_cost += cost;
            }
            self.tenants.queue(&mut self.queue, place);
        }
    }

    /// Moves an active tenant to the idle.
    pub(super) fn retire(&mut self, place: u32) {
        self.tenants.leave(&mut self.active, place);
        self.tenants.join(&mut self.idle, place);
        let mut tenant = self.tenants[place];
        self.exit(place, &mut tenant);
        self.leave_queue(place, &mut tenant);
        self.count_early(&mut tenant);
        tenant.life = 0;
        self.tenants[place] = tenant;
        if self.active.first().is_none() {
            self.nobody_is_active();
        }
    }

    /// A tenant of weight 0 has no claim. It comes back to its record if its weight does. What it has used.
    pub(super) fn lose_weight(&mut self, tenant: u128) -> u64 {
        let Some(place) = self.tenants.find(tenant) else {
            return 0;
        };
        if self.is_active(&self.tenants[place]) {
            self.retire(place);
        }
        let mut tenant = self.tenants[place];
        if self.was_left_behind(&tenant) {
            self.count_early(&mut tenant);
        }
        (tenant.life, tenant.weight) = (0, 0);
        self.tenants[place] = tenant;
        self.used_by(&tenant)
    }

    /// Nothing is promised to anybody, so weights are counted afresh.
    pub(super) fn nobody_is_active(&mut self) {
        self.count += 1;
        self.weight = 0;
        self.find_fair_level();
    }

    /// Forgets a few tenants that have not asked for long and have used nothing in this window.
    pub(super) fn forget(&mut self, now: u64) {
        for _ in 0..FORGOTTEN {
            let Some(place) = self.idle.first() else {
                return;
            };
            let tenant = &self.tenants[place];
            let matters = self.used_by(tenant) > 0 || self.counts(tenant);
            if matters || now.saturating_sub(tenant.asked) < self.keep_for {
                return;
            }
            self.remove_idle(place);
        }
    }

    pub(super) fn remove_idle(&mut self, place: u32) {
        self.tenants.leave(&mut self.idle, place);
        self.tenants.remove(place);
    }
}
