//! What middleware takes.

use core::{fmt::Debug, future::Future};

use crate::{Decision, Error, Key};

/// A limit that can be asked, whatever stands behind it: memory, Redis, two tiers or fair shares.
///
/// ```
/// use tk_core::{Error, Limiter};
///
/// /// Whether to serve a request; an outage of the store lets it through.
/// async fn admits<L: Limiter>(limiter: &L, user: &str) -> bool {
///     match limiter.check_n(user, 1).await {
///         Ok(decision) => decision.allowed,
///         Err(Error::Store(_)) => true,
///         Err(_) => false,
///     }
/// }
/// ```
pub trait Limiter: Send + Sync + 'static {
    /// Why there is no decision.
    type Error: Debug + Send + Sync + 'static;

    /// Decides on `cost` for `key`, and charges it if the answer is yes.
    fn check_n<K: Key + ?Sized>(
        &self,
        key: &K,
        cost: u64,
    ) -> impl Future<Output = Result<Decision, Error<Self::Error>>> + Send;
}

impl<L: Limiter + ?Sized> Limiter for &'static L {
    type Error = L::Error;

    fn check_n<K: Key + ?Sized>(
        &self,
        key: &K,
        cost: u64,
    ) -> impl Future<Output = Result<Decision, Error<L::Error>>> + Send {
        (**self).check_n(key, cost)
    }
}

#[cfg(feature = "alloc")]
impl<L: Limiter + ?Sized> Limiter for alloc::sync::Arc<L> {
    type Error = L::Error;

    fn check_n<K: Key + ?Sized>(
        &self,
        key: &K,
        cost: u64,
    ) -> impl Future<Output = Result<Decision, Error<L::Error>>> + Send {
        (**self).check_n(key, cost)
    }
}
