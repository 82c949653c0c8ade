//! Time from the processor's own counter.

use std::sync::OnceLock;

use tk_core::{Clock, Monotonic, SystemClock, Timestamp};

/// Real time, read from the processor's time stamp counter by way of [`quanta`](https://docs.rs/quanta).
///
/// A reading costs about half of one of [`SystemClock`], which is most of what a check of a hot key costs. The price: the
/// counter's rate is measured once, when a process first asks for this clock (which takes up to 0.2 seconds), and not corrected
/// afterwards as the system's clock is, so it drifts by some parts in a million; and that the counters of all
/// processors agree is taken for granted where the processor says so. Where there is no such counter it reads the system's clock.
///
/// All of a process's have one anchor. The wall is read once, from a [`SystemClock`].
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
    anchor: &'static Anchor,
}

#[derive(Debug)]
struct Anchor {
    clock: quanta::Clock,
    raw: u64,
    wall: u64,
}

static ANCHOR: OnceLock<Anchor> = OnceLock::new();

impl QuantaClock {
    /// The process's clock.
    #[must_use]
    pub fn new() -> Self {
        let anchor = ANCHOR.get_or_init(|| {
            let clock = quanta::Clock::new();
            Anchor {
                raw: clock.raw(),
                wall: SystemClock.now().as_micros(),
                clock,
            }
        });
        Self { anchor }
    }

    #[inline]
    fn elapsed(&self) -> u64 {
        let Anchor { clock, raw, .. } = self.anchor;
        // Saturates at zero, should another processor's counter lag behind.
        clock.delta_as_nanos(*raw, clock.raw()) / 1_000
    }
}

impl Default for QuantaClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for QuantaClock {
    #[inline]
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.anchor.wall.saturating_add(self.elapsed()))
    }

    #[inline]
    fn monotonic(&self) -> Monotonic {
        Monotonic::from_micros(self.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_tells_about_the_time_that_the_system_tells() {
        let clock = QuantaClock::new();
        let before = SystemClock.now();
        let now = clock.now();
        let apart = now.since(before).max(before.since(now));
        assert!(apart < core::time::Duration::from_secs(10), "{apart:?}");
        assert!(clock.monotonic() <= clock.monotonic());
    }
}
