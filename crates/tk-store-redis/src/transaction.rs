//! A store for strategies without a script: read a state, decide here, and write it if nobody else has.
//!
//! `WATCH`, `GET`, and then `MULTI`, `SET`, `EXEC`, which does nothing if the key was changed since. That is optimistic: it costs two
//! round trips instead of one, and callers of one key get in each other's way. Callers of one store therefore take turns at a key (a
//! queue in this process costs less than a failed transaction), and only other processes make a transaction fail. It is then tried
//! again after a random pause, a bounded number of times and within one deadline.
//!
//! # What keeps it right
//!
//! - What is watched belongs to a connection. Each transaction owns one for as long as it lasts: that is what the pool is for.
//! - A connection that is lost takes its watches with it. fred would connect again and send the transaction there, unwatched, so that it
//!   would overwrite whatever others wrote. So the pool's clients may not reconnect: whoever loses its connection is thrown away.
//! - A transaction that was dropped, timed out or failed leaves its connection in a state that nobody knows. It is thrown away too.
//! - Before `EXEC` is sent nothing was applied, and errors say so. An `EXEC` whose answer is lost is unknown, and not sent again.

mod builder;
mod connection;
mod core;
mod record;

pub use builder::TransactionBuilder;

use std::{fmt, marker::PhantomData, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};
use tk_core::{Decision, Error, Grant, Key, Store, Strategy, Tag, Timestamp};

use self::core::Core;
use crate::{StoreError, key::Space};

/// States of any strategy, a user's own too, in Redis or Valkey.
///
/// For the strategies of `tk-core` a [`RedisStore`](crate::RedisStore) does the same in half the round trips. This store keeps a state as a whole, in
/// the compact binary form of the crate `postcard`, so it is for states of up to some kilobytes, and each check rewrites
/// the state. A change of the *type* of a state needs another name: an old state that cannot be read is an
/// [error](crate::ErrorKind::BadState), one that happens to be readable is not.
///
/// A key lives until [`Decision::reset_at`] of its untouched state, or for its [span](Strategy::span) if that is longer: a strategy whose
/// `reset_at` comes too early loses states.
///
/// ```no_run
/// use serde::{Deserialize, Serialize};
/// use tk_core::{AsyncRateLimiter, Decision, Strategy, Timestamp};
/// use tk_store_redis::TransactionStore;
///
/// # #[derive(Clone)] struct OncePerDay;
/// # impl Strategy for OncePerDay {
/// #     type State = Option<u64>;
/// #     fn capacity(&self) -> u64 { 1 }
/// #     fn decide(&self, state: &mut Self::State, now: Timestamp, _cost: u64) -> Decision {
/// #         let allowed = state.replace(now.as_micros()).is_none();
/// #         Decision { allowed, limit: 1, remaining: 0, reset_at: now, retry_after: Default::default() }
/// #     }
/// # }
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let store = TransactionStore::builder("api", "once-per-day").url("redis://127.0.0.1").build()?;
/// let limiter = AsyncRateLimiter::new(OncePerDay, store);
/// if limiter.check("alice").await?.allowed {
///     // serve
/// }
/// # Ok(())
/// # }
/// ```
pub struct TransactionStore<S> {
    core: Arc<Core>,
    space: Space,
    strategy: PhantomData<fn() -> S>,
}

impl<S> TransactionStore<S>
where
    S: Strategy,
    S::State: Serialize + DeserializeOwned,
{
    /// Sets up a store for the limits of a policy under a strategy of this name.
    ///
    /// Both names are part of all keys. Two limiters count together if and only if both are the same, and the prefix too; their strategies
    /// must then have states of the same type.
    pub fn builder(policy: &str, strategy: &str) -> TransactionBuilder<S> {
        TransactionBuilder::new(policy, strategy)
    }

    fn new(core: Core, space: Space) -> Self {
        Self {
            core: Arc::new(core),
            space,
            strategy: PhantomData,
        }
    }

    fn key<K: Key + ?Sized>(&self, key: &K) -> Result<Vec<u8>, Error<StoreError>> {
        if key.is_empty() {
            return Err(Error::EmptyKey);
        }
        Ok(self.space.key(key))
    }

    async fn check_at<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
        cost: u64,
        now: Option<Timestamp>,
    ) -> Result<Decision, Error<StoreError>> {
        let key = self.key(key)?;
        strategy.fits(cost)?;
        self.core
            .transact(strategy, key, now, |state, now, _| {
                Ok(strategy.decide(state, now, cost))
            })
            .await
    }
}

impl<S> Store for TransactionStore<S>
where
    S: Strategy,
    S::State: Serialize + DeserializeOwned,
{
    type Strategy = S;
    type Error = StoreError;

    async fn check<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
        cost: u64,
    ) -> Result<Decision, Error<StoreError>> {
        self.check_at(strategy, key, cost, self.core.now()).await
    }

    async fn peek<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
    ) -> Result<Decision, Error<StoreError>> {
        let key = self.key(key)?;
        self.core
            .transact(strategy, key, self.core.now(), |state, now, _| {
                Ok(strategy.peek(state, now))
            })
            .await
    }

    async fn lease<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
        want: u64,
        at_least: u64,
    ) -> Result<Grant, Error<StoreError>> {
        let key = self.key(key)?;
        strategy.fits(at_least)?;
        self.core
            .transact(strategy, key, self.core.now(), |state, now, incarnation| {
                Grant::charge(strategy, state, now, want, at_least, incarnation)
            })
            .await
    }

    async fn give_back<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
        tag: Tag,
        amount: u64,
    ) -> Result<u64, Error<StoreError>> {
        let key = self.key(key)?;
        if amount.min(tag.amount()) == 0 {
            return Ok(0);
        }
        self.core
            .transact(strategy, key, self.core.now(), |state, now, incarnation| {
                Ok(tag.give_back(strategy, state, now, incarnation, amount))
            })
            .await
    }

    async fn reset<K: Key + ?Sized>(
        &self,
        _strategy: &S,
        key: &K,
    ) -> Result<(), Error<StoreError>> {
        let key = self.key(key)?;
        Ok(self.core.forget(&key).await?)
    }

    /// Checks one after the other, in two round trips each.
    ///
    /// By the server's clock each reads it anew, by a clock of one's own they are decided at one instant. Each has a deadline of its own.
    async fn check_many<K: Key>(
        &self,
        strategy: &S,
        calls: &[(K, u64)],
    ) -> Vec<Result<Decision, Error<StoreError>>> {
        let now = self.core.now();
        let mut answers = Vec::with_capacity(calls.len());
        for (key, cost) in calls {
            answers.push(self.check_at(strategy, key, *cost, now).await);
        }
        answers
    }
}

impl<S> Clone for TransactionStore<S> {
    fn clone(&self) -> Self {
        Self {
            core: self.core.clone(),
            space: self.space.clone(),
            strategy: PhantomData,
        }
    }
}

impl<S> fmt::Debug for TransactionStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The pool is left out: fred's clients know passwords.
        f.debug_struct("TransactionStore")
            .field("space", &self.space)
            .finish_non_exhaustive()
    }
}
