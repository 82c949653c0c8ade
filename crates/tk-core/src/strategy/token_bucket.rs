//! Tokens that refill over time.

use core::time::Duration;

use super::tat::{Emission, TatRule, TatState};
use crate::{ConfigError, Decision, Mark, Range, Strategy, Timestamp};

/// A bucket of `capacity` tokens into which `refill` tokens drip per `period`, evenly; a unit takes a token.
///
/// A new bucket is full. It is the same rule as [`Gcra`](crate::Gcra) with the capacity as the burst, and remembers the same instant;
/// `remaining` is the number of whole tokens.
///
/// ```
/// use core::time::Duration;
/// use tk_core::{Strategy, Timestamp, TokenBucket};
///
/// let strategy = TokenBucket::new(5, 1, Duration::from_secs(1))?;
/// let mut state = Default::default();
/// assert_eq!(strategy.decide(&mut state, Timestamp::from_secs(10), 3).remaining, 2);
/// assert_eq!(strategy.decide(&mut state, Timestamp::from_secs(11), 1).remaining, 2);
/// # Ok::<(), tk_core::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TokenBucket {
    refill: u64,
    period: u64,
    rule: TatRule,
}

impl TokenBucket {
    /// A bucket of `capacity` tokens; `refill` tokens come back per `period`.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if `capacity` or `refill` is not within 1 to 2^48, `period` not within 1 to 2^45 whole microseconds, or the
    /// capacity takes longer than 2^52 microseconds to replenish; it names the largest that does not.
    pub const fn new(capacity: u64, refill: u64, period: Duration) -> Result<Self, ConfigError> {
        if let Err(error) = Range::units("refill", refill) {
            return Err(error);
        }
        let period = match Range::period("period", period) {
            Ok(period) => period,
            Err(error) => return Err(error),
        };
        match TatRule::new(period, refill, ("capacity", capacity)) {
            Ok(rule) => Ok(Self {
                refill,
                period,
                rule,
            }),
            Err(error) => Err(error),
        }
    }

    /// Tokens that come back per period.
    #[must_use]
    pub const fn refill(&self) -> u64 {
        self.refill
    }

    /// The period in which `refill` tokens come back.
    #[must_use]
    pub const fn period(&self) -> Duration {
        Duration::from_micros(self.period)
    }

    /// The time in which one token comes back.
    #[must_use]
    pub const fn emission(&self) -> Emission {
        self.rule.emission
    }
}

super::tat::tat_strategy!(TokenBucket);
