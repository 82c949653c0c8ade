//! The lock: a real one, or loom's under `--cfg loom`.
//!
//! The real one spins: a hit holds it for some tens of nanoseconds, and a lock that sleeps took a fifth of a hit's time
//! only to let go. See [`tk_core::Patience`] for those who wait longer.

#[cfg(not(loom))]
pub(crate) use self::real::{Mutex, MutexGuard};

#[cfg(not(loom))]
mod real {
    use spinning_top::{RawSpinlock, relax::Relax};
    use tk_core::Patience;

    pub(crate) type Mutex<T> = lock_api::Mutex<RawSpinlock<Patiently>, T>;
    pub(crate) type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawSpinlock<Patiently>, T>;

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
pub(crate) use self::modelled::{Mutex, MutexGuard};

#[cfg(loom)]
mod modelled {
    pub(crate) use loom::sync::MutexGuard;

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
    }
}
