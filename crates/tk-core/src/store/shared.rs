//! A store that several limiters share.

use alloc::{sync::Arc, vec::Vec};

use super::Answer;
use crate::{Decision, Grant, Key, SyncStore, Tag};

/// A shared store is the store: all who hold it count together.
impl<T: SyncStore> SyncStore for Arc<T> {
    type Strategy = T::Strategy;
    type Error = T::Error;

    #[inline]
    fn check_sync<K: Key + ?Sized>(
        &self,
        strategy: &T::Strategy,
        key: &K,
        cost: u64,
    ) -> Answer<Decision, T::Error> {
        (**self).check_sync(strategy, key, cost)
    }

    fn peek_sync<K: Key + ?Sized>(
        &self,
        strategy: &T::Strategy,
        key: &K,
    ) -> Answer<Decision, T::Error> {
        (**self).peek_sync(strategy, key)
    }

    fn lease_sync<K: Key + ?Sized>(
        &self,
        strategy: &T::Strategy,
        key: &K,
        want: u64,
        at_least: u64,
    ) -> Answer<Grant, T::Error> {
        (**self).lease_sync(strategy, key, want, at_least)
    }

    fn give_back_sync<K: Key + ?Sized>(
        &self,
        strategy: &T::Strategy,
        key: &K,
        tag: Tag,
        amount: u64,
    ) -> Answer<u64, T::Error> {
        (**self).give_back_sync(strategy, key, tag, amount)
    }

    fn reset_sync<K: Key + ?Sized>(&self, strategy: &T::Strategy, key: &K) -> Answer<(), T::Error> {
        (**self).reset_sync(strategy, key)
    }

    fn check_many_sync<K: Key>(
        &self,
        strategy: &T::Strategy,
        calls: &[(K, u64)],
    ) -> Vec<Answer<Decision, T::Error>> {
        (**self).check_many_sync(strategy, calls)
    }
}
