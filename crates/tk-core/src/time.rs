//! Instants as whole microseconds.

use core::{fmt, time::Duration};

/// Microseconds in a `Duration`, saturating at `u64::MAX`; cheaper than `as_micros`, which has 128 bits.
#[inline]
pub(crate) const fn micros(duration: Duration) -> u64 {
    duration
        .as_secs()
        .saturating_mul(1_000_000)
        .saturating_add(duration.subsec_micros() as u64)
}

/// An instant on the wall: whole microseconds since the Unix epoch.
///
/// The largest instant is [`Timestamp::MAX`], in the year 2112; later ones count as that one. The
/// bound leaves room to add the longest period that a strategy may have and to stay below 2^53, up to
/// which the numbers of a Redis script are exact.
///
/// ```
/// use core::time::Duration;
/// use tk_core::Timestamp;
///
/// let noon = Timestamp::from_secs(1_796_040_000);
/// assert_eq!((noon + Duration::from_millis(2)).since(noon), Duration::from_millis(2));
/// assert_eq!(noon.since(noon + Duration::from_secs(1)), Duration::ZERO);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "u64", into = "u64"))]
pub struct Timestamp(u64);

impl Timestamp {
    /// The Unix epoch.
    pub const EPOCH: Self = Self(0);
    /// The last instant that counts: 2^52 - 1 microseconds after the epoch.
    pub const MAX: Self = Self((1 << 52) - 1);

    /// The instant `micros` microseconds after the Unix epoch; [`Timestamp::MAX`] if that is later.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        if micros > Self::MAX.0 {
            Self::MAX
        } else {
            Self(micros)
        }
    }

    /// The instant `millis` milliseconds after the Unix epoch; [`Timestamp::MAX`] if that is later.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self::from_micros(millis.saturating_mul(1_000))
    }

    /// The instant `secs` seconds after the Unix epoch; [`Timestamp::MAX`] if that is later.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self::from_micros(secs.saturating_mul(1_000_000))
    }

    /// Microseconds since the Unix epoch.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Time passed since `earlier`; zero if `earlier` is later than `self`.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl From<u64> for Timestamp {
    fn from(micros: u64) -> Self {
        Self::from_micros(micros)
    }
}

impl From<Timestamp> for u64 {
    fn from(timestamp: Timestamp) -> Self {
        timestamp.0
    }
}

impl core::ops::Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self::from_micros(self.0.saturating_add(micros(duration)))
    }
}

impl core::ops::Sub<Duration> for Timestamp {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(micros(duration)))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// An instant on a clock that never steps: whole microseconds since an origin of the clock's own.
///
/// Leases end by this clock. Instants of two clocks have nothing to do with each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Monotonic(u64);

impl Monotonic {
    /// The clock's origin.
    pub const ORIGIN: Self = Self(0);

    /// The instant `micros` microseconds after the clock's origin.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Microseconds since the clock's origin.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Time passed since `earlier`; zero if `earlier` is later than `self`.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl core::ops::Add<Duration> for Monotonic {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(micros(duration)))
    }
}

impl core::ops::Sub<Duration> for Monotonic {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(micros(duration)))
    }
}
