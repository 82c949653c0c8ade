//! A fixed piece of work that tells whether the machine is at its usual speed.

use std::hint::black_box;

use crate::{Random, Stopwatch};

/// How much slower than its best the control loop may be before a block counts as disturbed.
const TOLERANCE: f64 = 1.15;
const STEPS: u32 = 150_000;

/// Knows how fast the fixed work can be done.
#[derive(Clone, Debug)]
pub struct Control {
    best: f64,
}

impl Control {
    /// Finds out how fast the work can be done.
    #[must_use]
    pub fn calibrate() -> Self {
        let best = (0..100).map(|_| work()).fold(f64::MAX, f64::min);
        Self { best }
    }

    /// Does the work, and says whether the machine is at its usual speed.
    pub fn is_calm(&mut self) -> bool {
        let now = work();
        self.best = self.best.min(now);
        now <= self.best * TOLERANCE
    }
}

/// Nanoseconds for the fixed work.
fn work() -> f64 {
    let stopwatch = Stopwatch::start();
    let mut random = Random::new(1);
    for _ in 0..STEPS {
        black_box(random.next());
    }
    stopwatch.elapsed().as_nanos() as f64
}
