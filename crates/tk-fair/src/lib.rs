//! Being written.

#![forbid(unsafe_code)]

mod builder;
mod decision;
mod error;
mod escrow;
mod ideal;
mod identity;
mod pool;
mod region;
mod shares;
mod stats;
pub mod traces;
mod weight;

pub use builder::EscrowBuilder;
pub use error::FairError;
pub use escrow::WeightedFairEscrow;
pub use ideal::{Fraction, Want, ideal};
pub use identity::TenantId;
pub use pool::{
    Draw, MAX_REGION_WEIGHT, MAX_REGIONS, PoolFull, PoolRule, PoolState, PoolTag, Region, RegionGrant,
};
pub use region::{RegionFairPool, RegionName, RegionPool, split_weight};
pub use stats::{Stats, TenantStats};
pub use weight::{EqualWeights, MAX_WEIGHT, Weigh};
