//! What this node can answer alone.

use std::{sync::Arc, time::Duration};

use tk_core::{Clock, Decision, Fingerprint, Key, Monotonic, Store};
use tokio::runtime::Handle;

use super::{Observer, Outcome, Tier, inner::Inner, shard::Shard};
use crate::{Served, Spend, sync::MutexGuard};

/// The outcome of a check that does not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a request that needs the shared store has not been decided on"]
#[allow(
    clippy::exhaustive_enums,
    reason = "either this node can decide or it cannot"
)]
pub enum Local {
    /// Decided by this node.
    Decided(Decision),
    /// Only the shared store can decide. Nothing was charged.
    NeedsL2,
}

/// A request that credits did not do for, and the key's shard, still locked, if the key is known.
pub(crate) struct Missed<'a, L2: Store>(
    Option<(MutexGuard<'a, Shard<L2>>, Fingerprint, Monotonic)>,
);

impl<L2: Store, C: Clock + 'static, O: Observer> Inner<L2, C, O> {
    /// Charges credits at hand, if that is all there is to do: one reading of the clock, one lock, no allocation.
    #[inline(always)]
    pub(super) fn hit<K: Key + ?Sized>(
        self: &Arc<Self>,
        key: &K,
        cost: u64,
    ) -> Result<Decision, Missed<'_, L2>> {
        if self.lease_plan().is_none() && self.plan.max_denial.is_none() {
            return Err(Missed(None));
        }
        let fingerprint = self.l1.fingerprint(key);
        self.l1.prefetch(fingerprint);
        let now = self.clock.monotonic();
        let mut shard = self.l1.lock(fingerprint);
        let Some((slot, hits)) = shard.find(fingerprint) else {
            return Err(Missed(None));
        };
        let Some(served) = slot.spend(now, cost, self.wall_offset()) else {
            return Err(Missed(Some((shard, fingerprint, now))));
        };
        hits.admitted += 1;
        hits.served += cost;
        Ok(self.admit(shard, fingerprint, now, cost, served))
    }

    /// What there is to do once a request has been charged to credits, and what it is told.
    #[inline(always)]
    fn admit(
        self: &Arc<Self>,
        shard: MutexGuard<'_, Shard<L2>>,
        fingerprint: Fingerprint,
        now: Monotonic,
        cost: u64,
        served: Served,
    ) -> Decision {
        if self.refills_at(served.remaining) {
            self.refill(shard, fingerprint, now);
        } else {
            drop(shard);
        }
        self.observer.checked(Outcome::Admitted, Tier::L1, cost);
        self.served(served)
    }

    /// Decides what the purse could not: whether the ledger, or a denial, has an answer.
    #[cold]
    pub(super) fn look(self: &Arc<Self>, missed: Missed<'_, L2>, cost: u64) -> Local {
        let Some((mut shard, fingerprint, now)) = missed.0 else {
            return Local::NeedsL2;
        };
        let Some((mut entry, hits)) = shard.open(fingerprint, now) else {
            return Local::NeedsL2;
        };
        // Some of the credits may have ended, so that the rest serves again; or they do not fit into a purse.
        if cost > 0
            && let Spend::Served(served) = entry.line.ledger.spend(now, cost)
        {
            entry.used_at = now;
            hits.admitted += 1;
            hits.served += cost;
            drop(entry);
            return Local::Decided(self.admit(shard, fingerprint, now, cost, served));
        }
        let Some(decision) = entry.denies(now, cost) else {
            return Local::NeedsL2;
        };
        hits.denied += 1;
        drop(entry);
        drop(shard);
        self.observer.checked(Outcome::Denied, Tier::L1, cost);
        Local::Decided(decision)
    }

    #[inline]
    pub(super) fn refills_at(&self, remaining: u64) -> bool {
        let lease = self.lease_plan();
        lease.is_some_and(|lease| lease.rules.refills_at(remaining))
    }

    /// Begins the refill that is due, if there is a runtime to do it on.
    #[cold]
    fn refill(
        self: &Arc<Self>,
        mut shard: MutexGuard<'_, Shard<L2>>,
        fingerprint: Fingerprint,
        now: Monotonic,
    ) {
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let opened = shard.open(fingerprint, now);
        let flight = opened.and_then(|(mut entry, _)| self.prepare(fingerprint, &mut entry, now));
        drop(shard);
        if let Some(flight) = flight {
            flight.take_off(&runtime);
        }
    }

    /// The decision on a request that was charged to credits.
    #[inline]
    pub(super) fn served(&self, served: Served) -> Decision {
        Decision {
            allowed: true,
            limit: self.capacity(),
            remaining: served.remaining,
            reset_at: served.reset_at,
            retry_after: Duration::ZERO,
        }
    }

    /// What is at hand, without charging it.
    pub(super) fn peek_local<K: Key + ?Sized>(&self, key: &K) -> Option<Decision> {
        let now = self.clock.monotonic();
        let fingerprint = self.l1.fingerprint(key);
        let mut shard = self.l1.lock(fingerprint);
        let (mut entry, _) = shard.open(fingerprint, now)?;
        match entry.line.ledger.spend(now, 0) {
            Spend::Served(served) if served.remaining > 0 => Some(self.served(served)),
            _ => entry.denies(now, 1),
        }
    }
}
