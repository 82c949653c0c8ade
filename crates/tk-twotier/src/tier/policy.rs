//! What to answer when the shared store does not.

use std::time::Duration;

use tk_core::{ConfigError, Decision, Range, Strategy, Timestamp};

/// What to answer when the shared store fails and no credits are left.
///
/// A cost above the capacity, an empty key and a closed limiter stay errors under every policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailurePolicy {
    /// The error goes to the caller.
    #[default]
    Error,
    /// Everything is denied. The answer says to come back after `retry_after`.
    Deny {
        /// When to come back: whole microseconds, at least one.
        retry_after: Duration,
    },
    /// Everything is allowed. The answer says that nothing remains, since nobody knows.
    Allow,
    /// This node enforces `share.0 / share.1` of the limit by itself, with states of its own.
    ///
    /// Each unit counts as the inverse of the share, rounded up per request, so that nodes whose shares add up to
    /// no more than one admit together no more than the limit, whatever the strategy. Keys for which there is
    /// [no room](super::TwoTierBuilder::max_keys) share one state, and with it one share.
    LocalShare {
        /// Numerator and denominator.
        share: (u64, u64),
    },
}

impl FailurePolicy {
    /// A denial that says to come back in a second.
    #[must_use]
    pub const fn deny() -> Self {
        Self::Deny {
            retry_after: Duration::from_secs(1),
        }
    }

    /// An equal share for each of `nodes`.
    #[must_use]
    pub const fn one_of(nodes: u64) -> Self {
        Self::LocalShare { share: (1, nodes) }
    }

    pub(crate) fn checked(self) -> Result<Self, ConfigError> {
        match self {
            Self::Deny { retry_after } => {
                Range::period("retry_after", retry_after)?;
            }
            Self::LocalShare {
                share: (part, whole),
            } => {
                Range::between("share.1", whole.into(), 1, Range::MAX_UNITS)?;
                Range::between("share.0", part.into(), 1, whole)?;
            }
            Self::Error | Self::Allow => {}
        }
        Ok(self)
    }
}

/// An answer that depends on no state.
pub(crate) fn blind(allowed: bool, limit: u64, now: Timestamp, retry_after: Duration) -> Decision {
    Decision {
        allowed,
        limit,
        remaining: 0,
        reset_at: now + retry_after,
        retry_after,
    }
}

/// Decides on `cost` within `part / whole` of the limit.
pub(crate) fn local_share<S: Strategy>(
    strategy: &S,
    state: &mut S::State,
    now: Timestamp,
    cost: u64,
    (part, whole): (u64, u64),
) -> Decision {
    let down = |units: u64| {
        let scaled = u128::from(units) * u128::from(part) / u128::from(whole);
        // `part <= whole`, so the result is at most `units`.
        u64::try_from(scaled).unwrap_or(units)
    };
    let up = (u128::from(cost) * u128::from(whole)).div_ceil(u128::from(part));
    let capacity = strategy.capacity();
    match u64::try_from(up).ok().filter(|up| *up <= capacity) {
        Some(up) => {
            let decision = strategy.decide(state, now, up);
            Decision {
                limit: down(decision.limit),
                remaining: down(decision.remaining),
                ..decision
            }
        }
        // More than the whole share: nothing but the store's return can help.
        None => blind(false, down(capacity), now, Duration::from_secs(1)),
    }
}
