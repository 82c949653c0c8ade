//! The answer to a check.

use core::time::Duration;

use crate::Timestamp;

/// The answer to a check: whether the request fits, and what a client may be told.
///
/// ```
/// use tk_core::{FixedWindow, Strategy, Timestamp};
///
/// let strategy = FixedWindow::per_minute(1)?;
/// let mut state = Default::default();
/// assert!(strategy.decide(&mut state, Timestamp::from_secs(10), 1).allowed);
/// let denied = strategy.decide(&mut state, Timestamp::from_secs(55), 1);
/// assert_eq!(denied.retry_after.as_secs(), 5);
/// # Ok::<(), tk_core::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[must_use = "a decision that is not looked at limits nothing"]
pub struct Decision {
    /// The request fits and has been charged. A denied request takes nothing.
    pub allowed: bool,
    /// The most units that could ever fit at once: the strategy's capacity.
    pub limit: u64,
    /// Whole units that would still be admitted now, after this decision.
    pub remaining: u64,
    /// When the key is fully replenished if nothing else arrives, rounded up to a microsecond.
    pub reset_at: Timestamp,
    /// Zero when allowed. When denied, the least whole number of microseconds after which the same cost is
    /// admitted if nothing else arrives. Answers from local credits or fair shares give a lower bound, and a store that is full a guess.
    pub retry_after: Duration,
}

impl Decision {
    /// Whether the request must be refused.
    #[must_use]
    pub const fn is_denied(&self) -> bool {
        !self.allowed
    }
}
