//! Forgetting a key.

use std::sync::{Arc, atomic::Ordering};

use tk_core::{Clock, Error, Fingerprint, Key, OwnedKey, Store};
use tokio::sync::oneshot;

use super::{Answer, Observer, TierError, entry::GivenUp, inner::Inner};

impl<L2: Store, C: Clock + 'static, O: Observer> Inner<L2, C, O> {
    /// Rule 8: first this node, so that nothing from before is spent meanwhile, then the shared store, then this node again, for
    /// what was granted in between may be from before the store's reset.
    pub(super) async fn reset<K: Key + ?Sized>(this: &Arc<Self>, key: &K) -> Answer<(), L2> {
        this.refuse_if_closed()?;
        let fingerprint = this.l1.fingerprint(key);
        if let Some(given_up) = this.forget(fingerprint) {
            // The store would refuse them.
            this.strand(given_up.units());
        }
        if this.lease_plan().is_none() {
            let strategy = this.strategy();
            let answer = this.l2.reset(&strategy, &this.keyed(key)).await;
            let _ = this.forget(fingerprint);
            return this.called(answer);
        }
        // On a task of its own: the third step must not be lost with the caller.
        let runtime = Self::runtime()?;
        let (inner, key) = (this.clone(), OwnedKey::of(key));
        let (tell, told) = oneshot::channel();
        this.tasks.spawn(&runtime, async move {
            let strategy = inner.strategy();
            let answer = inner.l2.reset(&strategy, &inner.keyed(&key)).await;
            let given_up = inner.forget(fingerprint);
            Self::hand_back_later(&inner, given_up.into_iter().collect());
            // The caller may have gone away.
            let _ = tell.send(inner.called(answer));
        });
        told.await.unwrap_or(Err(Error::Store(TierError::Lost)))
    }

    fn forget(&self, fingerprint: Fingerprint) -> Option<GivenUp> {
        self.resets.fetch_add(1, Ordering::AcqRel);
        let now = self.clock.monotonic();
        let mut shard = self.l1.lock(fingerprint);
        let (mut entry, _) = shard.open(fingerprint, now)?;
        entry.local = None;
        entry.denial = None;
        let rules = &self.lease_plan()?.rules;
        Some(entry.start_over(rules, now))
    }
}
