//! Being written.

#![forbid(unsafe_code)]

mod builder;
mod decision;
mod error;
mod escrow;
mod identity;
mod shares;
mod stats;
mod weight;

pub use builder::EscrowBuilder;
pub use error::FairError;
pub use escrow::WeightedFairEscrow;
pub use identity::TenantId;
pub use stats::{Stats, TenantStats};
pub use weight::{EqualWeights, MAX_WEIGHT, Weigh};
