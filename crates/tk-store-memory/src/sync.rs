//! Locks and atomics: real ones, or loom's under `--cfg loom`.
//!
//! The lock spins. A shard is held for some tens of nanoseconds, and on a machine where an atomic read-modify-write
//! takes 9 ns of a check's 40, the one that a sleeping lock needs to let go (to learn whether somebody sleeps) costs more than
//! all waiting: `parking_lot` and `std` took 19 ns per uncontended pair, a spinning lock 9. What is wrong with
//! spinning locks is that a holder may be descheduled, or be of lower priority than those who wait; so whoever has
//! spun for about a microsecond yields, and whoever has yielded often sleeps.

#[cfg(not(loom))]
mod real {
    pub(crate) use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};

    pub(crate) use std::thread_local;

    use core::{hint, time::Duration};
    use std::thread;

    use ahash::RandomState;

    use spinning_top::{RawSpinlock, relax::Relax};

    pub(crate) type Mutex<T> = lock_api::Mutex<RawSpinlock<Patience>, T>;

    /// A hash whose keys nobody can know.
    pub(crate) fn keyed_hash() -> RandomState {
        RandomState::new()
    }

    /// Spins, then yields, then sleeps.
    #[derive(Debug, Default)]
    pub(crate) struct Patience(u32);

    /// Rounds of spinning, each twice as long as the one before, the first about half a microsecond. Shorter ones make the
    /// holder lose the shard's lines to whoever only looks; threads that contend for one key get more done in turns of
    /// several checks.
    const SPINS: u32 = 3;
    const YIELDS: u32 = 100;

    impl Relax for Patience {
        #[inline]
        fn relax(&mut self) {
            self.0 = self.0.saturating_add(1);
            if self.0 <= SPINS {
                (0..4 << self.0).for_each(|_| hint::spin_loop());
            } else {
                wait(self.0 - SPINS);
            }
        }
    }

    #[cold]
    #[expect(
        clippy::disallowed_methods,
        reason = "the holder was descheduled, and is only helped by getting out of its way"
    )]
    fn wait(times: u32) {
        if times <= YIELDS {
            thread::yield_now();
        } else {
            thread::sleep(Duration::from_micros(50));
        }
    }
}

#[cfg(loom)]
mod modelled {
    pub(crate) use loom::sync::{
        MutexGuard,
        atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence},
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
