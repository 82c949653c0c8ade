//! The rule of admission, and what being admitted changes.
//!
//! The crate's documentation states the rule and argues why it is fair.

use super::{
    Claim, Level, Shares, Verdict, saturated,
    tenants::Tenant,
    tree::{Key, New, Side, Sums, Way},
};

impl Shares {
    /// The rule of admission: by what claim a request is admitted, or why it is not.
    pub(super) fn decide(&mut self, place: u32, tenant: &Tenant) -> Result<Claim, Verdict> {
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
            let until = self.next_expiry(place);
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

    pub(super) fn kept(&self, place: u32, short: u128) -> Verdict {
        Verdict::Kept {
            short: saturated(short),
            until: self.next_expiry(place),
        }
    }

    /// What is missing at least, if it is known without looking that a request above the fair level is refused.
    pub(super) fn barred(&self, due: &Key, left: u64) -> Option<u64> {
        let slack = self.bars.slack(due);
        (slack > 0 && self.waiting.dearest().max(self.served.dearest()) <= left).then_some(slack)
    }

    /// Everyone ahead may still rise to the level that the request would reach: to what use that comes, and what they used so far.
    pub(super) fn kept_for_those_ahead(
        &self,
        tenant: &Tenant,
        due: &Key,
        left: u64,
    ) -> (u128, u64) {
        let Sums { early, late } = self.ahead(due, left);
        let need = self.used_at_level(early.weight + late.weight, tenant);
        (need, early.used + late.used)
    }

    /// Below the fair level, where a newcomer competes only for what is not promised: the early may rise to the fair level,
    /// newcomers ahead to the level that the request would reach.
    pub(super) fn kept_from_newcomer(&self, tenant: &Tenant, due: &Key, left: u64) -> (u128, u64) {
        let (promised, used) = self.promised(left);
        let late = self.ahead(due, left).late;
        let need = promised + self.used_at_level(late.weight, tenant);
        (need, used + late.used)
    }

    /// To what use it comes if the early rise to the fair level who have not reached it, and what they used so far.
    pub(super) fn promised(&self, left: u64) -> (u128, u64) {
        let end = Key {
            level: self.fair,
            turn: u64::MAX,
        };
        let Side { weight, used } = self.ahead(&end, left).early;
        let units = u128::from(weight) * u128::from(self.budget);
        (units.div_ceil(u128::from(self.weight.max(1))), used)
    }

    /// What `weight` uses at the level to which the tenant's next cost would take it.
    pub(super) fn used_at_level(&self, weight: u64, tenant: &Tenant) -> u128 {
        let units = self.used_by(tenant) + tenant.cost;
        (u128::from(weight) * u128::from(units)).div_ceil(u128::from(tenant.weight))
    }

    pub(super) fn ahead(&self, bound: &Key, fits: u64) -> Sums {
        let mut sums = self.waiting.ahead(bound, fits, self.epoch);
        sums.add(&self.served.ahead(bound, fits, self.epoch));
        sums
    }

    /// Charges the cost, and moves the tenant to where its next cost is due.
    pub(super) fn charge(&mut self, place: u32, tenant: &mut Tenant, claim: Claim) {
        let first = self.used_by(tenant) == 0;
        let due = tenant.entered.then(|| self.due(tenant));
        let turns = claim != Claim::Promised && tenant.turned_in != self.epoch;
        let next = self.due_after(tenant, turns);
        let way = self.way_to(&next, place, tenant);
        if tenant.entered && !first {
            self.exit_served(place, tenant);
        }
        if turns {
            // What it gets now was not promised, so it goes to the end among equals, once in a window.
            self.exit_waiting(place, tenant);
            tenant.turn = self.next_turn();
            tenant.turned_in = self.epoch;
        } else if tenant.entered && first {
            let item = self.waiting_item(tenant);
            self.waiting.hide(place, &item, self.epoch);
        }
        if claim == Claim::Overdue {
            self.used_overdue += tenant.cost;
        }
        self.used += tenant.cost;
        tenant.used = self.used_by(tenant) + tenant.cost;
        tenant.used_epoch = self.epoch;
        if let Some(due) = due {
            self.bars.moved(&due, &next, tenant.cost);
        }
        if tenant.entered {
            let item = self.served_item(tenant);
            let new = New {
                owner: place,
                key: next,
                item: &item,
            };
            self.served.insert_along(&way, &new, self.epoch);
        } else {
            self.enter(place, tenant);
        }
    }

    /// Where a tenant will be due once it is charged.
    fn due_after(&self, tenant: &Tenant, turns: bool) -> Key {
        let units = self.used_by(tenant) + 2 * tenant.cost;
        Key {
            level: Level::of(units, u64::from(tenant.weight)),
            turn: if turns { self.turns + 1 } else { tenant.turn },
        }
    }

    /// The way to where a tenant is going among those who were served. What is changed where it comes from is asked for on the way.
    fn way_to(&self, next: &Key, place: u32, tenant: &Tenant) -> Way {
        let mut way = self.served.seek(next);
        if tenant.entered && self.used_by(tenant) == 0 {
            self.waiting.expect_above(place);
        } else if tenant.entered {
            self.served.expect_above(place);
        }
        self.served.approach(&mut way, next);
        way
    }
}
