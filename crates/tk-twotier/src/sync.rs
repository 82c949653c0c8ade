//! The lock: the real one, or loom's under `--cfg loom`.

#[cfg(not(loom))]
pub(crate) use parking_lot::{Mutex, MutexGuard};

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
