//! The generic cell rate algorithm.

use core::time::Duration;

use super::tat::{Emission, TatRule, TatState};
use crate::{ConfigError, Decision, Mark, Range, Strategy, Timestamp};

/// `limit` units per `period`, evenly spaced, of which up to `burst` may come at once.
///
/// The generic cell rate algorithm of ATM traffic policing (ITU-T I.371) in its virtual scheduling form. It
/// remembers one instant per key and has no windows, hence no edges: in any span of time t it
/// admits at most `burst + t * limit / period` units.
///
/// ```
/// use core::time::Duration;
/// use tk_core::{Gcra, Strategy, Timestamp};
///
/// let strategy = Gcra::per_second(10)?.burst(3)?;
/// let (mut state, now) = (Default::default(), Timestamp::from_secs(1));
/// assert_eq!(strategy.decide(&mut state, now, 3).remaining, 0);
/// let denied = strategy.decide(&mut state, now, 1);
/// assert_eq!(denied.retry_after, Duration::from_millis(100));
/// # Ok::<(), tk_core::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gcra {
    limit: u64,
    period: u64,
    rule: TatRule,
}

impl Gcra {
    /// `limit` units per `period`, all of which may come at once; see [`Gcra::burst`].
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if `limit` is not within 1 to 2^48, or `period` not within 1 to 2^45 whole microseconds.
    pub const fn new(limit: u64, period: Duration) -> Result<Self, ConfigError> {
        if let Err(error) = Range::units("limit", limit) {
            return Err(error);
        }
        let period = match Range::period("period", period) {
            Ok(period) => period,
            Err(error) => return Err(error),
        };
        match TatRule::new(period, limit, ("burst", limit)) {
            Ok(rule) => Ok(Self {
                limit,
                period,
                rule,
            }),
            Err(error) => Err(error),
        }
    }

    super::per_period!(Gcra, "`limit` units, evenly spaced, in each ");

    /// Lets up to `burst` units come at once, instead of `limit`.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if `burst` is not within 1 to 2^48, or takes longer than 2^52 microseconds to replenish; it names the
    /// largest burst that does not.
    pub const fn burst(mut self, burst: u64) -> Result<Self, ConfigError> {
        match self.rule.with_capacity("burst", burst) {
            Ok(rule) => {
                self.rule = rule;
                Ok(self)
            }
            Err(error) => Err(error),
        }
    }

    /// Units per period.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// The period in which `limit` units replenish.
    #[must_use]
    pub const fn period(&self) -> Duration {
        Duration::from_micros(self.period)
    }

    /// The time in which one unit replenishes.
    #[must_use]
    pub const fn emission(&self) -> Emission {
        self.rule.emission
    }
}

super::tat::tat_strategy!(Gcra);
