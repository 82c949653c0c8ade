//! When to stop asking a server that does not answer, and when to ask again.
//!
//! Each call that waits for a dead server costs its caller the whole deadline. So after a few failures in a row the breaker
//! opens: calls are refused at once, but for one per interval, the probe, which is let through. The first answer of any
//! kind closes it. A new connection is no answer yet, but reason enough for a probe at once. Time is an argument.

use std::{
    sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use tk_core::Monotonic;

#[derive(Debug)]
pub(crate) struct Breaker {
    /// Failures in a row at which it opens.
    threshold: u32,
    /// Microseconds from one probe to the next.
    interval: u64,
    failures: AtomicU32,
    /// When the next probe is due, in microseconds, plus 1; 0 if closed.
    next_probe: AtomicU64,
}

impl Breaker {
    pub(crate) fn new(threshold: u32, interval: Duration) -> Self {
        Self {
            threshold,
            interval: u64::try_from(interval.as_micros()).unwrap_or(u64::MAX >> 1),
            failures: AtomicU32::new(0),
            next_probe: AtomicU64::new(0),
        }
    }

    /// Whether all calls may be sent, whatever time it is.
    pub(crate) fn is_closed(&self) -> bool {
        self.next_probe.load(Relaxed) == 0
    }

    /// Whether a call may be sent.
    pub(crate) fn admits(&self, now: Monotonic) -> bool {
        let due = self.next_probe.load(Relaxed);
        if due == 0 {
            return true;
        }
        // Whoever moves the time of the next probe on is the probe. If it is dropped, the next one is due as usual.
        now.as_micros() + 1 >= due
            && self
                .next_probe
                .compare_exchange(due, self.after(now), Relaxed, Relaxed)
                .is_ok()
    }

    /// The server answered.
    pub(crate) fn succeeded(&self) {
        if self.failures.load(Relaxed) != 0 {
            self.failures.store(0, Relaxed);
        }
        if self.next_probe.load(Relaxed) != 0 {
            self.next_probe.store(0, Relaxed);
        }
    }

    /// The server did not answer.
    pub(crate) fn failed(&self, now: Monotonic) {
        let failures = self.failures.fetch_add(1, Relaxed).saturating_add(1);
        if failures >= self.threshold {
            // A breaker that is open already keeps the time that its probe has set.
            let _ = self
                .next_probe
                .compare_exchange(0, self.after(now), Relaxed, Relaxed);
        }
    }

    /// There is reason to believe that the server is back: the next call is a probe.
    pub(crate) fn hurry(&self, now: Monotonic) {
        let due = self.next_probe.load(Relaxed);
        if due != 0 {
            // Whoever was faster has closed it, or is a probe by itself.
            let next = now.as_micros().saturating_add(1).min(due);
            let _ = self
                .next_probe
                .compare_exchange(due, next, Relaxed, Relaxed);
        }
    }

    fn after(&self, now: Monotonic) -> u64 {
        now.as_micros()
            .saturating_add(self.interval)
            .saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(millis: u64) -> Monotonic {
        Monotonic::from_micros(millis * 1_000)
    }

    #[test]
    fn failures_in_a_row_open_it_and_an_answer_closes_it() {
        let breaker = Breaker::new(3, SECOND);
        breaker.failed(at(0));
        breaker.failed(at(0));
        breaker.succeeded();
        breaker.failed(at(1));
        breaker.failed(at(1));
        assert!(breaker.admits(at(1)), "two in a row are not three");
        breaker.failed(at(1));
        assert!(!breaker.admits(at(2)));
        breaker.succeeded();
        assert!(breaker.admits(at(2)));
    }

    #[test]
    fn one_probe_per_interval_is_let_through() {
        let breaker = Breaker::new(1, SECOND);
        breaker.failed(at(0));
        for second in 1..4 {
            assert!(!breaker.admits(at(second * 1_000 - 1)));
            assert!(breaker.admits(at(second * 1_000)), "the probe");
            assert!(!breaker.admits(at(second * 1_000)), "a second one");
            breaker.failed(at(second * 1_000 + 100));
        }
    }

    #[test]
    fn a_new_connection_is_probed_at_once_and_once() {
        let breaker = Breaker::new(1, SECOND);
        breaker.hurry(at(0));
        assert!(breaker.admits(at(0)), "a closed one stays closed");
        breaker.failed(at(1));
        breaker.hurry(at(100));
        assert!(breaker.admits(at(100)));
        assert!(
            !breaker.admits(at(1_099)),
            "no second probe within the interval"
        );
        breaker.hurry(at(2_000));
        assert!(breaker.admits(at(2_000)), "not later than without");
    }

    #[test]
    fn a_dropped_probe_does_not_wedge_it() {
        let breaker = Breaker::new(1, SECOND);
        breaker.failed(at(0));
        assert!(breaker.admits(at(1_000)));
        assert!(
            breaker.admits(at(2_000)),
            "the next probe, though nobody reported on the last"
        );
    }
}
