//! What any store and any limiter of ThrottleKit is tested with.
//!
//! - [`conformance`]: what every store must do, and a random comparison of any store with the rule itself.
//! - [`ReferenceStore`]: a store that is obviously right, and slow.
//! - `simulation` (a feature, on by default): a fleet that leases from one store, under everything that can go wrong.
//! - [`vectors`]: decisions computed elsewhere in exact arithmetic, to compare with.
//! - `servers`, by the feature of that name: real Redis servers on free ports.
//! - [`Random`] and [`Sample`]: numbers, instants and strategies drawn from a seed.

#![forbid(unsafe_code)]

pub mod conformance;
mod random;
mod reference;
mod sample;
#[cfg(feature = "servers")]
pub mod servers;
#[cfg(feature = "simulation")]
pub mod simulation;
pub mod vectors;

pub use random::Random;
pub use reference::ReferenceStore;
pub use sample::Sample;
