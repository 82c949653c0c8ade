//! A clock that moves when told.

use core::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use crate::{Clock, Monotonic, Timestamp, time::micros};

/// A clock for tests and replays: it stands still until it is moved.
///
/// The wall may be set to any instant, also backwards, without moving the monotonic side; that is
/// how a test makes a wall clock step or drift.
///
/// ```
/// use core::time::Duration;
/// use tk_core::{Clock, ManualClock, Timestamp};
///
/// let clock = ManualClock::at(Timestamp::from_secs(100));
/// clock.advance(Duration::from_secs(5));
/// clock.set_wall(Timestamp::from_secs(90));
/// assert_eq!(clock.now(), Timestamp::from_secs(90));
/// assert_eq!(clock.monotonic().as_micros(), 5_000_000);
/// ```
#[derive(Debug, Default)]
pub struct ManualClock {
    wall: AtomicU64,
    monotonic: AtomicU64,
}

impl ManualClock {
    /// A clock whose wall stands at `now` and whose monotonic side stands at its origin.
    #[must_use]
    pub const fn at(now: Timestamp) -> Self {
        Self {
            wall: AtomicU64::new(now.as_micros()),
            monotonic: AtomicU64::new(0),
        }
    }

    /// Moves both sides forward by the whole microseconds in `duration`.
    pub fn advance(&self, duration: Duration) {
        self.advance_monotonic(duration);
        let moved = |wall| Some((Timestamp::from_micros(wall) + duration).as_micros());
        // The closure never returns `None`, so the update always takes place.
        let _ = self
            .wall
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, moved);
    }

    /// Moves the monotonic side alone, as if the wall had been stopped.
    pub fn advance_monotonic(&self, duration: Duration) {
        let moved = |at: u64| Some(at.saturating_add(micros(duration)));
        let _ = self
            .monotonic
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, moved);
    }

    /// Sets the wall to `now`, forwards or backwards, and leaves the monotonic side alone.
    pub fn set_wall(&self, now: Timestamp) {
        self.wall.store(now.as_micros(), Ordering::Release);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.wall.load(Ordering::Acquire))
    }

    fn monotonic(&self) -> Monotonic {
        Monotonic::from_micros(self.monotonic.load(Ordering::Acquire))
    }
}
