//! A limit whose answer is awaited.

use core::future::Future;

#[cfg(feature = "alloc")]
use crate::{ConfigError, Range};
use crate::{Decision, Error, Key, Limiter, Prefix, Store, swap::Swap};

/// A strategy over any store; the answers are awaited.
///
/// Over a store that answers at once the futures are ready at once. Dropping a future before it is ready leaves open
/// whether the call was applied.
#[derive(Debug)]
pub struct AsyncRateLimiter<St: Store> {
    strategy: Swap<St::Strategy>,
    store: St,
    #[cfg(feature = "alloc")]
    prefix: Option<alloc::boxed::Box<str>>,
}

impl<St: Store> AsyncRateLimiter<St> {
    /// A limiter that applies `strategy` to the states in `store`.
    #[must_use]
    pub const fn new(strategy: St::Strategy, store: St) -> Self {
        Self {
            strategy: Swap::new(strategy),
            store,
            #[cfg(feature = "alloc")]
            prefix: None,
        }
    }

    /// Puts all keys into a name space, so that limiters over one store count apart.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Name`] if `prefix` is empty, longer than 128 bytes, or holds a control character.
    #[cfg(feature = "alloc")]
    pub fn with_prefix(mut self, prefix: &str) -> Result<Self, ConfigError> {
        self.prefix = Some(Range::name("prefix", prefix)?.into());
        Ok(self)
    }

    /// Decides on a request of cost 1.
    ///
    /// # Errors
    ///
    /// An empty key, or the store's own error.
    pub fn check<K: Key + ?Sized>(
        &self,
        key: &K,
    ) -> impl Future<Output = Result<Decision, Error<St::Error>>> + Send {
        self.check_n(key, 1)
    }

    /// Decides on a request of any cost, and charges it if the answer is yes. Cost 0 is always allowed.
    ///
    /// # Errors
    ///
    /// [`Error::ExceedsCapacity`] if the cost can never be admitted, an empty key, or the store's own error.
    pub async fn check_n<K: Key + ?Sized>(
        &self,
        key: &K,
        cost: u64,
    ) -> Result<Decision, Error<St::Error>> {
        self.store
            .check(&self.strategy(), &self.keyed(key), cost)
            .await
    }

    /// What a check of cost 1 would say, with remaining and reset time of the untouched state. Writes nothing.
    ///
    /// After a change of rate or window its times are estimates until the key is next checked, which converts what it has used.
    ///
    /// # Errors
    ///
    /// An empty key, or the store's own error.
    pub async fn peek<K: Key + ?Sized>(&self, key: &K) -> Result<Decision, Error<St::Error>> {
        self.store.peek(&self.strategy(), &self.keyed(key)).await
    }

    /// Checks several keys, each with its cost, at one instant and in their order.
    ///
    /// An answer per call, in the same order; a refused call does not undo others.
    #[cfg(feature = "alloc")]
    pub async fn check_many<K: Key + Send>(
        &self,
        calls: &[(K, u64)],
    ) -> alloc::vec::Vec<Result<Decision, Error<St::Error>>> {
        let calls: alloc::vec::Vec<_> = calls
            .iter()
            .map(|(key, cost)| (self.keyed(key), *cost))
            .collect();
        self.store.check_many(&self.strategy(), &calls).await
    }

    /// Forgets `key`: its next check is that of a new key.
    ///
    /// # Errors
    ///
    /// An empty key, or the store's own error.
    pub async fn reset<K: Key + ?Sized>(&self, key: &K) -> Result<(), Error<St::Error>> {
        self.store.reset(&self.strategy(), &self.keyed(key)).await
    }

    /// Puts another strategy in force, from the next call on. What keys have used is kept.
    ///
    /// Where several nodes share a store, change it on all of them at about the same time: while calls under two rates or
    /// windows take turns on one key, each converts what the other wrote, rounding up, and the key drains more slowly.
    #[cfg(feature = "std")]
    pub fn set_strategy(&self, strategy: St::Strategy) {
        self.strategy.set(strategy);
    }

    /// The strategy in force.
    #[must_use]
    pub fn strategy(&self) -> St::Strategy {
        self.strategy.current().clone()
    }

    /// The store.
    #[must_use]
    pub const fn store(&self) -> &St {
        &self.store
    }

    fn keyed<'a, K: ?Sized>(&'a self, key: &'a K) -> Prefix<'a, K> {
        #[cfg(feature = "alloc")]
        let space = self.prefix.as_deref();
        #[cfg(not(feature = "alloc"))]
        let space = None;
        Prefix { space, key }
    }
}

impl<St: Store> Limiter for AsyncRateLimiter<St> {
    type Error = St::Error;

    fn check_n<K: Key + ?Sized>(
        &self,
        key: &K,
        cost: u64,
    ) -> impl Future<Output = Result<Decision, Error<St::Error>>> + Send {
        Self::check_n(self, key, cost)
    }
}
