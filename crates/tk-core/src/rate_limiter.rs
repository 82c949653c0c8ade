//! A limit that answers at once.

#[cfg(feature = "alloc")]
use crate::{ConfigError, Range};
use crate::{Decision, Error, Key, Limiter, Prefix, SyncStore, swap::Swap};

/// A strategy over a store that answers at once: is this key within its limit?
///
/// It is shared by reference or in an `Arc`; a copy with a store of its own would be a limit of its own.
///
/// The `throttlekit` crate shows it over its memory store; any [`SyncStore`] will do.
///
/// A store that answers after a round trip will not; that does not compile, and the compiler names
/// [`AsyncRateLimiter`](crate::AsyncRateLimiter), which takes it:
///
/// ```compile_fail,E0277
/// # use tk_core::{Decision, Error, FixedWindow, Grant, Key, Store, Tag};
/// # use core::convert::Infallible;
/// # struct Remote;
/// # impl Store for Remote {
/// #     type Strategy = FixedWindow;
/// #     type Error = Infallible;
/// #     async fn check<K: Key + ?Sized>(&self, _: &FixedWindow, _: &K, _: u64) -> Result<Decision, Error> {
/// #         Err(Error::EmptyKey)
/// #     }
/// #     async fn peek<K: Key + ?Sized>(&self, _: &FixedWindow, _: &K) -> Result<Decision, Error> {
/// #         Err(Error::EmptyKey)
/// #     }
/// #     async fn lease<K: Key + ?Sized>(&self, _: &FixedWindow, _: &K, _: u64, _: u64) -> Result<Grant, Error> {
/// #         Err(Error::EmptyKey)
/// #     }
/// #     async fn give_back<K: Key + ?Sized>(&self, _: &FixedWindow, _: &K, _: Tag, _: u64) -> Result<u64, Error> {
/// #         Err(Error::EmptyKey)
/// #     }
/// #     async fn reset<K: Key + ?Sized>(&self, _: &FixedWindow, _: &K) -> Result<(), Error> {
/// #         Err(Error::EmptyKey)
/// #     }
/// #     async fn check_many<K: Key>(&self, _: &FixedWindow, _: &[(K, u64)]) -> Vec<Result<Decision, Error>> {
/// #         Vec::new()
/// #     }
/// # }
/// # let strategy = FixedWindow::per_minute(1)?;
/// let limiter = tk_core::RateLimiter::new(strategy, Remote);
/// # Ok::<(), tk_core::ConfigError>(())
/// ```
/// ```
/// # use tk_core::{Decision, Error, FixedWindow, Grant, Key, Store, Tag};
/// # use core::convert::Infallible;
/// # struct Remote;
/// # impl Store for Remote {
/// #     type Strategy = FixedWindow;
/// #     type Error = Infallible;
/// #     async fn check<K: Key + ?Sized>(&self, _: &FixedWindow, _: &K, _: u64) -> Result<Decision, Error> {
/// #         Err(Error::EmptyKey)
/// #     }
/// #     async fn peek<K: Key + ?Sized>(&self, _: &FixedWindow, _: &K) -> Result<Decision, Error> {
/// #         Err(Error::EmptyKey)
/// #     }
/// #     async fn lease<K: Key + ?Sized>(&self, _: &FixedWindow, _: &K, _: u64, _: u64) -> Result<Grant, Error> {
/// #         Err(Error::EmptyKey)
/// #     }
/// #     async fn give_back<K: Key + ?Sized>(&self, _: &FixedWindow, _: &K, _: Tag, _: u64) -> Result<u64, Error> {
/// #         Err(Error::EmptyKey)
/// #     }
/// #     async fn reset<K: Key + ?Sized>(&self, _: &FixedWindow, _: &K) -> Result<(), Error> {
/// #         Err(Error::EmptyKey)
/// #     }
/// #     async fn check_many<K: Key>(&self, _: &FixedWindow, _: &[(K, u64)]) -> Vec<Result<Decision, Error>> {
/// #         Vec::new()
/// #     }
/// # }
/// # let strategy = FixedWindow::per_minute(1)?;
/// let limiter = tk_core::AsyncRateLimiter::new(strategy, Remote);
/// # Ok::<(), tk_core::ConfigError>(())
/// ```
#[derive(Debug)]
pub struct RateLimiter<St: SyncStore> {
    strategy: Swap<St::Strategy>,
    store: St,
    #[cfg(feature = "alloc")]
    prefix: Option<alloc::boxed::Box<str>>,
}

