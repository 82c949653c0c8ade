//! The rule of fair shares, without clock or lock: who is admitted out of a budget.
//!
//! The crate's documentation argues why it is fair. Here is the rule, and how it is computed in few steps.
//!
//! Everyone active is in `waiting`, ordered by the level of a first cost. It outlives windows. Whoever was served in the present window is
//! hidden there and stands in `served` by the level of the next cost; that tree is dropped when the window
//! ends. Both together are always everyone active in order of what is due next.

mod bars;
mod comings;
mod index;
mod level;
mod overdue;
mod slab;
mod tenants;
#[cfg(test)]
mod tests;
mod tree;
#[cfg(test)]
mod twin;

use std::ops::Range;

use bars::Bars;
use level::Level;
use tenants::{Line, Tenant, Tenants};
use tree::{Item, Key, Side, Standing, Sums, Tree};

/// Tenants that one call may find idle, or find to be the only ones who are not. Each costs about a microsecond at a million tenants.
const EXPIRIES: usize = 512;

/// Records that one call may forget.
const FORGOTTEN: usize = 4;

/// What a request gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is charged.
    Admitted,
    /// The budget is used up but for less than the cost; `short` is missing.
    Exhausted { short: u64 },
    /// What is left is kept for others, who are ahead; at least `short` is missing. Nothing changes before `until`, if nobody asks.
    Kept { short: u64, until: u64 },
    /// It is due, but `short` is missing of what may be used already.
    Unfunded { short: u64 },
    /// There is no room for another tenant, and will not be before `until`.
    Full { until: u64 },
    /// A tenant of weight zero gets nothing.
    Weightless,
}

/// By what right a request is admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// It was promised.
    Promised,
    /// Nobody who is ahead needs it.
    Beyond,
    /// Its tenant had nothing for a whole window.
    Overdue,
}

/// A request for some of the budget.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) tenant: u128,
    pub(crate) weight: u32,
    pub(crate) cost: u64,
    pub(crate) now: u64,
}

/// What a tenant has and had, for decisions and statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Standings {
    pub(crate) weight: u32,
    pub(crate) used: u64,
    pub(crate) active: bool,
    pub(crate) early: bool,
}

/// One budget and those who share it.
#[derive(Debug)]
pub(crate) struct Shares {
    idle_after: u64,
    /// How long a record is kept at least after its tenant asked, so that it keeps its turn.
    keep_for: u64,
    max_tenants: usize,
    /// Counts windows.
    epoch: u64,
    expiries: usize,
    /// Counts how often the trees were begun afresh, and what that was when the window began.
    life: u64,
    life_at_roll: u64,
    /// Counts how often the window's sum of weights was begun afresh, and what that was when the window began.
    count: u64,
    count_at_roll: u64,
    /// The newest instant seen.
    latest: u64,
    /// What is shared out, and what of it may be used already: less while a store lends it bit by bit.
    budget: u64,
    funds: u64,
    used: u64,
    /// The sum of the weights of all who were active in this window.
    weight: u64,
    /// The level that the budget allows to everyone: `budget / weight`.
    fair: Level,
    turns: u64,
    /// Turns that are set apart for newcomers.
    newcomers: Range<u64>,
    tenants: Tenants,
    active: Line,
    idle: Line,
    waiting: Tree,
    served: Tree,
    bars: Bars,
    /// Those who were refused and have had nothing since.
    queue: Line,
    /// Counts those who came into the queue, and what that was when the window began.
    queued: u64,
    queued_at_roll: u64,
    /// What those in the queue were refused, and what those of them who were in it when the window began.
    queue_cost: u128,
    overdue_cost: u128,
    /// What the first of them was refused when the window began.
    dearest_overdue: u64,
    /// What was used in this window by those who were overdue.
    used_overdue: u64,
}

impl Shares {
    pub(crate) fn new(idle_after: u64, keep_for: u64, max_tenants: usize) -> Self {
        Self {
            idle_after,
            keep_for,
            max_tenants,
            epoch: 1,
            expiries: EXPIRIES,
            life: 1,
            life_at_roll: 1,
            count: 1,
            count_at_roll: 1,
            latest: 0,
            budget: 0,
            funds: 0,
            used: 0,
            weight: 0,
            fair: Level::default(),
            turns: 0,
            newcomers: 0..0,
            tenants: Tenants::new(),
            active: Line::EMPTY,
            idle: Line::EMPTY,
            waiting: Tree::new(),
            served: Tree::new(),
            bars: Bars::default(),
            queue: Line::EMPTY,
            queued: 0,
            queued_at_roll: 0,
            queue_cost: 0,
            overdue_cost: 0,
            dearest_overdue: 0,
            used_overdue: 0,
        }
    }

