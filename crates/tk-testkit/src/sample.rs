//! Strategies drawn from the whole range of input.

use std::time::Duration;

use tk_core::{FixedWindow, Gcra, Range, SlidingWindow, SlidingWindowLog, Strategy, TokenBucket};

use crate::Random;

/// A strategy that can be drawn at random, with any parameters in range.
///
/// Everyday parameters are as likely as the ends of the range.
pub trait Sample: Strategy + std::fmt::Debug {
    /// Draws a strategy.
    fn sample(random: &mut Random) -> Self;
}

/// Everyday limits, as likely as all others together.
const LIMITS: [u64; 12] = [1, 2, 3, 5, 7, 10, 60, 97, 100, 1_000, 10_000, 99_991];
/// Everyday periods in microseconds.
const PERIODS: [u64; 6] = [
    1_000,
    10_000,
    1_000_000,
    10_000_000,
    60_000_000,
    86_400_000_000,
];

fn units(random: &mut Random) -> u64 {
    if random.chance(60) {
        random.choose(&LIMITS)
    } else {
        random.up_to(Range::MAX_UNITS).max(1)
    }
}

fn period(random: &mut Random) -> Duration {
    Duration::from_micros(if random.chance(60) {
        random.choose(&PERIODS)
    } else {
        random.up_to(Range::MAX_PERIOD_MICROS).max(1)
    })
}

/// Draws until the parameters fit each other.
fn first<S, E>(mut draw: impl FnMut() -> Result<S, E>) -> S {
    loop {
        if let Ok(strategy) = draw() {
            return strategy;
        }
    }
}

impl Sample for Gcra {
    fn sample(random: &mut Random) -> Self {
        first(|| {
            let limit = units(random);
            let strategy = Self::new(limit, period(random))?;
            let burst = match random.within(0, 3) {
                0 => limit,
                1 => random.within(1, limit),
                2 => random.within(1, limit.saturating_mul(3)),
                _ => units(random),
            };
            strategy.burst(burst)
        })
    }
}

impl Sample for TokenBucket {
    fn sample(random: &mut Random) -> Self {
        first(|| Self::new(units(random), units(random), period(random)))
    }
}

impl Sample for FixedWindow {
    fn sample(random: &mut Random) -> Self {
        first(|| Self::new(units(random), period(random)))
    }
}

impl Sample for SlidingWindow {
    fn sample(random: &mut Random) -> Self {
        first(|| {
            let buckets = if random.chance(80) {
                random.choose(&[1, 2, 3, 7, 10, 60])
            } else {
                random.within(1, Range::MAX_BUCKETS)
            };
            Self::new(units(random), period(random))?.buckets(buckets)
        })
    }
}

impl Sample for SlidingWindowLog {
    fn sample(random: &mut Random) -> Self {
        first(|| Self::new(units(random), period(random)))
    }
}
