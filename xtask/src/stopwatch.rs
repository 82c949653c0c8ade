//! How long a step took, for people to read. Nothing is ever decided by it.

use std::time::{Duration, Instant};

#[derive(Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "shown to people, never compared")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// `0.8 s`, `42 s`, `3 min 07 s`.
pub(crate) fn shown(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..=9 => format!("{:.1} s", time.as_secs_f64()),
        10..=119 => format!("{seconds} s"),
        _ => format!("{} min {:02} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_precise_as_they_are_short() {
        assert_eq!(shown(Duration::from_millis(840)), "0.8 s");
        assert_eq!(shown(Duration::from_millis(42_900)), "42 s");
        assert_eq!(shown(Duration::from_secs(187)), "3 min 07 s");
    }
}
