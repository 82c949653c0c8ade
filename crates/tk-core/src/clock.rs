//! Where time enters.

#[cfg(feature = "std")]
mod cached;
#[cfg(target_has_atomic = "64")]
mod manual;
#[cfg(feature = "std")]
mod system;

#[cfg(feature = "std")]
pub use cached::CachedClock;
#[cfg(target_has_atomic = "64")]
pub use manual::ManualClock;
#[cfg(feature = "std")]
pub use system::SystemClock;

use crate::{Monotonic, Timestamp};

/// A source of time with two faces: the wall, and a count that never steps.
///
/// Windows and reset times are instants on the wall, since other machines share them. The life of a
/// lease is counted monotonically, since a wall may be set while the lease is held.
///
/// Share one clock by passing a reference or an `Arc`; both are clocks.
pub trait Clock: Send + Sync {
    /// The instant on the wall.
    fn now(&self) -> Timestamp;

    /// The instant on the clock that never steps.
    fn monotonic(&self) -> Monotonic;
}

impl<C: Clock + ?Sized> Clock for &C {
    fn now(&self) -> Timestamp {
        (**self).now()
    }

    fn monotonic(&self) -> Monotonic {
        (**self).monotonic()
    }
}

#[cfg(feature = "alloc")]
impl<C: Clock + ?Sized> Clock for alloc::sync::Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }

    fn monotonic(&self) -> Monotonic {
        (**self).monotonic()
    }
}
