//! What can go wrong, each with a kind of its own.

use core::{convert::Infallible, fmt, time::Duration};

/// Why a check gave no decision.
///
/// A denial is not an error: it is a [`Decision`](crate::Decision).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error<E = Infallible> {
    /// The cost is above the capacity: it can never be admitted, so there is no time to wait for.
    /// Nothing was charged and no store was asked.
    #[error("cost {cost} can never be admitted: the capacity is {limit}")]
    ExceedsCapacity {
        /// The cost asked for.
        cost: u64,
        /// The most that may be asked for.
        limit: u64,
    },
    /// The key is empty, which would put all unnamed callers into one bucket.
    #[error("the key is empty; allowed is any key with at least one byte or number")]
    EmptyKey,
    /// The store could not answer.
    #[error("the store could not answer: {0}")]
    Store(#[source] E),
}

impl<E> Error<E> {
    /// Carries the error over to another store's error type.
    pub fn map_store<F>(self, f: impl FnOnce(E) -> F) -> Error<F> {
        match self {
            Self::ExceedsCapacity { cost, limit } => Error::ExceedsCapacity { cost, limit },
            Self::EmptyKey => Error::EmptyKey,
            Self::Store(error) => Error::Store(f(error)),
        }
    }
}

/// A setting is outside of what is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A number is outside of its range.
    #[error("`{field}` is {value}; allowed is {min} to {max}")]
    OutOfRange {
        /// The setting.
        field: &'static str,
        /// The value given.
        value: u128,
        /// The least value allowed.
        min: u64,
        /// The largest value allowed.
        max: u64,
    },
    /// A real number is outside of its range, or not a number.
    #[error("`{field}` is {value}; allowed is {min} to {max}")]
    RealOutOfRange {
        /// The setting.
        field: &'static str,
        /// The value given.
        value: Real,
        /// The least value allowed.
        min: Real,
        /// The largest value allowed.
        max: Real,
    },
    /// A duration is outside of its range.
    #[error("`{field}` is {value:?}; allowed is {min:?} to {max:?}")]
    DurationOutOfRange {
        /// The setting.
        field: &'static str,
        /// The value given.
        value: Duration,
        /// The least value allowed.
        min: Duration,
        /// The largest value allowed.
        max: Duration,
    },
    /// A duration is not a whole number of microseconds.
    #[error("`{field}` is {value:?}; allowed are whole microseconds, {min:?} to {max:?}")]
    SubMicrosecond {
        /// The setting.
        field: &'static str,
        /// The value given.
        value: Duration,
        /// The least value allowed.
        min: Duration,
        /// The largest value allowed.
        max: Duration,
    },
    /// A name cannot be used.
    #[error("`{field}` {reason}")]
    Name {
        /// The setting.
        field: &'static str,
        /// What is wrong with it.
        reason: NameError,
    },
}

/// A real number as it was given, not-a-number included; equal if the bits are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Real(u64);

impl Real {
    /// The number as given.
    #[must_use]
    pub const fn new(value: f64) -> Self {
        Self(value.to_bits())
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl fmt::Debug for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.get(), f)
    }
}

impl fmt::Display for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The short form: 1e-9 rather than 0.000000001.
        fmt::Debug::fmt(&self.get(), f)
    }
}

/// What is wrong with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// It is empty.
    #[error("is empty; allowed are 1 to 128 bytes without control characters")]
    Empty,
    /// It is longer than 128 bytes.
    #[error("is {0} bytes long; allowed are 1 to 128 bytes without control characters")]
    TooLong(usize),
    /// It holds a control character.
    #[error(
        "holds the control character {0:?}; allowed are 1 to 128 bytes without control characters"
    )]
    Control(char),
}
