//! A strategy that can be exchanged while others read it.

#[cfg(feature = "std")]
use std::sync::{OnceLock, PoisonError, RwLock};

/// Holds the strategy of a limiter.
///
/// Almost no limiter ever changes its strategy, so reading one that has not changed costs a load; only a limiter
/// that has been changed pays for a lock.
#[derive(Debug)]
pub(crate) struct Swap<S> {
    first: S,
    #[cfg(feature = "std")]
    changed: OnceLock<RwLock<S>>,
}

impl<S: Clone> Swap<S> {
    pub(crate) const fn new(first: S) -> Self {
        Self {
            first,
            #[cfg(feature = "std")]
            changed: OnceLock::new(),
        }
    }

    #[cfg(feature = "std")]
    pub(crate) fn set(&self, strategy: S) {
        let lock = self.changed.get_or_init(|| RwLock::new(strategy.clone()));
        // A poisoned lock is entered all the same: an assignment leaves no half-written strategy.
        *lock.write().unwrap_or_else(PoisonError::into_inner) = strategy;
    }

    /// Calls `f` with the strategy in force. `f` runs outside of the lock, on a copy.
    #[inline]
    pub(crate) fn with<R>(&self, f: impl FnOnce(&S) -> R) -> R {
        #[cfg(feature = "std")]
        if let Some(lock) = self.changed.get() {
            let strategy = lock.read().unwrap_or_else(PoisonError::into_inner).clone();
            return f(&strategy);
        }
        f(&self.first)
    }
}
