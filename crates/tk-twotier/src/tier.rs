//! A limit shared by a fleet: local answers where they are safe, the shared store where they are not.

mod builder;
mod check;
mod close;
mod denial;
mod entry;
mod error;
mod exact;
mod flight;
mod homeward;
mod idle;
mod inner;
mod key_sizer;
mod l1;
mod leasing;
mod local;
mod mode;
mod observer;
mod policy;
mod reset;
mod restrategy;
mod shard;
mod slab;
mod slot;
mod stats;
mod tasks;

pub use builder::TwoTierBuilder;
pub use error::TierError;
pub use local::Local;
pub use mode::{DenyCache, Lease, Mode};
pub use observer::{LeaseAnswer, Observer, Outcome, Tier};
pub use policy::FailurePolicy;
pub use stats::Stats;

use std::{fmt, future::Future, sync::Arc};

use tk_core::{Clock, Decision, Error, Key, Limiter, QuantaClock, Store, Strategy};

use self::{
    check::{Check, Progress},
    inner::Inner,
    local::Missed,
};

/// An answer of two tiers over the store `L2`.
pub(crate) type Answer<T, L2> = Result<T, Error<TierError<<L2 as Store>::Error>>>;

/// A limit kept in a shared store `L2`, with this node's own memory in front of it.
///
/// It is shared by reference or in an `Arc`; a second one would be another node of the fleet. Dropping it ends its
/// tasks and leaves its credits unused until their window ends; [`close`](TwoTier::close) hands them back.
///
/// The `throttlekit` crate shows it over its stores; `docs/TWO-TIER.md` compares modes and bounds.
pub struct TwoTier<L2: Store, C: Clock + 'static = QuantaClock, O: Observer = ()> {
    inner: Arc<Inner<L2, C, O>>,
}

impl<L2: Store> TwoTier<L2> {
    /// A limit that applies `strategy` to the states in `l2`. [`Mode::Strict`] unless another mode is chosen.
    pub fn builder(strategy: L2::Strategy, l2: L2) -> TwoTierBuilder<L2> {
        TwoTierBuilder::new(strategy, l2)
    }
}

