//! The shared store, as one node sees it.

use std::{convert::Infallible, sync::Arc};

use throttlekit::{Decision, Error, FixedWindow, Grant, Key, MemoryStore, SyncStore, Tag};

use crate::clock::Charged;

/// The store that all nodes share, within this process.
pub(crate) type Shared = Arc<MemoryStore<FixedWindow>>;

/// A node's way to it.
#[derive(Clone, Debug)]
pub(crate) struct NodeStore {
    shared: Shared,
    charged: Charged,
    window: u64,
}

impl NodeStore {
    pub(crate) const fn new(shared: Shared, charged: Charged, window: u64) -> Self {
        Self {
            shared,
            charged,
            window,
        }
    }
}

type Answer<T> = Result<T, Error<Infallible>>;

impl SyncStore for NodeStore {
    type Strategy = FixedWindow;
    type Error = Infallible;

    /// The store itself charges, in the window that ends when the decision says.
    fn check_sync<K: Key + ?Sized>(
        &self,
        strategy: &FixedWindow,
        key: &K,
        cost: u64,
    ) -> Answer<Decision> {
        let decision = self.shared.check_sync(strategy, key, cost)?;
        if decision.allowed {
            let end = decision.reset_at.as_micros();
            self.charged.set(end.saturating_sub(self.window));
        }
        Ok(decision)
    }

    fn peek_sync<K: Key + ?Sized>(&self, strategy: &FixedWindow, key: &K) -> Answer<Decision> {
        self.shared.peek_sync(strategy, key)
    }

    fn lease_sync<K: Key + ?Sized>(
        &self,
        strategy: &FixedWindow,
        key: &K,
        want: u64,
        at_least: u64,
    ) -> Answer<Grant> {
        self.shared.lease_sync(strategy, key, want, at_least)
    }

    fn give_back_sync<K: Key + ?Sized>(
        &self,
        strategy: &FixedWindow,
        key: &K,
        tag: Tag,
        amount: u64,
    ) -> Answer<u64> {
        self.shared.give_back_sync(strategy, key, tag, amount)
    }

    fn reset_sync<K: Key + ?Sized>(&self, strategy: &FixedWindow, key: &K) -> Answer<()> {
        self.shared.reset_sync(strategy, key)
    }

    fn check_many_sync<K: Key>(
        &self,
        strategy: &FixedWindow,
        calls: &[(K, u64)],
    ) -> Vec<Answer<Decision>> {
        self.shared.check_many_sync(strategy, calls)
    }
}
