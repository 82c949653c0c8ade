//! The shared store, as one node sees it.

use std::sync::Arc;

use throttlekit::{Decision, Error, FixedWindow, Grant, Key, MemoryStore, Store, Tag};

use crate::clock::Charged;

/// The store that all nodes share within one process.
pub(crate) type Shared = Arc<MemoryStore<FixedWindow>>;

/// A node's way to it.
#[derive(Clone, Debug)]
pub(crate) struct NodeStore<L2> {
    shared: L2,
    charged: Charged,
    window: u64,
}

impl<L2> NodeStore<L2> {
    pub(crate) const fn new(shared: L2, charged: Charged, window: u64) -> Self {
        Self {
            shared,
            charged,
            window,
        }
    }
}

type Answer<T, L2> = Result<T, Error<<L2 as Store>::Error>>;

impl<L2: Store<Strategy = FixedWindow>> Store for NodeStore<L2> {
    type Strategy = FixedWindow;
    type Error = L2::Error;

    /// The store itself charges, in the window that ends when the decision says.
    async fn check<K: Key + ?Sized>(
        &self,
        strategy: &FixedWindow,
        key: &K,
        cost: u64,
    ) -> Answer<Decision, L2> {
        let decision = self.shared.check(strategy, key, cost).await?;
        if decision.allowed {
            let end = decision.reset_at.as_micros();
            self.charged.set(end.saturating_sub(self.window));
        }
        Ok(decision)
    }

    async fn peek<K: Key + ?Sized>(&self, strategy: &FixedWindow, key: &K) -> Answer<Decision, L2> {
        self.shared.peek(strategy, key).await
    }

    async fn lease<K: Key + ?Sized>(
        &self,
        strategy: &FixedWindow,
        key: &K,
        want: u64,
        at_least: u64,
    ) -> Answer<Grant, L2> {
        self.shared.lease(strategy, key, want, at_least).await
    }

    async fn give_back<K: Key + ?Sized>(
        &self,
        strategy: &FixedWindow,
        key: &K,
        tag: Tag,
        amount: u64,
    ) -> Answer<u64, L2> {
        self.shared.give_back(strategy, key, tag, amount).await
    }

    async fn reset<K: Key + ?Sized>(&self, strategy: &FixedWindow, key: &K) -> Answer<(), L2> {
        self.shared.reset(strategy, key).await
    }

    async fn check_many<K: Key>(
        &self,
        strategy: &FixedWindow,
        calls: &[(K, u64)],
    ) -> Vec<Answer<Decision, L2>> {
        self.shared.check_many(strategy, calls).await
    }
}
