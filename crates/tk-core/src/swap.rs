//! A strategy that can be exchanged while others read it.

use core::ops::Deref;
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

    /// The strategy in force, unless it was ever changed.
    #[inline(always)]
    pub(crate) fn unchanged(&self) -> Option<&S> {
        #[cfg(feature = "std")]
        if self.changed.get().is_some() {
            return None;
        }
        Some(&self.first)
    }

    /// The strategy in force: a copy if it was ever changed, so that no lock is held while it is used.
    #[inline]
    pub(crate) fn current(&self) -> Current<'_, S> {
        #[cfg(feature = "std")]
        if let Some(lock) = self.changed.get() {
            let strategy = lock.read().unwrap_or_else(PoisonError::into_inner);
            return Current::Changed(strategy.clone());
        }
        Current::Unchanged(&self.first)
    }
}

/// The strategy that is in force when it is asked for.
pub(crate) enum Current<'a, S> {
    Unchanged(&'a S),
    #[cfg(feature = "std")]
    Changed(S),
}

impl<S> Deref for Current<'_, S> {
    type Target = S;

    #[inline]
    fn deref(&self) -> &S {
        match self {
            Self::Unchanged(strategy) => strategy,
            #[cfg(feature = "std")]
            Self::Changed(strategy) => strategy,
        }
    }
}
