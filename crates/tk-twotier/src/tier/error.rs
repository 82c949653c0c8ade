//! Why two tiers gave no decision.

use std::{fmt::Debug, sync::Arc};

/// Why there is no decision; several requests may share one failed lease, and hence the error.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TierError<E: Debug> {
    /// The shared store could not answer.
    #[error("shared store: {0:?}")]
    L2(Arc<E>),
    /// The call to the shared store ended without an answer: it panicked, or its runtime was shut down.
    #[error("the call to the shared store ended without an answer")]
    Lost,
    /// The shared store granted less than the least that was of use, and did not deny it. Nothing was admitted on it.
    #[error("the shared store granted less than was asked for at least, without a denial")]
    Unsound,
    /// The limiter has been closed.
    #[error("the limiter has been closed")]
    Closed,
    /// A lease has to be asked for, and there is no Tokio runtime to do it on.
    #[error("a lease is needed, and this is not a Tokio runtime")]
    NoRuntime,
}

impl<E: Debug> TierError<E> {
    /// Whether the shared store failed, so that the failure policy applies.
    pub(crate) const fn is_outage(&self) -> bool {
        matches!(self, Self::L2(_) | Self::Lost | Self::Unsound)
    }
}

// Derived, it would ask for `E: Clone`.
impl<E: Debug> Clone for TierError<E> {
    fn clone(&self) -> Self {
        match self {
            Self::L2(error) => Self::L2(error.clone()),
            Self::Lost => Self::Lost,
            Self::Unsound => Self::Unsound,
            Self::Closed => Self::Closed,
            Self::NoRuntime => Self::NoRuntime,
        }
    }
}
