//! Locks and atomics: real ones, or loom's under `--cfg loom`.
//!
//! The lock spins. A shard is held for some tens of nanoseconds, and on a machine where an atomic read-modify-write
//! takes 9 ns of a check's 40, the one that a sleeping lock needs to let go (to learn whether somebody sleeps) costs more than
//! all waiting: `parking_lot` and `std` took 19 ns per uncontended pair, a spinning lock 9. What is wrong with
//! spinning locks is that a holder may be descheduled, or be of lower priority than those who wait; so whoever has
//! spun for about ten microseconds yields, and whoever has yielded often sleeps.

#[cfg(not(loom))]
mod real {
    pub(crate) use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};

    pub(crate) use std::thread_local;

    use ahash::RandomState;
    use spinning_top::{RawSpinlock, relax::Relax};
    use tk_core::Patience;

    pub(crate) type Mutex<T> = lock_api::Mutex<RawSpinlock<Patiently>, T>;

    /// A hash whose keys nobody can know.
    pub(crate) fn keyed_hash() -> RandomState {
        RandomState::new()
    }

    #[derive(Debug, Default)]
    pub(crate) struct Patiently(Patience);

    impl Relax for Patiently {
        #[inline]
        fn relax(&mut self) {
            self.0.wait();
        }
    }
}

#[cfg(loom)]
mod modelled {
    pub(crate) use loom::sync::{
        MutexGuard,
        atomic::{AtomicU64, AtomicUsize, Ordering, fence},
    };

    pub(crate) use loom::thread_local;

    use ahash::RandomState;

    /// The same hash each time: loom runs a model again and again, and must find it unchanged.
    pub(crate) fn keyed_hash() -> RandomState {
        RandomState::with_seeds(1, 2, 3, 4)
    }

    /// Loom's lock with the face of the real one, which knows no poison.
    #[derive(Debug)]
    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            self.0
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner())
        }

        pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            self.0.try_lock().ok()
        }
    }
}

#[cfg(loom)]
pub(crate) use modelled::*;
#[cfg(not(loom))]
pub(crate) use real::*;
