//! Nobody is passed over for ever.
//!
//! With too little for one request of everyone, light tenants are behind heavy ones in every window, since the level of their first request is higher. So whoever is
//! refused before it has had anything in a window goes into a queue, and leaves it when it is served or falls idle. Those who were in
//! it before the window began are *overdue*: what they were refused is kept for them out of what is not promised to anybody, and whoever is first of them is served
//! when it asks, then the next. Not more than half of a window's budget is kept that way (or the cost of the first, if that is more), so that weights count for
//! the rest.
//!
//! Promises may leave less than the first of them wants, and do so in every window if its requests are dear. Then nothing is kept, since it would be left
//! over; and whoever was the first for a whole window and was not served lets all others go ahead.
//!
//! While the same tenant is first, what is kept only shrinks within a window, by what is served out of it at least. So no other tenant was admitted by relying on
//! units that an overdue one then takes.

use super::{Claim, Shares, Tenant, Verdict, saturated};

impl Shares {
    /// Queues up a tenant that was refused, unless it has had something in this window or is in the queue.
    pub(super) fn queue_up(&mut self, place: u32, tenant: &mut Tenant) {
        if tenant.queued > 0 || self.used_by(tenant) > 0 {
            return;
        }
        self.queued += 1;
        tenant.queued = self.queued;
        tenant.queued_cost = tenant.cost;
        self.queue_cost += u128::from(tenant.cost);
        self.tenants.queue(&mut self.queue, place);
    }

    pub(super) fn leave_queue(&mut self, place: u32, tenant: &mut Tenant) {
        if tenant.queued == 0 {
            return;
        }
        self.queue_cost -= u128::from(tenant.queued_cost);
        if tenant.queued <= self.queued_at_roll {
            self.overdue_cost -= u128::from(tenant.queued_cost);
        }
        tenant.queued = 0;
        self.tenants.unqueue(&mut self.queue, place);
    }

    /// A window begins: everyone in the queue is overdue.
    pub(super) fn call_queue(&mut self) {
        self.pass_over_first();
        self.queued_at_roll = self.queued;
        self.overdue_cost = self.queue_cost;
        self.used_overdue = 0;
        let first = self.queue.first().map(|first| &self.tenants[first]);
        let (queued, cost) = first.map_or((0, 0), |first| (first.queued, first.queued_cost));
        self.first_overdue = queued;
        self.dearest_overdue = cost;
    }

    /// Sends whoever has been first since the last window began to the end: there was no room for it beside what is promised, and others wait behind it.
    fn pass_over_first(&mut self) {
        let Some(first) = self.queue.first() else {
            return;
        };
        if self.tenants[first].queued == self.first_overdue {
            self.tenants.unqueue(&mut self.queue, first);
            self.tenants.queue(&mut self.queue, first);
            self.queued += 1;
            self.tenants[first].queued = self.queued;
        }
    }

    /// What is kept for the overdue; nothing if that, or what is left, would not do for the first of them.
    pub(super) fn kept_for_overdue(&self) -> u64 {
        if self.overdue_cost == 0 {
            return 0;
        }
        let most = self.budget.div_ceil(2).max(self.dearest_overdue);
        let kept = saturated(self.overdue_cost).min(most.saturating_sub(self.used_overdue));
        let most = kept.min(self.budget.saturating_sub(self.used));
        let first = self.queue.first();
        let will_do = first.is_some_and(|first| self.tenants[first].queued_cost <= most);
        if will_do { kept } else { 0 }
    }

    /// Whether it is this tenant's turn, and what is kept for it will do.
    pub(super) fn is_overdue(&self, place: u32, tenant: &Tenant) -> bool {
        (1..=self.queued_at_roll).contains(&tenant.queued)
            && self.queue.first() == Some(place)
            && tenant.cost <= self.kept_for_overdue()
    }

    /// The rule for whoever is overdue: what is promised to others stays.
    pub(super) fn serve_overdue(
        &self,
        place: u32,
        tenant: &Tenant,
        left: u64,
    ) -> Result<Claim, Verdict> {
        let (promised, used) = self.promised(left);
        let have = u128::from(left - tenant.cost) + u128::from(used);
        if promised <= have {
            Ok(Claim::Overdue)
        } else {
            Err(self.kept(place, promised - have))
        }
    }
}
