//! The systems, one for each kind of specification.

pub mod apart;
pub mod atomic;
pub mod federated;
pub mod pool;
pub mod returning;
pub mod skewed;
