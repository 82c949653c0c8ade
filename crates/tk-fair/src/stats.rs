//! What an escrow tells about itself.

use tk_core::Timestamp;

use crate::{TenantId, shares::Shares};

/// One window as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// The window's first instant; an estimate if the window belongs to a store.
    pub window: Timestamp,
    /// The most that may be admitted in a window.
    pub limit: u64,
    /// The part of it that may be shared out here, so far: less than the limit if a store lends it bit by bit.
    pub effective_limit: u64,
    /// What of that is not used.
    pub pool: u64,
    /// The sum of the weights of all who were active in this window.
    pub weight: u64,
    /// Everyone known, whoever has not asked longest first.
    pub tenants: Vec<(TenantId, TenantStats)>,
}

/// One tenant in this window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TenantStats {
    /// Its weight when it last asked.
    pub weight: u64,
    /// Units it was admitted for.
    pub used: u64,
    /// It asked less than `idle_after` ago.
    pub active: bool,
    /// It has been active since before the window began, so its share is promised.
    pub promised: bool,
}

impl TenantStats {
    pub(crate) fn of(shares: &Shares, tenant: TenantId) -> Self {
        shares.tenant(tenant.0).into()
    }
}

impl From<crate::shares::Standings> for TenantStats {
    fn from(standings: crate::shares::Standings) -> Self {
        Self {
            weight: u64::from(standings.weight),
            used: standings.used,
            active: standings.active,
            promised: standings.early,
        }
    }
}

impl Stats {
    pub(crate) fn of(shares: &Shares, window: Timestamp, limit: u64) -> Self {
        let known = shares
            .iter()
            .map(|(id, standings)| (TenantId(id), standings.into()));
        Self {
            window,
            limit,
            effective_limit: shares.budget(),
            pool: shares.budget().saturating_sub(shares.used()),
            weight: shares.weight(),
            tenants: known.collect(),
        }
    }
}
