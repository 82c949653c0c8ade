//! The rule of fair shares, without clock or lock: who is admitted out of a budget.
//!
//! The crate's documentation argues why it is fair. Here is how it is computed in few steps.
//!
//! Everyone active is in `waiting`, ordered by the level of a first cost. It outlives windows. Whoever was served in the present window is
//! hidden there and stands in `served` by the level of the next cost; that tree is dropped when the window
//! ends. Both together are always everyone active in order of what is due next.

mod bars;
mod comings;
mod facts;
mod index;
mod level;
mod overdue;
mod rule;
mod slab;
mod standing;
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
use tree::Tree;

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
    /// There is no room for another tenant in this window, unless nobody is active any more, which will not be before `until`.
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
    /// When the one came into the queue who was the first of them when the window began, and what it was refused.
    first_overdue: u64,
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
            first_overdue: 0,
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
            return (Verdict::Weightless, self.lose_weight(ask.tenant));
        }
        let Some(place) = self.record(ask.tenant) else {
            let until = self.last_expiry();
            return (Verdict::Full { until }, 0);
        };
        self.waiting.expect(place);
        let mut tenant = self.appear(place, ask, now);
        let verdict = match self.decide(place, &tenant) {
            Ok(claim) => {
                self.leave_queue(place, &mut tenant);
                self.charge(place, &mut tenant, claim);
                Verdict::Admitted
            }
            Err(refused) => {
                self.enter(place, &mut tenant);
                self.queue_up(place, &mut tenant);
                refused
            }
        };
        self.tenants[place] = tenant;
        (verdict, self.used_by(&tenant))
    }

    /// Makes a newcomer of a tenant. What it used stays used, and it goes on counting in the window's sum of weights.
    pub(crate) fn leave(&mut self, tenant: u128) {
        let Some(place) = self.tenants.find(tenant) else {
            return;
        };
        if self.is_active(&self.tenants[place]) {
            self.retire(place);
        }
        if self.counts(&self.tenants[place]) {
            let turn = self.turn_of_newcomer();
            let tenant = &mut self.tenants[place];
            (tenant.used, tenant.turn, tenant.turned_in) = (0, turn, 0);
        } else {
            self.remove_idle(place);
        }
    }

    /// When the first reservation ends, other than `asking`'s own; the end of time if there is none.
    fn next_expiry(&self, asking: u32) -> u64 {
        self.active
            .first()
            .filter(|first| *first != asking)
            .map_or(u64::MAX, |first| {
                self.tenants[first].asked.saturating_add(self.idle_after)
            })
    }

    /// When nobody is active any more, if nobody asks.
    fn last_expiry(&self) -> u64 {
        self.active.last().map_or(u64::MAX, |last| {
            self.tenants[last].asked.saturating_add(self.idle_after)
        })
    }

    fn find_fair_level(&mut self) {
        self.fair = Level::of(self.budget, self.weight);
    }
}

fn saturated(units: u128) -> u64 {
    u64::try_from(units).unwrap_or(u64::MAX)
}