    /// Begins a window at `start` with a new budget. Whoever is active then is early in it.
    pub(crate) fn roll(&mut self, start: u64, budget: u64) {
        self.expire(start);
        self.epoch += 1;
        self.budget = budget;
        self.funds = budget;
        self.used = 0;
        self.served.clear();
        self.count += 1;
        self.count_at_roll = self.count;
        self.life_at_roll = self.life;
        self.weight = self.waiting.weight();
        self.bars.clear();
        self.call_queue();
        self.set_turns_apart();
        self.find_fair_level();
    }

    /// Adds to what may be used in this window; `spare` more is to be had, and is shared out already.
    pub(crate) fn fund(&mut self, amount: u64, spare: u64) {
        self.funds += amount;
        self.budget = self.funds + spare;
        self.bars.clear();
        self.find_fair_level();
    }

    /// Parts with up to `most` units that nobody has used; how many.
    pub(crate) fn part_with(&mut self, most: u64) -> u64 {
        let amount = most.min(self.unspent());
        self.funds -= amount;
        self.budget = self.budget.saturating_sub(amount).max(self.funds);
        self.bars.clear();
        self.find_fair_level();
        amount
    }

    /// What may be used and is not.
    pub(crate) const fn unspent(&self) -> u64 {
        self.funds - self.used
    }

    /// Decides on a request, and charges it if the answer is yes. Also what the tenant has used after it.
    pub(crate) fn ask(&mut self, ask: &Ask) -> (Verdict, u64) {
        let now = ask.now.max(self.latest);
        self.latest = now;
        self.expire(now);
        self.forget(now);
        if ask.weight == 0 {
            self.leave(ask.tenant);
            return (Verdict::Weightless, 0);
        }
        let Some(place) = self.record(ask.tenant) else {
            let until = self.next_expiry(None);
            return (Verdict::Full { until }, 0);
        };
        let mut tenant = self.appear(place, ask, now);
        let verdict = match self.decide(place, &tenant) {
            Ok(claim) => {
                self.leave_queue(place, &mut tenant);
                self.charge(&mut tenant, claim);
                Verdict::Admitted
            }
            Err(refused) => {
                self.enter(&mut tenant);
                self.queue_up(place, &mut tenant);
                refused
            }
        };
        self.tenants[place] = tenant;
        (verdict, self.used_by(&tenant))
    }

    /// Forgets a tenant. What it used stays used.
    pub(crate) fn leave(&mut self, tenant: u128) {
        let Some(place) = self.tenants.find(tenant) else {
            return;
        };
        if self.is_active(&self.tenants[place]) {
            self.retire(place);
        }
        self.tenants.leave(&mut self.idle, place);
        self.tenants.remove(place);
    }

    pub(crate) const fn budget(&self) -> u64 {
        self.budget
    }

    pub(crate) const fn used(&self) -> u64 {
        self.used
    }

    /// The sum of the weights of all who were active in this window.
    pub(crate) const fn weight(&self) -> u64 {
        self.weight
    }

    /// The sum of the weights of all who are active at `now`.
    pub(crate) fn active_weight(&mut self, now: u64) -> u64 {
        self.expire(now.max(self.latest));
        self.waiting.weight()
    }

    /// What those have used in this window who are not active any more.
    pub(crate) fn settled(&self) -> u64 {
        self.used - self.served.used()
    }

    /// The last microsecond at which a tenant that asked just now is still active.
    pub(crate) const fn last_active(&self) -> u64 {
        self.latest + self.idle_after - 1
    }

    pub(crate) fn tenant(&self, tenant: u128) -> Standings {
        let place = self.tenants.find(tenant);
        place.map_or_else(Standings::default, |place| {
            self.standings(&self.tenants[place])
        })
    }

