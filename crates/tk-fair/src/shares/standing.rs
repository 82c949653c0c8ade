//! Where a tenant stands in line, and how it gets there.
//!
//! Everyone active is in `waiting` at the level of a first cost. Whoever was served in this window is hidden there, and is in `served` at the level of
//! the next cost.

use super::{
    Shares,
    level::Level,
    tenants::Tenant,
    tree::{Item, Key, New, Standing},
};

impl Shares {
    /// Puts an active tenant into the trees, if it is not there.
    pub(super) fn enter(&mut self, place: u32, tenant: &mut Tenant) {
        if tenant.entered {
            return;
        }
        tenant.entered = true;
        let item = self.waiting_item(tenant);
        let new = New {
            owner: place,
            key: self.first_due(tenant),
            item: &item,
        };
        self.waiting.insert(&new, self.epoch);
        if item.standing == Standing::Hidden {
            self.enter_served(place, tenant);
        }
    }

    /// What the tree of those who wait holds of a tenant.
    pub(super) fn waiting_item(&self, tenant: &Tenant) -> Item {
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
    pub(super) const fn served_item(&self, tenant: &Tenant) -> Item {
        Item {
            weight: tenant.weight,
            standing: self.standing(tenant),
            used: tenant.used,
            cost: tenant.cost,
        }
    }

    pub(super) fn enter_served(&mut self, place: u32, tenant: &Tenant) {
        let item = self.served_item(tenant);
        let new = New {
            owner: place,
            key: self.due(tenant),
            item: &item,
        };
        self.served.insert(&new, self.epoch);
    }

    pub(super) fn exit_served(&mut self, place: u32, tenant: &Tenant) {
        let item = self.served_item(tenant);
        self.served.remove(place, &item, self.epoch);
    }

    /// Takes a tenant out of the trees.
    pub(super) fn exit(&mut self, place: u32, tenant: &mut Tenant) {
        if tenant.entered {
            let due = self.due(tenant);
            self.bars.left(&due, tenant.weight);
        }
        if tenant.entered && self.used_by(tenant) > 0 {
            self.exit_served(place, tenant);
        }
        self.exit_waiting(place, tenant);
    }

    pub(super) fn exit_waiting(&mut self, place: u32, tenant: &mut Tenant) {
        if tenant.entered {
            let item = self.waiting_item(tenant);
            self.waiting.remove(place, &item, self.epoch);
            tenant.entered = false;
        }
    }

    pub(super) fn is_active(&self, tenant: &Tenant) -> bool {
        tenant.life == self.life
    }

    /// Whether it has been active in this window, and was found idle when the trees were begun afresh.
    pub(super) const fn was_left_behind(&self, tenant: &Tenant) -> bool {
        tenant.life != self.life
            && tenant.life >= self.life_at_roll
            && self.count == self.count_at_roll
    }

    /// Whether a tenant that is idle counts in the window's sum of weights.
    pub(super) const fn counts(&self, tenant: &Tenant) -> bool {
        tenant.counted_in == self.count || self.was_left_behind(tenant)
    }

    pub(super) const fn used_by(&self, tenant: &Tenant) -> u64 {
        if tenant.used_epoch == self.epoch {
            tenant.used
        } else {
            0
        }
    }

    pub(super) const fn standing(&self, tenant: &Tenant) -> Standing {
        if tenant.late_epoch == self.epoch {
            Standing::Late
        } else {
            Standing::Early
        }
    }

    /// Where a tenant stands in line with its next cost.
    pub(super) fn due(&self, tenant: &Tenant) -> Key {
        Key {
            level: Level::of(self.used_by(tenant) + tenant.cost, u64::from(tenant.weight)),
            turn: tenant.turn,
        }
    }

    /// Where it stands while it has used nothing.
    pub(super) fn first_due(&self, tenant: &Tenant) -> Key {
        Key {
            level: Level::of(tenant.cost, u64::from(tenant.weight)),
            turn: tenant.turn,
        }
    }
}
