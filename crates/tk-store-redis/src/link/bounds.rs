//! What a call may take, and what fred is told of it.

use std::time::Duration;

use fred::types::config::{ConnectionConfig, UnresponsiveConfig};
use tk_core::{ConfigError, Range};

/// How long and how often.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The time that a call may take.
    pub(crate) deadline: Duration,
    /// Calls in flight.
    pub(crate) max_in_flight: usize,
    /// Calls that one command may carry.
    pub(crate) max_batch: usize,
    /// Failures in a row at which the breaker opens.
    pub(crate) failures: u32,
    /// From one probe to the next.
    pub(crate) probe_interval: Duration,
}

impl Bounds {
    /// How long a connection may leave calls unanswered before it is given up.
    pub(crate) fn patience(&self) -> Duration {
        (self.deadline * 5).max(Duration::from_millis(500))
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let (least, most) = (Duration::from_millis(1), Duration::from_secs(3_600));
        Range::between("max_in_flight", self.max_in_flight as u128, 1, 1 << 24)?;
        Range::between("max_batch", self.max_batch as u128, 1, 1 << 10)?;
        Range::between("failures", self.failures.into(), 1, u32::MAX.into())?;
        Range::duration("deadline", self.deadline, least, most)?;
        Range::duration("probe_interval", self.probe_interval, least, most)?;
        Ok(())
    }
}

/// What holds unless a builder is told otherwise.
pub(crate) const DEFAULT_BOUNDS: Bounds = Bounds {
    deadline: Duration::from_millis(100),
    max_in_flight: 16_384,
    max_batch: 64,
    failures: 5,
    probe_interval: Duration::from_secs(1),
};

/// Has fred send no call twice, and give up a connection that answers nothing: `link.rs` says why.
pub(crate) fn never_again(connection: &mut ConnectionConfig, bounds: Bounds) {
    connection.max_command_attempts = 1;
    connection.max_redirections = 0;
    connection.connection_timeout = Duration::from_secs(1);
    connection.internal_command_timeout = Duration::from_secs(1);
    connection.tcp.nodelay = Some(true);
    connection.unresponsive = UnresponsiveConfig {
        max_timeout: Some(bounds.patience()),
        interval: Duration::from_millis(100),
    };
}
