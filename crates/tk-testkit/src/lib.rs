//! What any store and any limiter of ThrottleKit is tested with.
//!
//! - [`vectors`]: decisions computed elsewhere in exact arithmetic, to compare with.

#![forbid(unsafe_code)]

pub mod vectors;
