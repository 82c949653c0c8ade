//! A clock that lags.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use tk_core::{Clock, ManualClock, Monotonic, Timestamp};

/// A clock whose readings are behind by what it is told, up to what it says.
#[derive(Clone)]
pub(crate) struct Behind {
    pub(crate) clock: Arc<ManualClock>,
    behind: Arc<AtomicU64>,
    at_most: Duration,
}

impl Behind {
    /// In time so far.
    pub(crate) fn of(clock: Arc<ManualClock>, at_most_micros: u64) -> Self {
        Self {
            clock,
            behind: Arc::default(),
            at_most: Duration::from_micros(at_most_micros),
        }
    }

    pub(crate) fn by(&self, micros: u64) {
        self.behind.store(micros, SeqCst);
    }

    fn behind(&self) -> Duration {
        Duration::from_micros(self.behind.load(SeqCst))
    }
}

impl Clock for Behind {
    fn now(&self) -> Timestamp {
        self.clock.now() - self.behind()
    }

    fn monotonic(&self) -> Monotonic {
        self.clock.monotonic() - self.behind()
    }

    fn lag(&self) -> Duration {
        self.at_most
    }
}
