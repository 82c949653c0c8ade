//! Locks and atomics: real ones, or loom's under `--cfg loom`.

#[cfg(not(loom))]
mod real {
    pub(crate) use core::sync::atomic::{AtomicUsize, Ordering};
    pub(crate) use parking_lot::Mutex;
}

#[cfg(loom)]
mod modelled {
    pub(crate) use loom::sync::{
        MutexGuard,
        atomic::{AtomicUsize, Ordering},
    };

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
