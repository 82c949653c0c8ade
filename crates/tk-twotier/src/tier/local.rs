//! What this node can answer alone.

use std::{sync::Arc, time::Duration};

use tk_core::{Clock, Decision, Key, Store};
use tokio::runtime::Handle;

use super::{Observer, Outcome, Tier, entry::Entry, inner::Inner, leasing::Flight};
use crate::{Served, Spend};

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

impl<L2: Store, C: Clock + 'static, O: Observer> Inner<L2, C, O> {
    /// Decides from credits or a denial at hand: one reading of the clock, one lock, no allocation.
    #[inline]
    pub(super) fn local<K: Key + ?Sized>(this: &Arc<Self>, key: &K, cost: u64) -> Local {
        if this.lease_plan().is_none() && this.plan.max_denial.is_none() {
            return Local::NeedsL2;
        }
        let now = this.clock.monotonic();
        let fingerprint = this.l1.fingerprint(key);
        let mut shard = this.l1.lock(fingerprint);
        let Some((entry, hits)) = shard.find(fingerprint) else {
            return Local::NeedsL2;
        };
        let mut refill = None;
        let (outcome, decision) = match entry.line.ledger.spend(now, cost) {
            Spend::Served(served) if cost > 0 => {
                entry.used_at = now;
                hits.admitted += 1;
                hits.served += cost;
                let lease = this.lease_plan();
                if lease.is_some_and(|lease| lease.rules.refills_at(served.remaining)) {
                    refill = this.refill(entry);
                }
                (Outcome::Admitted, this.served(served))
            }
            _ => match entry.denies(now, cost) {
                Some(decision) => {
                    hits.denied += 1;
                    (Outcome::Denied, decision)
                }
                None => return Local::NeedsL2,
            },
        };
        drop(shard);
        if let Some((flight, runtime)) = refill {
            flight.take_off(&runtime);
        }
        this.observer.checked(outcome, Tier::L1, cost);
        Local::Decided(decision)
    }

    /// The refill that is due, if there is a runtime to do it on.
    #[cold]
    fn refill(self: &Arc<Self>, entry: &mut Entry<L2>) -> Option<(Flight<L2, C, O>, Handle)> {
        let runtime = Handle::try_current().ok()?;
        Some((self.prepare(entry)?, runtime))
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
        let (entry, _) = shard.find(fingerprint)?;
        match entry.line.ledger.spend(now, 0) {
            Spend::Served(served) if served.remaining > 0 => Some(self.served(served)),
            _ => entry.denies(now, 1),
        }
    }
}
