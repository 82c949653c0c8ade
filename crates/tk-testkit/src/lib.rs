//! What any store and any limiter of ThrottleKit is tested with.
//!
//! - [`conformance`]: what every store must do, and a random comparison of any store with the rule itself.
//! - [`ReferenceStore`]: a store that is obviously right, and slow.
//! - [`vectors`]: decisions computed elsewhere in exact arithmetic, to compare with.
//! - [`Random`] and [`Sample`]: numbers, instants and strategies drawn from a seed.

#![forbid(unsafe_code)]

pub mod conformance;
mod random;
mod reference;
mod sample;
pub mod vectors;

pub use random::Random;
pub use reference::ReferenceStore;
pub use sample::Sample;
