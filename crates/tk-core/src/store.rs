//! Where states live: one atomic read-modify-write per key.

#[cfg(feature = "alloc")]
mod shared;

use core::{
    fmt::Debug,
    future::{Future, ready},
};

use crate::{Decision, Error, Grant, Key, Strategy, Tag};

/// The answer of a store, or why there is none.
pub(crate) type Answer<T, E> = Result<T, Error<E>>;

/// Keeps one state per key and applies a strategy to it in one atomic step, now or later.
///
/// The strategy comes with each call, so it may change on live state. A store refuses a cost above the strategy's
/// capacity and an empty key before it touches anything, and a call that fails or is denied changes
/// nothing. The store owns the time its states are decided at: a memory store reads its clock, a Redis store lets the server read its own.
///
/// Every [`SyncStore`] is a `Store` that answers at once, and so is an `Arc` of one, for limiters that count together.
pub trait Store: Send + Sync + 'static {
    /// The strategies it can apply.
    type Strategy: Strategy;
    /// Why it could not answer.
    type Error: Debug + Send + Sync + 'static;

    /// Decides on `cost` for `key`, and charges it if the answer is yes.
    fn check<K: Key + ?Sized>(
        &self,
        strategy: &Self::Strategy,
        key: &K,
        cost: u64,
    ) -> impl Future<Output = Answer<Decision, Self::Error>> + Send;

    /// What a check of cost 1 would say, with the remaining units and reset time of the untouched state.
    fn peek<K: Key + ?Sized>(
        &self,
        strategy: &Self::Strategy,
        key: &K,
    ) -> impl Future<Output = Answer<Decision, Self::Error>> + Send;

    /// Charges a partial grant, by the rule of [`Grant::charge`].
    fn lease<K: Key + ?Sized>(
        &self,
        strategy: &Self::Strategy,
        key: &K,
        want: u64,
        at_least: u64,
    ) -> impl Future<Output = Answer<Grant, Self::Error>> + Send;

    /// Hands back up to `amount` unspent units of the grant that `tag` names; answers how many it took.
    ///
    /// Send it at most once for each grant: a store cannot tell a repeat from a second hand-back.
    fn give_back<K: Key + ?Sized>(
        &self,
        strategy: &Self::Strategy,
        key: &K,
        tag: Tag,
        amount: u64,
    ) -> impl Future<Output = Answer<u64, Self::Error>> + Send;

    /// Forgets `key`: its next check is that of a new key, and hand-backs from before are refused.
    fn reset<K: Key + ?Sized>(
        &self,
        strategy: &Self::Strategy,
        key: &K,
    ) -> impl Future<Output = Answer<(), Self::Error>> + Send;

    /// Checks several keys at one instant, in their order, each seeing what those before it charged.
    ///
    /// An answer per call, in the same order: one refused call does not undo others.
    #[cfg(feature = "alloc")]
    fn check_many<K: Key>(
        &self,
        strategy: &Self::Strategy,
        calls: &[(K, u64)],
    ) -> impl Future<Output = alloc::vec::Vec<Answer<Decision, Self::Error>>> + Send;
}

/// A [`Store`] that answers at once, on the caller's thread.
#[diagnostic::on_unimplemented(
    message = "`{Self}` answers later, after a round trip",
    label = "a synchronous answer is asked of an asynchronous store",
    note = "use `AsyncRateLimiter`, whose `check` is awaited"
)]
pub trait SyncStore: Send + Sync + 'static {
    /// The strategies it can apply.
    type Strategy: Strategy;
    /// Why it could not answer; `Infallible` if it always can.
    type Error: Debug + Send + Sync + 'static;

    /// [`Store::check`] at once.
    ///
    /// # Errors
    ///
    /// A cost above the capacity, an empty key, or the store's own error.
    fn check_sync<K: Key + ?Sized>(
        &self,
        strategy: &Self::Strategy,
        key: &K,
        cost: u64,
    ) -> Answer<Decision, Self::Error>;

    /// [`Store::peek`] at once.
    ///
    /// # Errors
    ///
    /// An empty key, or the store's own error.
    fn peek_sync<K: Key + ?Sized>(
        &self,
        strategy: &Self::Strategy,
        key: &K,
    ) -> Answer<Decision, Self::Error>;

    /// [`Store::lease`] at once.
    ///
    /// # Errors
    ///
    /// `at_least` above the capacity, an empty key, or the store's own error.
    fn lease_sync<K: Key + ?Sized>(
        &self,
        strategy: &Self::Strategy,
        key: &K,
        want: u64,
        at_least: u64,
    ) -> Answer<Grant, Self::Error>;

    /// [`Store::give_back`] at once.
    ///
    /// # Errors
    ///
    /// An empty key, or the store's own error.
    fn give_back_sync<K: Key + ?Sized>(
        &self,
        strategy: &Self::Strategy,
        key: &K,
        tag: Tag,
        amount: u64,
    ) -> Answer<u64, Self::Error>;

    /// [`Store::reset`] at once.
    ///
    /// # Errors
    ///
    /// An empty key, or the store's own error.
    fn reset_sync<K: Key + ?Sized>(
        &self,
        strategy: &Self::Strategy,
        key: &K,
    ) -> Answer<(), Self::Error>;

    /// [`Store::check_many`] at once.
    #[cfg(feature = "alloc")]
    fn check_many_sync<K: Key>(
        &self,
        strategy: &Self::Strategy,
        calls: &[(K, u64)],
    ) -> alloc::vec::Vec<Answer<Decision, Self::Error>>;
}

impl<T: SyncStore> Store for T {
    type Strategy = T::Strategy;
    type Error = T::Error;

    fn check<K: Key + ?Sized>(
        &self,
        strategy: &T::Strategy,
        key: &K,
        cost: u64,
    ) -> impl Future<Output = Answer<Decision, T::Error>> + Send {
        ready(self.check_sync(strategy, key, cost))
    }

    fn peek<K: Key + ?Sized>(
        &self,
        strategy: &T::Strategy,
        key: &K,
    ) -> impl Future<Output = Answer<Decision, T::Error>> + Send {
        ready(self.peek_sync(strategy, key))
    }

    fn lease<K: Key + ?Sized>(
        &self,
        strategy: &T::Strategy,
        key: &K,
        want: u64,
        at_least: u64,
    ) -> impl Future<Output = Answer<Grant, T::Error>> + Send {
        ready(self.lease_sync(strategy, key, want, at_least))
    }

    fn give_back<K: Key + ?Sized>(
        &self,
        strategy: &T::Strategy,
        key: &K,
        tag: Tag,
        amount: u64,
    ) -> impl Future<Output = Answer<u64, T::Error>> + Send {
        ready(self.give_back_sync(strategy, key, tag, amount))
    }

    fn reset<K: Key + ?Sized>(
        &self,
        strategy: &T::Strategy,
        key: &K,
    ) -> impl Future<Output = Answer<(), T::Error>> + Send {
        ready(self.reset_sync(strategy, key))
    }

    #[cfg(feature = "alloc")]
    fn check_many<K: Key>(
        &self,
        strategy: &T::Strategy,
        calls: &[(K, u64)],
    ) -> impl Future<Output = alloc::vec::Vec<Answer<Decision, T::Error>>> + Send {
        ready(self.check_many_sync(strategy, calls))
    }
}
