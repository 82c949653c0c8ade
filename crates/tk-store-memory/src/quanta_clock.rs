//! The system's clock, interpolated by the processor's own counter.
//!
//! A reading of the system's clock is most of what a check of a hot key costs. The processor's time stamp counter is read
//! in half the time and does not hold up the instructions around it, but it knows neither what time it is nor exactly how fast it
//! runs: measured on a busy machine its rate was off by more than a part in ten thousand. So it only bridges the time between two
//! readings of the system's clock, a millisecond apart:
//!
//! ```text
//! now = origin + counted - counted / 512 + correction
//! ```
//!
//! The counted time is slowed by two parts in a thousand, far more than the measured rate is off, so that it falls
//! behind rather than running ahead: by 2 us in a millisecond. Every millisecond one caller reads the system's clock and raises the
//! correction by what is missing. The correction is one number and only grows, so there is nothing to tear and time
//! never steps back; and a caller that comes after an hour of silence corrects before it answers.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::OnceLock;

use tk_core::{Clock, Monotonic, SystemClock, Timestamp};

/// [`SystemClock`], read at half the cost: the processor's time stamp counter bridges a millisecond at a time.
///
/// What a [`MemoryStore`](crate::MemoryStore) reads unless told otherwise. It is never ahead of the system's clock, and behind by
/// about four microseconds at most. The counter is read by way of the crate `quanta`, which falls back on the system's clock where the
/// processor's counter does not run evenly; the first call in a process measures the counter's rate, which takes some
/// milliseconds, and 0.2 seconds at most. That the counters of all processors agree is taken for granted where the
/// processor says so: if they did not, time could step back by their difference when a thread moves. Should a counter leap
/// (a virtual machine that moves to another host may see it do so), this clock is ahead until the slowed count has let the system's
/// catch up.
///
/// ```
/// use tk_core::{Gcra, RateLimiter};
/// use tk_store_memory::{MemoryStore, QuantaClock};
///
/// let store = MemoryStore::with_clock(QuantaClock::new());
/// let limiter = RateLimiter::new(Gcra::per_second(10)?, store);
/// assert!(limiter.check("alice")?.allowed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct QuantaClock {
    shared: &'static Shared,
}

#[derive(Debug)]
struct Shared {
    counter: quanta::Clock,
    /// Slowed microseconds per unit of the counter, times 2^64.
    rate: u64,
    /// The counter at the origin.
    raw: u64,
    /// The wall and the monotonic side at the origin, in microseconds.
    wall: u64,
    monotonic: u64,
    /// Microseconds by which the slowed count is behind; only ever raised.
    wall_correction: AtomicU64,
    monotonic_correction: AtomicU64,
    /// The count at which somebody reads the system's clock again.
    due: AtomicU64,
}

/// Microseconds between two readings of the system's clock.
const BRIDGE: u64 = 1_000;

static SHARED: OnceLock<Shared> = OnceLock::new();

impl QuantaClock {
    /// The process's clock.
    #[must_use]
    pub fn new() -> Self {
        let shared = SHARED.get_or_init(|| {
            let counter = quanta::Clock::new();
            let wall = SystemClock.now().as_micros();
            let monotonic = SystemClock.monotonic().as_micros();
            Shared {
                // After the others: what passes between them makes this clock late rather than early.
                raw: counter.raw(),
                wall,
                monotonic,
                wall_correction: AtomicU64::new(0),
                monotonic_correction: AtomicU64::new(0),
                due: AtomicU64::new(0),
                rate: slowed_rate(&counter),
                counter,
            }
        });
        Self { shared }
    }
}

impl Shared {
    /// Microseconds counted since the origin, slowed; corrects them first if that is due.
    #[inline]
    fn count(&self) -> u64 {
        let count = self.slowed();
        if count >= self.due.load(Ordering::Relaxed) {
            self.correct();
        }
        count
    }

    #[inline]
    fn slowed(&self) -> u64 {
        // Saturates at zero, should another processor's counter lag behind.
        let counted = self.counter.raw().saturating_sub(self.raw);
        ((u128::from(counted) * u128::from(self.rate)) >> 64) as u64
    }

    #[cold]
    fn correct(&self) {
        let wall = SystemClock.now().as_micros();
        let monotonic = SystemClock.monotonic().as_micros();
        // After the others, so that a thread that is descheduled in between corrects too little rather than too much.
        let count = self.slowed();
        // Less one, since both counts are rounded down, and not at the same instants.
        let behind = |now: u64, origin: u64| now.saturating_sub(origin.saturating_add(count + 1));
        self.wall_correction
            .fetch_max(behind(wall, self.wall), Ordering::Relaxed);
        self.monotonic_correction
            .fetch_max(behind(monotonic, self.monotonic), Ordering::Relaxed);
        self.due.fetch_max(count + BRIDGE, Ordering::Relaxed);
    }
}

/// Microseconds per unit of `counter`, times 2^64, and slowed by a part in 512.
///
/// One multiplication then does what a conversion to nanoseconds, a division and a slowing do. A counter faster than one
/// unit per microsecond, and all are, has a rate below 2^64.
fn slowed_rate(counter: &quanta::Clock) -> u64 {
    const UNITS: u64 = 1 << 40;
    let nanos = u128::from(counter.delta_as_nanos(0, UNITS));
    let rate = (nanos << (64 - 40)) / 1_000;
    u64::try_from(rate - rate / 512).unwrap_or(u64::MAX)
}

impl Default for QuantaClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for QuantaClock {
    #[inline]
    fn now(&self) -> Timestamp {
        let count = self.shared.count();
        let correction = self.shared.wall_correction.load(Ordering::Relaxed);
        Timestamp::from_micros(self.shared.wall.saturating_add(count + correction))
    }

    #[inline]
    fn monotonic(&self) -> Monotonic {
        let count = self.shared.count();
        let correction = self.shared.monotonic_correction.load(Ordering::Relaxed);
        Monotonic::from_micros(self.shared.monotonic.saturating_add(count + correction))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_runs_ahead_of_the_system_and_never_steps_back() {
        let clock = QuantaClock::new();
        let (mut now, mut monotonic) = (clock.now(), clock.monotonic());
        for _ in 0..200_000 {
            let read = (clock.now(), clock.monotonic());
            assert!(read.0 >= now && read.1 >= monotonic);
            (now, monotonic) = read;
            let ahead = now.since(SystemClock.now());
            assert!(ahead.is_zero(), "{ahead:?}");
            assert!(monotonic <= SystemClock.monotonic());
        }
    }

    #[test]
    fn it_does_not_fall_behind() {
        let clock = QuantaClock::new();
        // The least of many readings: a thread may be descheduled between the two.
        let behind = (0..1_000)
            .map(|_| {
                let now = clock.now();
                SystemClock.now().since(now)
            })
            .min();
        assert!(
            behind.is_some_and(|behind| behind.as_micros() < 100),
            "{behind:?}"
        );
    }
}
