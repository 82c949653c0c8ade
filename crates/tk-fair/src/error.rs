//! Why there is no decision.

use std::convert::Infallible;

use tk_core::Error;

/// Why a check gave no decision. Nothing was charged.
///
/// A denial is not an error: it is a [`Decision`](tk_core::Decision).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FairError<E = Infallible> {
    /// The cost is above the limit: it can never be admitted, so there is no time to wait for.
    #[error("cost {cost} can never be admitted: the limit is {limit}")]
    ExceedsCapacity {
        /// The cost asked for.
        cost: u64,
        /// The most that may be asked for.
        limit: u64,
    },
    /// The tenant's name is empty, which would put all unnamed callers into one share.
    #[error("the tenant is empty")]
    EmptyTenant,
    /// The weight function returned something that is not a weight.
    #[error("the tenant's weight is {weight}; allowed is 0 to {max}")]
    Weight {
        /// The weight returned.
        weight: u64,
        /// The largest weight allowed: [`MAX_WEIGHT`](crate::MAX_WEIGHT).
        max: u64,
    },
    /// Where the budget comes from could not answer.
    #[error("the budget's store could not answer: {0}")]
    Store(#[source] E),
    /// The request to where the budget comes from ended without an answer: it panicked. What it may have brought is lost until the window ends; the
    /// next check asks anew.
    #[error("the request to the budget's store ended without an answer")]
    Lost,
}

impl<E> FairError<E> {
    /// The same error in the words of the core, for middleware that speaks them.
    pub fn into_core(self) -> Error<Self> {
        match self {
            Self::ExceedsCapacity { cost, limit } => Error::ExceedsCapacity { cost, limit },
            Self::EmptyTenant => Error::EmptyKey,
            Self::Weight { .. } | Self::Store(_) | Self::Lost => Error::Store(self),
        }
    }
}
