//! Where time enters.

#[cfg(feature = "std")]
mod cached;
#[cfg(target_has_atomic = "64")]
mod manual;
#[cfg(feature = "quanta")]
mod quanta;
#[cfg(feature = "std")]
mod system;

#[cfg(feature = "std")]
pub use cached::CachedClock;
#[cfg(target_has_atomic = "64")]
pub use manual::ManualClock;
#[cfg(feature = "quanta")]
pub use quanta::QuantaClock;
#[cfg(feature = "std")]
pub use system::SystemClock;

use core::time::Duration;

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

    /// By how much, at most, the time between two readings of [`monotonic`](Clock::monotonic) may be short of the time that has
    /// passed between them; [`Duration::MAX`] if there is no such bound.
    ///
    /// A lease must not outlast its window, so whoever counts leases ends them so much earlier, and counts none by a clock
    /// without a bound. It does not change over a clock's life. Rounding a reading down to whole microseconds does not count, and zero is
    /// the default: a clock that remembers or interpolates has to say more, and one that wraps another passes its lag on.
    fn lag(&self) -> Duration {
        Duration::ZERO
    }
}

impl<C: Clock + ?Sized> Clock for &C {
    fn now(&self) -> Timestamp {
        (**self).now()
    }

    fn monotonic(&self) -> Monotonic {
        (**self).monotonic()
    }

    fn lag(&self) -> Duration {
        (**self).lag()
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

    fn lag(&self) -> Duration {
        (**self).lag()
    }
}
