//! The one range of input that every store can compute exactly.

use core::time::Duration;

use crate::{ConfigError, NameError, Real};

/// The ranges of input, the same for every store, checked when a strategy is built.
///
/// Within them the arithmetic is exact in memory and in a Redis script, whose numbers are exact below 2^53.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Range;

impl Range {
    /// The largest limit, capacity, burst or cost: 2^48.
    pub const MAX_UNITS: u64 = 1 << 48;
    /// The longest period or window: 2^45 microseconds, about 1.1 years.
    pub const MAX_PERIOD_MICROS: u64 = 1 << 45;
    /// The longest time in which a burst replenishes: 2^52 microseconds.
    pub const MAX_REPLENISH_MICROS: u64 = 1 << 52;
    /// The most buckets of a sliding window.
    pub const MAX_BUCKETS: u64 = 1_024;

    /// Checks a limit, capacity or burst.
    pub(crate) const fn units(field: &'static str, value: u64) -> Result<u64, ConfigError> {
        Self::between(field, value as u128, 1, Self::MAX_UNITS)
    }

    /// Checks a time, a period or window for one, and turns it into microseconds.
    ///
    /// # Errors
    ///
    /// As [`Range::micros`] up to [`Range::MAX_PERIOD_MICROS`].
    pub const fn period(field: &'static str, value: Duration) -> Result<u64, ConfigError> {
        Self::micros(field, value, Self::MAX_PERIOD_MICROS)
    }

    /// Checks that a time is 1 to `max` whole microseconds, and tells how many.
    ///
    /// # Errors
    ///
    /// [`ConfigError::SubMicrosecond`] if it is not whole microseconds, and else [`ConfigError::DurationOutOfRange`], naming `field`, the
    /// value and the range.
    pub const fn micros(
        field: &'static str,
        value: Duration,
        max: u64,
    ) -> Result<u64, ConfigError> {
        let (min, max) = (Duration::from_micros(1), Duration::from_micros(max));
        if !value.subsec_nanos().is_multiple_of(1_000) {
            return Err(ConfigError::SubMicrosecond {
                field,
                value,
                min,
                max,
            });
        }
        match Self::duration(field, value, min, max) {
            Ok(value) => Ok(value.as_micros() as u64),
            Err(error) => Err(error),
        }
    }

    /// Checks that a time is between two others.
    ///
    /// # Errors
    ///
    /// [`ConfigError::DurationOutOfRange`] naming `field`, the value and the range.
    pub const fn duration(
        field: &'static str,
        value: Duration,
        min: Duration,
        max: Duration,
    ) -> Result<Duration, ConfigError> {
        let nanos = value.as_nanos();
        if nanos < min.as_nanos() || nanos > max.as_nanos() {
            return Err(ConfigError::DurationOutOfRange {
                field,
                value,
                min,
                max,
            });
        }
        Ok(value)
    }

    /// Checks by how much a clock may [lag](crate::Clock::lag), and turns it into microseconds, rounded up.
    ///
    /// # Errors
    ///
    /// [`ConfigError::DurationOutOfRange`] naming `clock.lag` if that is above [`Range::MAX_PERIOD_MICROS`], or has no bound, as a
    /// [`CachedClock`](crate::CachedClock)'s has none: such a clock cannot tell when a lease ends.
    pub const fn lag(lag: Duration) -> Result<u64, ConfigError> {
        let most = Duration::from_micros(Self::MAX_PERIOD_MICROS);
        match Self::duration("clock.lag", lag, Duration::ZERO, most) {
            Ok(lag) => Ok(lag.as_nanos().div_ceil(1_000) as u64),
            Err(error) => Err(error),
        }
    }

    /// Checks that `min <= value <= max`.
    ///
    /// # Errors
    ///
    /// [`ConfigError::OutOfRange`] naming `field`, the value and the range.
    pub const fn between(
        field: &'static str,
        value: u128,
        min: u64,
        max: u64,
    ) -> Result<u64, ConfigError> {
        if value < min as u128 || value > max as u128 {
            return Err(ConfigError::OutOfRange {
                field,
                value,
                min,
                max,
            });
        }
        Ok(value as u64)
    }

    /// Checks that a real number is one, and `min <= value <= max`.
    ///
    /// # Errors
    ///
    /// [`ConfigError::RealOutOfRange`] naming `field`, the value and the range.
    pub const fn real(
        field: &'static str,
        value: f64,
        min: f64,
        max: f64,
    ) -> Result<f64, ConfigError> {
        if value >= min && value <= max {
            return Ok(value);
        }
        Err(ConfigError::RealOutOfRange {
            field,
            value: Real::new(value),
            min: Real::new(min),
            max: Real::new(max),
        })
    }

    /// Checks a name that becomes part of keys: 1 to 128 bytes, no control characters.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Name`] naming `field` and what is wrong.
    pub fn name<'a>(field: &'static str, name: &'a str) -> Result<&'a str, ConfigError> {
        let reason = if name.is_empty() {
            NameError::Empty
        } else if name.len() > 128 {
            NameError::TooLong(name.len())
        } else if let Some(control) = name.chars().find(|c| c.is_control()) {
            NameError::Control(control)
        } else {
            return Ok(name);
        };
        Err(ConfigError::Name { field, reason })
    }
}
