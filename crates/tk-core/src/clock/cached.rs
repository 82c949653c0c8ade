//! A coarser and cheaper reading of another clock.

use alloc::sync::{Arc, Weak};
use core::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};
use std::{io, thread};

use crate::{Clock, Monotonic, SystemClock, Timestamp};

/// Remembers a reading of another clock, so that a check costs a load instead of a clock reading.
///
/// Readings lag behind by at most the time between refreshes. A request is dated as much too early, so in any span of time a limit may
/// admit what it replenishes in that much more, and a fixed window also what was left of the one before. Clones share the reading.
///
/// That time has no bound: the thread that refreshes may be held up for as long as the system likes, and an owner may
/// forget. A lease that ended so late would exceed a limit by all its credits. So the [lag](Clock::lag) is
/// [`Duration::MAX`], and leases are not counted by this clock: a limiter that leases refuses it.
///
/// ```
/// use tk_core::{CachedClock, Clock, ManualClock, Timestamp};
///
/// let source = std::sync::Arc::new(ManualClock::at(Timestamp::from_secs(7)));
/// let clock = CachedClock::of(source.clone());
/// source.set_wall(Timestamp::from_secs(8));
/// assert_eq!(clock.now(), Timestamp::from_secs(7));
/// clock.refresh();
/// assert_eq!(clock.now(), Timestamp::from_secs(8));
/// ```
#[derive(Clone, Debug)]
pub struct CachedClock<C = SystemClock> {
    shared: Arc<Shared<C>>,
}

#[derive(Debug)]
struct Shared<C> {
    source: C,
    wall: AtomicU64,
    monotonic: AtomicU64,
    refreshing: AtomicBool,
}

impl CachedClock {
    /// Caches the system clock and refreshes it every `interval` (at least 1 us) on a thread of its own,
    /// which ends within an interval after the last clone is dropped.
    ///
    /// # Errors
    ///
    /// If the thread cannot be started.
    pub fn every(interval: Duration) -> io::Result<Self> {
        let clock = Self::of(SystemClock);
        let shared = Arc::downgrade(&clock.shared);
        let interval = interval.max(Duration::from_micros(1));
        thread::Builder::new()
            .name("throttlekit-clock".into())
            .spawn(move || refresh_until_dropped(&shared, interval))?;
        Ok(clock)
    }
}

impl<C: Clock> CachedClock<C> {
    /// Caches `source`; the owner calls [`CachedClock::refresh`] as often as it likes.
    #[must_use]
    pub fn of(source: C) -> Self {
        let wall = AtomicU64::new(source.now().as_micros());
        let monotonic = AtomicU64::new(source.monotonic().as_micros());
        Self {
            shared: Arc::new(Shared {
                source,
                wall,
                monotonic,
                refreshing: AtomicBool::new(false),
            }),
        }
    }

    /// Reads the source anew, unless another thread is about to.
    pub fn refresh(&self) {
        self.shared.refresh();
    }
}

impl<C: Clock> Shared<C> {
    /// One at a time: of two that race, the slower would put an older reading in place of a newer one.
    fn refresh(&self) {
        if self.refreshing.swap(true, Ordering::Acquire) {
            return;
        }
        self.wall
            .store(self.source.now().as_micros(), Ordering::Release);
        self.monotonic
            .store(self.source.monotonic().as_micros(), Ordering::Release);
        self.refreshing.store(false, Ordering::Release);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the refresher paces itself by real time"
)]
fn refresh_until_dropped(shared: &Weak<Shared<SystemClock>>, interval: Duration) {
    while let Some(shared) = shared.upgrade() {
        shared.refresh();
        drop(shared);
        thread::sleep(interval);
    }
}

impl<C: Clock> Clock for CachedClock<C> {
    #[inline]
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.shared.wall.load(Ordering::Acquire))
    }

    fn monotonic(&self) -> Monotonic {
        Monotonic::from_micros(self.shared.monotonic.load(Ordering::Acquire))
    }

    fn lag(&self) -> Duration {
        Duration::MAX
    }
}
