//! What the tree knows of tenants, and what it sums up.

use crate::shares::level::Level;

/// A tenant's place in line: the level that its next cost would take it to, and its turn among equals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) level: Level,
    /// Unique, so keys are.
    pub(crate) turn: u64,
}

/// What a tenant is to the present window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Active since its first instant, so something of it is promised.
    #[default]
    Early,
    /// Joined since.
    Late,
    /// Not counted here.
    Hidden,
}

/// What the tree knows of a tenant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) weight: u32,
    pub(crate) standing: Standing,
    pub(crate) used: u64,
    pub(crate) cost: u64,
}

/// Sums over some tenants of one standing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) weight: u64,
    pub(crate) used: u64,
}

/// Sums over some tenants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) early: Side,
    pub(crate) late: Side,
}

impl Sums {
    #[inline]
    pub(crate) fn add(&mut self, other: &Self) {
        self.early.weight += other.early.weight;
        self.early.used += other.early.used;
        self.late.weight += other.late.weight;
        self.late.used += other.late.used;
    }

    #[inline]
    pub(crate) fn count(&mut self, item: &Item) {
        if let Some(side) = self.side(item.standing) {
            side.weight += u64::from(item.weight);
            side.used += item.used;
        }
    }

    #[inline]
    pub(crate) fn discount(&mut self, item: &Item) {
        if let Some(side) = self.side(item.standing) {
            side.weight -= u64::from(item.weight);
            side.used -= item.used;
        }
    }

    #[inline]
    const fn side(&mut self, standing: Standing) -> Option<&mut Side> {
        match standing {
            Standing::Early => Some(&mut self.early),
            Standing::Late => Some(&mut self.late),
            Standing::Hidden => None,
        }
    }
}

impl Key {
    /// `self < other`, without a branch that a processor could only guess.
    #[inline(always)]
    pub(crate) fn is_before(&self, other: &Self) -> bool {
        let (level, theirs) = (self.level.bits(), other.level.bits());
        (level < theirs) | ((level == theirs) & (self.turn < other.turn))
    }
}

/// Bounds on some costs. They may be wider than the costs are: taking one out does not narrow them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Costs {
    pub(crate) least: u64,
    pub(crate) most: u64,
}

impl Default for Costs {
    /// The bounds of no costs.
    fn default() -> Self {
        Self {
            least: u64::MAX,
            most: 0,
        }
    }
}

impl Costs {
    #[inline]
    pub(crate) fn widen(&mut self, least: u64, most: u64) {
        self.least = self.least.min(least);
        self.most = self.most.max(most);
    }
}

/// What is below a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Total {
    /// The sum of weights, whatever the marks say.
    pub(crate) weight: u64,
    pub(crate) costs: Costs,
    /// The sums over those that count in the node's epoch.
    pub(crate) sums: Sums,
}

impl Total {
    #[inline]
    pub(crate) fn count(&mut self, item: &Item) {
        self.weight += u64::from(item.weight);
        self.sums.count(item);
        self.costs.widen(item.cost, item.cost);
    }
}
