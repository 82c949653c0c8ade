//! What can be asked of shares without a request.

use super::{Shares, Standings, tenants::Tenant};

impl Shares {
    pub(crate) const fn budget(&self) -> u64 {
        self.budget
    }

    /// What of the budget may be used already.
    pub(crate) const fn funds(&self) -> u64 {
        self.funds
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
}