impl<L2: Store, C: Clock + 'static, O: Observer> TwoTier<L2, C, O> {
    /// Decides on a request of cost 1.
    ///
    /// # Errors
    ///
    /// An empty key; or the shared store's error, unless a failure policy answers in its place.
    #[inline]
    pub fn check<K: Key + ?Sized>(
        &self,
        key: &K,
    ) -> impl Future<Output = Answer<Decision, L2>> + Send {
        self.check_n(key, 1)
    }

    /// Decides on a request of any cost, and charges it if the answer is yes. Cost 0 is always allowed.
    ///
    /// A future that is dropped before it is ready gives up its place in the queue and nothing else: a lease under way
    /// stays under way, and serves the others.
    ///
    /// # Errors
    ///
    /// [`Error::ExceedsCapacity`] if the cost can never be admitted; an empty key; or the shared store's error, unless a
    /// failure policy answers in its place.
    #[inline]
    pub fn check_n<K: Key + ?Sized>(
        &self,
        key: &K,
        cost: u64,
    ) -> impl Future<Output = Answer<Decision, L2>> + Send {
        Check {
            tier: self,
            key,
            cost,
            ask: move || self.inner.ask(key, cost),
            progress: Progress::Begins,
        }
    }

    /// Decides on a request of cost 1 at once, if this node can do so alone.
    ///
    /// # Errors
    ///
    /// An empty key, or a limiter that has been closed.
    #[inline]
    pub fn try_check<K: Key + ?Sized>(&self, key: &K) -> Answer<Local, L2> {
        self.try_check_n(key, 1)
    }

    /// Decides on a request of any cost at once, if this node can do so alone; else nothing was charged, and
    /// [`check_n`](TwoTier::check_n) is the way.
    ///
    /// # Errors
    ///
    /// [`Error::ExceedsCapacity`] if the cost can never be admitted, an empty key, or a limiter that has been closed.
    #[inline(always)]
    pub fn try_check_n<K: Key + ?Sized>(&self, key: &K, cost: u64) -> Answer<Local, L2> {
        Ok(match self.hit(key, cost)? {
            Ok(decision) => Local::Decided(decision),
            Err(missed) => self.inner.look(missed, cost),
        })
    }

    #[inline(always)]
    fn hit<K: Key + ?Sized>(
        &self,
        key: &K,
        cost: u64,
    ) -> Answer<Result<Decision, Missed<'_, L2>>, L2> {
        self.inner.fits(cost)?;
        if key.is_empty() {
            return Err(Error::EmptyKey);
        }
        self.inner.refuse_if_closed()?;
        Ok(self.inner.hit(key, cost))
    }

    /// What a check of cost 1 would say, with remaining units and reset time as they stand. Charges nothing.
    ///
    /// Credits at hand answer for themselves; without any, the shared store is asked.
    ///
    /// # Errors
    ///
    /// An empty key, or the shared store's error: no failure policy answers here.
    pub async fn peek<K: Key + ?Sized>(&self, key: &K) -> Answer<Decision, L2> {
        if key.is_empty() {
            return Err(Error::EmptyKey);
        }
        self.inner.refuse_if_closed()?;
        match self.inner.peek_local(key) {
            Some(decision) => Ok(decision),
            None => self.inner.peek_l2(key).await,
        }
    }

    /// Forgets `key` in the shared store and at this node: its next check is that of a new key.
    ///
    /// Other nodes do not hear of it: each may still serve the credits that it holds and a grant that is under way to it,
    /// at most a batch. This node uses no grant that was asked for before, and hand-backs from before are refused.
    ///
    /// # Errors
    ///
    /// An empty key, or the shared store's error; this node's credits of the key are gone either way.
    pub async fn reset<K: Key + ?Sized>(&self, key: &K) -> Answer<(), L2> {
        if key.is_empty() {
            return Err(Error::EmptyKey);
        }
        Inner::reset(&self.inner, key).await
    }

    /// Puts another strategy in force, from the next call on. What keys have used is kept.
    ///
    /// A capacity below the batch makes leases as small as the capacity. Denials in memory are forgotten, and credits leased
    /// under the strategy before are handed back, on a task of their own; called outside of a Tokio runtime, they are lost until their
    /// window ends. Other nodes go on by their own strategy until theirs is set too.
    pub fn set_strategy(&self, strategy: L2::Strategy) {
        Inner::set_strategy(&self.inner, strategy);
    }

    /// The strategy in force.
    #[must_use]
    pub fn strategy(&self) -> L2::Strategy {
        self.inner.strategy()
    }

    /// The shared store.
    #[must_use]
    pub fn l2(&self) -> &L2 {
        &self.inner.l2
    }

    /// The clock that this node counts its leases by.
    #[must_use]
    pub fn clock(&self) -> &C {
        &self.inner.clock
    }

    /// What has happened so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.inner.stats()
    }

    /// Hands back now the credits of keys that have been idle for the time set by
    /// [`return_idle_after`](Lease::return_idle_after). A task does so by itself, about twice in that time.
    ///
    /// Returns how many units the shared store took.
    pub async fn return_idle(&self) -> u64 {
        Inner::return_idle(&self.inner).await
    }

    /// Takes no more requests, waits for the leases and the hand-backs under way, and hands all credits back.
    ///
    /// Returns how many units the shared store took of what was at hand then. Dropped before it is ready, it hands back less.
    pub async fn close(&self) -> u64 {
        Inner::close(&self.inner).await
    }
}

impl<L2: Store, C: Clock + 'static, O: Observer> Limiter for TwoTier<L2, C, O> {
    type Error = TierError<L2::Error>;

    fn check_n<K: Key + ?Sized>(
        &self,
        key: &K,
        cost: u64,
    ) -> impl Future<Output = Answer<Decision, L2>> + Send {
        Self::check_n(self, key, cost)
    }
}

/// Tasks share what is inside, so they are what must end first.
impl<L2: Store, C: Clock + 'static, O: Observer> Drop for TwoTier<L2, C, O> {
    fn drop(&mut self) {
        self.inner.tasks.abort_all();
    }
}

impl<L2: Store, C: Clock + 'static, O: Observer> fmt::Debug for TwoTier<L2, C, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TwoTier")
            .field("capacity", &self.strategy().capacity())
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}
