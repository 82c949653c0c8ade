//! A store that is obviously right, and slow.

use std::{
    collections::HashMap,
    convert::Infallible,
    fmt,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tk_core::{Clock, Decision, Error, Grant, Key, OwnedKey, Strategy, SyncStore, Tag, Timestamp};

type Answer<T> = Result<T, Error<Infallible>>;

/// States in a map behind one lock: the shortest store that keeps every promise.
///
/// It never forgets a key but by `reset`. Other stores are compared with it, and tests that need some store
/// use it.
///
/// ```
/// use std::sync::Arc;
/// use tk_core::{ManualClock, RateLimiter, FixedWindow};
/// use tk_testkit::ReferenceStore;
///
/// let clock = Arc::new(ManualClock::default());
/// let limiter = RateLimiter::new(FixedWindow::per_minute(1)?, ReferenceStore::new(clock));
/// assert!(limiter.check("alice")?.allowed);
/// assert!(!limiter.check("alice")?.allowed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ReferenceStore<S: Strategy, C> {
    clock: C,
    entries: Mutex<HashMap<OwnedKey, Entry<S>>>,
    incarnations: AtomicU64,
}

struct Entry<S: Strategy> {
    state: S::State,
    incarnation: u64,
}

impl<S: Strategy, C: Clock + 'static> ReferenceStore<S, C> {
    /// An empty store that reads `clock`.
    #[must_use]
    pub fn new(clock: C) -> Self {
        Self {
            clock,
            entries: Mutex::default(),
            incarnations: AtomicU64::new(1),
        }
    }

    /// The clock it reads.
    #[must_use]
    pub const fn clock(&self) -> &C {
        &self.clock
    }

    /// How many keys it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether it holds no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<OwnedKey, Entry<S>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn entry(&self) -> Entry<S> {
        Entry {
            state: S::State::default(),
            incarnation: self.incarnations.fetch_add(1, Ordering::Relaxed),
        }
    }

    fn with<K: Key + ?Sized, R>(
        &self,
        key: &K,
        apply: impl FnOnce(&mut S::State, Timestamp, u64) -> Answer<R>,
    ) -> Answer<R> {
        if key.is_empty() {
            return Err(Error::EmptyKey);
        }
        let mut entries = self.lock();
        let entry = entries
            .entry(OwnedKey::of(key))
            .or_insert_with(|| self.entry());
        apply(&mut entry.state, self.clock.now(), entry.incarnation)
    }
}

impl<S: Strategy, C: fmt::Debug> fmt::Debug for ReferenceStore<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReferenceStore")
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}

impl<S: Strategy, C: Clock + 'static> SyncStore for ReferenceStore<S, C> {
    type Strategy = S;
    type Error = Infallible;

    fn check_sync<K: Key + ?Sized>(&self, strategy: &S, key: &K, cost: u64) -> Answer<Decision> {
        strategy.fits(cost)?;
        self.with(key, |state, now, _| Ok(strategy.decide(state, now, cost)))
    }

    fn peek_sync<K: Key + ?Sized>(&self, strategy: &S, key: &K) -> Answer<Decision> {
        self.with(key, |state, now, _| Ok(strategy.peek(state, now)))
    }

    fn lease_sync<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
        want: u64,
        at_least: u64,
    ) -> Answer<Grant> {
        self.with(key, |state, now, incarnation| {
            Grant::charge(strategy, state, now, want, at_least, incarnation)
        })
    }

    fn give_back_sync<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
        tag: Tag,
        amount: u64,
    ) -> Answer<u64> {
        self.with(key, |state, now, incarnation| {
            Ok(tag.give_back(strategy, state, now, incarnation, amount))
        })
    }

    fn reset_sync<K: Key + ?Sized>(&self, _strategy: &S, key: &K) -> Answer<()> {
        if key.is_empty() {
            return Err(Error::EmptyKey);
        }
        self.lock().remove(&OwnedKey::of(key));
        Ok(())
    }

    fn check_many_sync<K: Key>(&self, strategy: &S, calls: &[(K, u64)]) -> Vec<Answer<Decision>> {
        let now = self.clock.now();
        let mut entries = self.lock();
        let mut check = |key: &K, cost| {
            if key.is_empty() {
                return Err(Error::EmptyKey);
            }
            strategy.fits(cost)?;
            let entry = entries
                .entry(OwnedKey::of(key))
                .or_insert_with(|| self.entry());
            Ok(strategy.decide(&mut entry.state, now, cost))
        };
        calls.iter().map(|(key, cost)| check(key, *cost)).collect()
    }
}
