//! A fleet of several processes shares one limit through a real Redis, which the test kit starts.

#![cfg(all(feature = "memory", feature = "twotier", feature = "redis"))]
#![expect(clippy::unwrap_used, reason = "a test ends where something is missing")]

mod fleet;
mod outages;
mod skew;
