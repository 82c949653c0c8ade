//! Real time, anchored once.

use core::sync::atomic::{AtomicU64, Ordering};
use std::{
    sync::OnceLock,
    time::{Instant, SystemTime},
};

use crate::{Clock, Monotonic, Timestamp, time::micros};

/// Real time: read from the wall once, then advanced by the monotonic clock.
///
/// A process has one anchor, taken when any `SystemClock` is first read, so all of them agree. Since
/// only the monotonic clock advances it, a wall that is set back or forth while the process runs is not
/// noticed: no limit opens early and no key stays locked. Call [`SystemClock::reanchor`] to
/// follow a wall that has been set forward.
///
/// ```
/// use tk_core::{Clock, SystemClock};
///
/// let before = SystemClock.now();
/// assert!(SystemClock.now() >= before);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

struct Anchor {
    instant: Instant,
    /// The wall at `instant`; only ever raised.
    wall: AtomicU64,
}

static ANCHOR: OnceLock<Anchor> = OnceLock::new();

impl SystemClock {
    /// Moves this process's clock forward to the wall, and returns by how many microseconds.
    ///
    /// Does nothing, and returns 0, if the wall is behind: time never steps back.
    pub fn reanchor() -> u64 {
        let anchor = anchor();
        // The wall as it would have stood at the anchor; callers that race raise it once.
        let anchored = wall().saturating_sub(elapsed(anchor));
        let before = anchor.wall.fetch_max(anchored, Ordering::AcqRel);
        anchored.saturating_sub(before)
    }

    /// The wall at the origin of the monotonic side: [`now`](Clock::now) is as far after it as that side has counted.
    #[cfg(feature = "quanta")]
    pub(super) fn wall_at_origin() -> &'static AtomicU64 {
        &anchor().wall
    }
}

impl Clock for SystemClock {
    #[inline]
    fn now(&self) -> Timestamp {
        let anchor = anchor();
        let wall = anchor.wall.load(Ordering::Relaxed);
        Timestamp::from_micros(wall.saturating_add(elapsed(anchor)))
    }

    #[inline]
    fn monotonic(&self) -> Monotonic {
        Monotonic::from_micros(elapsed(anchor()))
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the system clock is where real time enters"
)]
#[inline]
fn anchor() -> &'static Anchor {
    ANCHOR.get_or_init(|| Anchor {
        instant: Instant::now(),
        wall: AtomicU64::new(wall()),
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "the system clock is where real time enters"
)]
#[inline]
fn elapsed(anchor: &Anchor) -> u64 {
    micros(Instant::now().saturating_duration_since(anchor.instant))
}

/// Microseconds since the epoch; a wall set before 1970 counts as the epoch.
#[expect(
    clippy::disallowed_methods,
    reason = "the system clock is where real time enters"
)]
fn wall() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, micros)
}

#[cfg(test)]
static WALL_IS_SET: std::sync::RwLock<()> = std::sync::RwLock::new(());

#[cfg(all(test, feature = "quanta"))]
impl SystemClock {
    /// Keeps the tests of this process from setting the wall meanwhile.
    pub(super) fn unmoved() -> impl Sized {
        WALL_IS_SET.read()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reanchoring_follows_a_wall_that_was_set_forward() {
        let _set = WALL_IS_SET.write();
        const HOUR: u64 = 3_600_000_000;
        const MINUTE: u64 = 60_000_000;
        // A wall that is set forward by an hour is an hour ahead of what was anchored.
        let before = SystemClock.now();
        anchor().wall.fetch_sub(HOUR, Ordering::AcqRel);
        let behind = SystemClock.now();
        let moved = SystemClock::reanchor();
        assert!(before.since(behind).as_micros().abs_diff(u128::from(HOUR)) < u128::from(MINUTE));
        assert!(moved.abs_diff(HOUR) < MINUTE, "moved by {moved} us");
        assert!(SystemClock.now() >= before);
    }

    #[test]
    fn reanchoring_does_not_follow_a_wall_that_was_set_back() {
        let _set = WALL_IS_SET.write();
        const HOUR: u64 = 3_600_000_000;
        // A wall that is set back by an hour is an hour behind what was anchored.
        anchor().wall.fetch_add(HOUR, Ordering::AcqRel);
        let before = SystemClock.now();
        let moved = SystemClock::reanchor();
        let after = SystemClock.now();
        anchor().wall.fetch_sub(HOUR, Ordering::AcqRel);
        assert_eq!(moved, 0);
        assert!(after >= before, "{after} after {before}");
    }
}
