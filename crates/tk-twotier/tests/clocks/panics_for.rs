//! A clock that panics.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::SeqCst},
};

use tk_core::{Clock, ManualClock, Monotonic, Timestamp};

/// A clock that panics when it is told to, whichever side is read.
#[derive(Clone, Debug)]
pub(crate) struct PanicsFor(Arc<ManualClock>, Arc<AtomicU64>);

impl PanicsFor {
    pub(crate) fn of(clock: Arc<ManualClock>) -> Self {
        Self(clock, Arc::default())
    }

    /// From now on, so many times.
    pub(crate) fn readings(&self, readings: u64) {
        self.1.store(readings, SeqCst);
    }

    fn read(&self) {
        let left = self.1.load(SeqCst);
        self.1.store(left.saturating_sub(1), SeqCst);
        assert_eq!(left, 0, "a clock's bug");
    }
}

impl Clock for PanicsFor {
    fn now(&self) -> Timestamp {
        self.read();
        self.0.now()
    }

    fn monotonic(&self) -> Monotonic {
        self.read();
        self.0.monotonic()
    }
}
