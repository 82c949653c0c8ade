//! The system's clock, interpolated by the processor's own counter.
//!
//! A reading of the system's clock is most of what a check of a hot key costs. The processor's time stamp counter is read
//! in half the time and does not hold up the instructions around it, but it knows neither what time it is nor exactly how fast it
//! runs: measured on a busy machine its rate was off by more than a part in ten thousand. So it only bridges the time between two
//! readings of the system's clock, a millisecond apart. [`Bridge`] is how, and says what that is worth.

mod bridge;

use core::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};
use std::sync::OnceLock;

use self::bridge::{Bridge, LAG};
use crate::{Clock, Monotonic, SystemClock, Timestamp};

/// [`SystemClock`], read at half the cost: the processor's time stamp counter bridges a millisecond at a time.
///
/// What a memory store and a two-tier limiter read unless told otherwise. Unless the counter leaps it is never ahead of the system's clock, and
/// behind by two or three microseconds as a rule. For leases, which must not outlast their window, it vouches for
/// [`QuantaClock::LAG`]: that is proved from how it is built, for threads that are held up anywhere, and for the first call after any silence.
///
/// The counter is read by way of the crate `quanta`, which falls back on the system's clock where the
/// processor's counter does not run evenly. The first reading in a process measures the counter's rate, which takes some
/// milliseconds, and 0.2 seconds at most; stores and limiters read their clock when they are built, so that no request waits for
/// that. The rate is put to the test for ten milliseconds more, in which, as on a machine where it fails or whose
/// system's clock takes microseconds to read, each reading is one of the system's clock.
///
/// That the counters of all processors agree is taken for granted where the
/// processor says so: if they did not, time could step back by their difference when a thread moves. A counter that leaps (a machine that is
/// suspended, or moves to another host, may see it do so) is noticed: should it leap forth, the monotonic side stays ahead, so that leases
/// end early, and the wall stays with the system's.
///
/// ```
/// use tk_core::{Clock, QuantaClock, SystemClock};
///
/// let clock = QuantaClock::new();
/// let before = SystemClock.now();
/// let now = clock.now();
/// assert!(now + clock.lag() >= before && now <= SystemClock.now());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct QuantaClock(());

/// What all clocks of a process share.
#[derive(Debug)]
struct Shared {
    bridge: Bridge,
    counter: quanta::Clock,
    /// Slowed microseconds per unit of the counter, times 2^64.
    rate: i64,
    /// The counter at its count of zero.
    raw: u64,
    /// The system's wall at the origin of its monotonic side.
    wall: &'static AtomicU64,
}

static SHARED: OnceLock<Shared> = OnceLock::new();

impl QuantaClock {
    /// By how much a reading may be behind, at most: 20 us.
    ///
    /// Of these, 10 are for a counter that runs evenly, and the rest is for the millisecond in which one leaps.
    pub const LAG: Duration = Duration::from_micros(LAG);

    /// The process's clock.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }
}

impl Shared {
    fn new() -> Self {
        let counter = quanta::Clock::new();
        let (rate, raw) = (slowed_rate(&counter), counter.raw());
        Self {
            bridge: Bridge::begin(|| slowed(&counter, raw, rate), system),
            counter,
            rate,
            raw,
            wall: SystemClock::wall_at_origin(),
        }
    }

    #[inline]
    fn of_process() -> &'static Self {
        SHARED.get_or_init(Self::new)
    }

    #[inline]
    fn read(&self) -> i64 {
        let count = || slowed(&self.counter, self.raw, self.rate);
        match self.bridge.at(count()) {
            Some(estimate) => estimate,
            None => self.bridge.correct(count, system),
        }
    }
}

/// Microseconds counted since `raw`, slowed. Less than none if the counter has begun anew since.
#[inline]
fn slowed(counter: &quanta::Clock, raw: u64, rate: i64) -> i64 {
    let counted = counter.raw().wrapping_sub(raw) as i64;
    ((i128::from(counted) * i128::from(rate)) >> 64) as i64
}

/// Microseconds by the system's clock, which has counted for less than half of what there is room for.
fn system() -> i64 {
    SystemClock.monotonic().as_micros() as i64
}

/// Microseconds per unit of `counter`, times 2^64, and slowed by a part in 512.
///
/// One multiplication then does what a conversion to nanoseconds, a division and a slowing do. A counter faster than two
/// units per microsecond, and all are, has a rate below 2^63; another would fail its test and never be used.
fn slowed_rate(counter: &quanta::Clock) -> i64 {
    const UNITS: u64 = 1 << 40;
    let nanos = u128::from(counter.delta_as_nanos(0, UNITS));
    let rate = (nanos << (64 - 40)) / 1_000;
    i64::try_from(rate - rate / 512).unwrap_or(i64::MAX)
}

impl Clock for QuantaClock {
    #[inline]
    fn now(&self) -> Timestamp {
        let shared = Shared::of_process();
        let since_origin = loop {
            let lead = shared.bridge.lead();
            let read = shared.read();
            // Should the counter leap in between, its leap may be in one of them and not in the other.
            if shared.bridge.lead() == lead {
                break (read - lead) as u64;
            }
        };
        let wall = shared.wall.load(Ordering::Relaxed);
        Timestamp::from_micros(wall.saturating_add(since_origin))
    }

    #[inline]
    fn monotonic(&self) -> Monotonic {
        Monotonic::from_micros(Shared::of_process().read() as u64)
    }

    fn lag(&self) -> Duration {
        Self::LAG
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_runs_ahead_of_the_system_and_never_steps_back() {
        let _unmoved = SystemClock::unmoved();
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
    fn no_thread_reads_a_time_that_is_behind_by_more_than_the_lag() {
        let _unmoved = SystemClock::unmoved();
        let clock = QuantaClock::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(move || {
                    for _ in 0..50_000 {
                        let (wall, monotonic) = (SystemClock.now(), SystemClock.monotonic());
                        let behind = monotonic.since(clock.monotonic());
                        assert!(behind <= clock.lag(), "{behind:?}");
                        let behind = wall.since(clock.now());
                        assert!(behind <= clock.lag(), "{behind:?}");
                    }
                });
            }
        });
    }
}