impl<St: SyncStore> RateLimiter<St> {
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
    #[inline]
    pub fn check<K: Key + ?Sized>(&self, key: &K) -> Result<Decision, Error<St::Error>> {
        self.charge(key, 1)
    }

    /// Decides on a request of any cost, and charges it if the answer is yes. Cost 0 is always allowed.
    ///
    /// # Errors
    ///
    /// [`Error::ExceedsCapacity`] if the cost can never be admitted, an empty key, or the store's own error.
    #[inline]
    pub fn check_n<K: Key + ?Sized>(
        &self,
        key: &K,
        cost: u64,
    ) -> Result<Decision, Error<St::Error>> {
        self.charge(key, cost)
    }

    /// Decides for a limiter as most are: its strategy was never changed, and its keys have no prefix.
    ///
    /// Inlined always and apart from the others, so that nothing on the way to the store goes through memory, and so that
    /// [`RateLimiter::check`] is compiled for a cost of 1: together a tenth of a check.
    #[inline(always)]
    fn charge<K: Key + ?Sized>(&self, key: &K, cost: u64) -> Result<Decision, Error<St::Error>> {
        match self.strategy.unchanged() {
            Some(strategy) if self.space().is_none() => self.store.check_sync(strategy, key, cost),
            _ => self.charge_otherwise(key, cost),
        }
    }

    #[inline(never)]
    fn charge_otherwise<K: Key + ?Sized>(
        &self,
        key: &K,
        cost: u64,
    ) -> Result<Decision, Error<St::Error>> {
        let strategy = self.strategy.current();
        self.store.check_sync(&strategy, &self.keyed(key), cost)
    }

    /// What a check of cost 1 would say, with remaining and reset time of the untouched state. Writes nothing.
    ///
    /// After a change of rate or window its times are estimates until the key is next checked, which converts what it has used.
    ///
    /// # Errors
    ///
    /// An empty key, or the store's own error.
    pub fn peek<K: Key + ?Sized>(&self, key: &K) -> Result<Decision, Error<St::Error>> {
        let strategy = self.strategy.current();
        self.store.peek_sync(&strategy, &self.keyed(key))
    }

    /// Checks several keys, each with its cost, at one instant and in their order.
    ///
    /// An answer per call, in the same order; a refused call does not undo others.
    #[cfg(feature = "alloc")]
    pub fn check_many<K: Key>(
        &self,
        calls: &[(K, u64)],
    ) -> alloc::vec::Vec<Result<Decision, Error<St::Error>>> {
        let strategy = self.strategy.current();
        if self.space().is_none() {
            return self.store.check_many_sync(&strategy, calls);
        }
        let calls: alloc::vec::Vec<_> = calls
            .iter()
            .map(|(key, cost)| (self.keyed(key), *cost))
            .collect();
        self.store.check_many_sync(&strategy, &calls)
    }

    /// Forgets `key`: its next check is that of a new key.
    ///
    /// # Errors
    ///
    /// An empty key, or the store's own error.
    pub fn reset<K: Key + ?Sized>(&self, key: &K) -> Result<(), Error<St::Error>> {
        let strategy = self.strategy.current();
        self.store.reset_sync(&strategy, &self.keyed(key))
    }

    /// Puts another strategy in force, from the next call on. What keys have used is kept.
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

    #[inline]
    fn keyed<'a, K: ?Sized>(&'a self, key: &'a K) -> Prefix<'a, K> {
        let space = self.space();
        Prefix { space, key }
    }

    #[inline]
    fn space(&self) -> Option<&str> {
        #[cfg(feature = "alloc")]
        return self.prefix.as_deref();
        #[cfg(not(feature = "alloc"))]
        None
    }
}

impl<St: SyncStore> Limiter for RateLimiter<St> {
    type Error = St::Error;

    fn check_n<K: Key + ?Sized>(
        &self,
        key: &K,
        cost: u64,
    ) -> impl Future<Output = Result<Decision, Error<St::Error>>> + Send {
        core::future::ready(Self::check_n(self, key, cost))
    }
}
