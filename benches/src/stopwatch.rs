//! The one place where the benches read real time.

use std::time::{Duration, Instant};

/// Time since it was started.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts.
    #[must_use]
    #[inline]
    #[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Time since the start.
    #[must_use]
    #[inline]
    #[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
    pub fn elapsed(&self) -> Duration {
        Instant::now().saturating_duration_since(self.0)
    }
}
