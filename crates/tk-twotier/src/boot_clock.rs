//! A clock that does not stop while the machine sleeps.

use rustix::time::{ClockId, clock_gettime};
use tk_core::{Clock, Monotonic, SystemClock, Timestamp};

/// The system clock, with leases that end by the time since boot, sleep included.
///
/// Linux stops its monotonic clock while the machine is suspended, and the shared store's window goes on. A laptop or a
/// virtual machine that is paused would wake up and spend credits of a window that is long over: by this clock it does not.
///
/// ```
/// use tk_core::Clock;
/// use tk_twotier::BootClock;
///
/// let before = BootClock.monotonic();
/// assert!(BootClock.monotonic() >= before);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct BootClock;

impl Clock for BootClock {
    fn now(&self) -> Timestamp {
        SystemClock.now()
    }

    fn monotonic(&self) -> Monotonic {
        let since_boot = clock_gettime(ClockId::Boottime);
        // Neither is ever negative.
        let (secs, nanos) = (since_boot.tv_sec as u64, since_boot.tv_nsec as u64);
        Monotonic::from_micros(secs.saturating_mul(1_000_000).saturating_add(nanos / 1_000))
    }
}