    /// Everyone known, whoever has not asked longest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u128, Standings)> {
        let idle = self.tenants.iter(&self.idle);
        let known = idle.chain(self.tenants.iter(&self.active));
        known.map(|(id, tenant)| (id, self.standings(tenant)))
    }

    fn standings(&self, tenant: &Tenant) -> Standings {
        let active = self.is_active(tenant) && tenant.asked + self.idle_after > self.latest;
        Standings {
            weight: tenant.weight,
            used: self.used_by(tenant),
            active,
            early: active && tenant.late_epoch != self.epoch,
        }
    }

    /// The rule of admission: by what claim a request is admitted, or why it is not.
    fn decide(&mut self, place: u32, tenant: &Tenant) -> Result<Claim, Verdict> {
        let left = self.budget.saturating_sub(self.used);
        let Some(spare) = left.checked_sub(tenant.cost) else {
            let short = tenant.cost - left;
            return Err(Verdict::Exhausted { short });
        };
        let due = self.due(tenant);
        let within = due.level <= self.fair;
        let unspent = self.unspent();
        let funded = |claim| match tenant.cost.checked_sub(unspent) {
            None | Some(0) => Ok(claim),
            Some(short) => Err(Verdict::Unfunded { short }),
        };
        if within && tenant.late_epoch != self.epoch {
            return funded(Claim::Promised);
        }
        if self.is_overdue(place, tenant) {
            return self.serve_overdue(place, tenant, left).and_then(funded);
        }
        if !within && let Some(short) = self.barred(&due, left) {
            let until = self.next_expiry(Some(place));
            return Err(Verdict::Kept { short, until });
        }
        let (need, used) = if within {
            self.kept_from_newcomer(tenant, &due, left)
        } else {
            self.kept_for_those_ahead(tenant, &due, left)
        };
        let have = u128::from(spare) + u128::from(used);
        if !within && need > have {
            // `need` was rounded up.
            self.bars.raise(due, saturated(need - have - 1));
        }
        let need = need + u128::from(self.kept_for_overdue());
        if need <= have {
            return funded(Claim::Beyond);
        }
        Err(self.kept(place, need - have))
    }

    fn kept(&self, place: u32, short: u128) -> Verdict {
        Verdict::Kept {
            short: saturated(short),
            until: self.next_expiry(Some(place)),
        }
    }

    /// What is missing at least, if it is known without looking that a request above the fair level is refused.
    fn barred(&self, due: &Key, left: u64) -> Option<u64> {
        let slack = self.bars.slack(due);
        (slack > 0 && self.waiting.dearest().max(self.served.dearest()) <= left).then_some(slack)
    }

    /// Everyone ahead may still rise to the level that the request would reach: to what use that comes, and what they used so far.
    fn kept_for_those_ahead(&self, tenant: &Tenant, due: &Key, left: u64) -> (u128, u64) {
        let Sums { early, late } = self.ahead(due, left);
        let need = self.used_at_level(early.weight + late.weight, tenant);
        (need, early.used + late.used)
    }

    /// Below the fair level, where a newcomer competes only for what is not promised: the early may rise to the fair level,
    /// newcomers ahead to the level that the request would reach.
    fn kept_from_newcomer(&self, tenant: &Tenant, due: &Key, left: u64) -> (u128, u64) {
        let (promised, used) = self.promised(left);
        let late = self.ahead(due, left).late;
        let need = promised + self.used_at_level(late.weight, tenant);
        (need, used + late.used)
    }

    /// To what use it comes if the early rise to the fair level who have not reached it, and what they used so far.
    fn promised(&self, left: u64) -> (u128, u64) {
        let end = Key {
            level: self.fair,
            turn: u64::MAX,
        };
        let Side { weight, used } = self.ahead(&end, left).early;
        let units = u128::from(weight) * u128::from(self.budget);
        (units.div_ceil(u128::from(self.weight.max(1))), used)
    }

    /// What `weight` uses at the level to which the tenant's next cost would take it.
    fn used_at_level(&self, weight: u64, tenant: &Tenant) -> u128 {
        let units = self.used_by(tenant) + tenant.cost;
        (u128::from(weight) * u128::from(units)).div_ceil(u128::from(tenant.weight))
    }

    fn ahead(&self, bound: &Key, fits: u64) -> Sums {
        let mut sums = self.waiting.ahead(bound, fits, self.epoch);
        sums.add(&self.served.ahead(bound, fits, self.epoch));
        sums
    }

    /// Charges the cost, and moves the tenant to where its next cost is due.
    fn charge(&mut self, tenant: &mut Tenant, claim: Claim) {
        let first = self.used_by(tenant) == 0;
        let due = tenant.entered.then(|| self.due(tenant));
        let turns = claim != Claim::Promised && tenant.turned_in != self.epoch;
        if tenant.entered && !first {
            self.exit_served(tenant);
        }
        if turns {
            // What it gets now was not promised, so it goes to the end among equals, once in a window.
            self.exit_waiting(tenant);
            tenant.turn = self.next_turn();
            tenant.turned_in = self.epoch;
        } else if tenant.entered && first {
            let item = self.waiting_item(tenant);
            self.waiting.hide(self.first_due(tenant), &item, self.epoch);
        }
        if claim == Claim::Overdue {
            self.used_overdue += tenant.cost;
        }
        self.used += tenant.cost;
        tenant.used = self.used_by(tenant) + tenant.cost;
        tenant.used_epoch = self.epoch;
        if let Some(due) = due {
            let next = self.due(tenant);
            self.bars.moved(&due, &next, tenant.cost);
        }
        if tenant.entered {
            self.enter_served(tenant);
        } else {
            self.enter(tenant);
        }
    }

    /// When the first reservation ends, other than `asking`'s own; the end of time if there is none.
    fn next_expiry(&self, asking: Option<u32>) -> u64 {
        self.active
            .first()
            .filter(|first| Some(*first) != asking)
            .map_or(u64::MAX, |first| {
                self.tenants[first].asked.saturating_add(self.idle_after)
            })
    }

    fn find_fair_level(&mut self) {
        self.fair = Level::of(self.budget, self.weight);
    }

    /// Puts an active tenant into the trees, if it is not there.
    fn enter(&mut self, tenant: &mut Tenant) {
        if tenant.entered {
            return;
        }
        tenant.entered = true;
        let item = self.waiting_item(tenant);
        self.waiting
            .insert(self.first_due(tenant), item, self.epoch);
        if item.standing == Standing::Hidden {
            self.enter_served(tenant);
        }
    }

    /// What the tree of those who wait holds of a tenant.
    fn waiting_item(&self, tenant: &Tenant) -> Item {
        Item {
            weight: tenant.weight,
            standing: if self.used_by(tenant) > 0 {
                Standing::Hidden
            } else {
                self.standing(tenant)
            },
            used: 0,
            cost: tenant.cost,
        }
    }

    /// What the tree of those who were served in this window holds of a tenant.
    const fn served_item(&self, tenant: &Tenant) -> Item {
        Item {
            weight: tenant.weight,
            standing: self.standing(tenant),
            used: tenant.used,
            cost: tenant.cost,
        }
    }

    fn enter_served(&mut self, tenant: &Tenant) {
        let item = self.served_item(tenant);
        self.served.insert(self.due(tenant), item, self.epoch);
    }

    fn exit_served(&mut self, tenant: &Tenant) {
        let item = self.served_item(tenant);
        self.served.remove(self.due(tenant), &item, self.epoch);
    }

    /// Takes a tenant out of the trees.
    fn exit(&mut self, tenant: &mut Tenant) {
        if tenant.entered {
            let due = self.due(tenant);
            self.bars.left(&due, tenant.weight);
        }
        if tenant.entered && self.used_by(tenant) > 0 {
            self.exit_served(tenant);
        }
        self.exit_waiting(tenant);
    }

    fn exit_waiting(&mut self, tenant: &mut Tenant) {
        if tenant.entered {
            let item = self.waiting_item(tenant);
            self.waiting
                .remove(self.first_due(tenant), &item, self.epoch);
            tenant.entered = false;
        }
    }

    fn is_active(&self, tenant: &Tenant) -> bool {
        tenant.life == self.life
    }

    /// Whether it has been active in this window, and was found idle when the trees were begun afresh.
    const fn was_left_behind(&self, tenant: &Tenant) -> bool {
        tenant.life != self.life
            && tenant.life >= self.life_at_roll
            && self.count == self.count_at_roll
    }

    const fn used_by(&self, tenant: &Tenant) -> u64 {
        if tenant.used_epoch == self.epoch {
            tenant.used
        } else {
            0
        }
    }

    const fn standing(&self, tenant: &Tenant) -> Standing {
        if tenant.late_epoch == self.epoch {
            Standing::Late
        } else {
            Standing::Early
        }
    }

    /// Where a tenant stands in line with its next cost.
    fn due(&self, tenant: &Tenant) -> Key {
        Key {
            level: Level::of(self.used_by(tenant) + tenant.cost, u64::from(tenant.weight)),
            turn: tenant.turn,
        }
    }

    /// Where it stands while it has used nothing.
    fn first_due(&self, tenant: &Tenant) -> Key {
        Key {
            level: Level::of(tenant.cost, u64::from(tenant.weight)),
            turn: tenant.turn,
        }
    }
}

fn saturated(units: u128) -> u64 {
    u64::try_from(units).unwrap_or(u64::MAX)
}
