//! Never more than the strategy allows, whatever is asked.

use std::time::Duration;

use tk_core::{
    FixedWindow, Gcra, SlidingWindow, SlidingWindowLog, Strategy, Timestamp, TokenBucket,
};

use crate::{
    for_each_strategy,
    story::{End, Told, Verdict, claim},
};

for_each_strategy!(no_span_of_time_admits_more_than_is_allowed);

/// Units admitted, by instant in microseconds.
type Admitted = [(u64, u64)];

/// The greatest number of units that a strategy lets through, said without reference to how it counts.
trait Allows: Told {
    /// Whether what was admitted is within it.
    fn allows(&self, admitted: &Admitted) -> bool;
}

/// In any span t at most `burst + t / emission`, in exact fractions.
fn allows_rate(burst: u64, emission: tk_core::Emission, admitted: &Admitted) -> bool {
    let (p, q) = (
        u128::from(emission.numerator),
        u128::from(emission.denominator),
    );
    (0..admitted.len()).all(|first| {
        let (from, _) = admitted[first];
        let mut units = 0;
        admitted[first..].iter().all(|&(at, n)| {
            units += u128::from(n);
            units * p <= u128::from(burst) * p + u128::from(at - from) * q
        })
    })
}

/// Units admitted from `from` on, and before `to`.
fn between(admitted: &Admitted, from: u64, to: u64) -> u64 {
    let within = admitted.iter().filter(|(at, _)| (from..to).contains(at));
    within.map(|(_, units)| units).sum()
}

impl Allows for Gcra {
    fn allows(&self, admitted: &Admitted) -> bool {
        allows_rate(self.capacity(), self.emission(), admitted)
    }
}

impl Allows for TokenBucket {
    fn allows(&self, admitted: &Admitted) -> bool {
        allows_rate(self.capacity(), self.emission(), admitted)
    }
}

impl Allows for FixedWindow {
    fn allows(&self, admitted: &Admitted) -> bool {
        let window = self.window().as_micros() as u64;
        admitted.iter().all(|(at, _)| {
            let start = at / window * window;
            between(admitted, start, start + window) <= self.limit()
        })
    }
}

impl Allows for SlidingWindow {
    /// In any `window` at most the limit, but for the units of one slice.
    fn allows(&self, admitted: &Admitted) -> bool {
        let window = self.window().as_micros() as u64;
        let buckets = self.bucket_count();
        // The first microsecond in the slice of an instant, and behind it.
        let slice = |at: u64| u128::from(at) * u128::from(buckets) / u128::from(window);
        let begins = |slice: u128| (slice * u128::from(window)).div_ceil(buckets.into()) as u64;
        admitted.iter().all(|&(at, _)| {
            let last = slice(at);
            let full = begins((last + 1).saturating_sub(buckets.into()));
            let trailing = (at + 1).saturating_sub(window);
            let one_slice = between(admitted, trailing, full.max(trailing));
            between(admitted, full, at + 1) <= self.limit()
                && between(admitted, trailing, at + 1) <= self.limit() + one_slice
        })
    }
}

impl Allows for SlidingWindowLog {
    fn allows(&self, admitted: &Admitted) -> bool {
        let window = self.window().as_micros() as u64;
        admitted.iter().all(|&(at, _)| {
            between(admitted, (at + 1).saturating_sub(window), at + 1) <= self.limit()
        })
    }
}

/// From the present on nothing is handed back and the clock advances.
fn no_span_of_time_admits_more_than_is_allowed<S: Allows>(mut end: End<S>) -> Verdict {
    let mut admitted = Vec::new();
    let (mut told, mut reset) = (Duration::ZERO, Duration::from_secs(1));
    for _ in 0..30 {
        let micros = reset.as_micros() as u64;
        let wait = match end.random.within(0, 5) {
            0 | 1 => Duration::ZERO,
            2 => told,
            3 => Duration::from_micros(end.random.up_to(1 + micros / 4)),
            _ => Duration::from_micros(end.random.within(0, micros)),
        };
        if end.now + wait == Timestamp::MAX {
            break;
        }
        end.now = end.now + wait;
        let cost = end.cost();
        let decision = end.decide(cost);
        (told, reset) = (decision.retry_after, decision.reset_at.since(end.now));
        if decision.allowed {
            admitted.push((end.now.as_micros(), cost));
        }
    }
    claim(end.strategy.allows(&admitted), || {
        format!("admitted {admitted:?}")
    })
}
