//! A region pool in Redis grants what the one in memory grants.

#![expect(clippy::unwrap_used, reason = "a test ends where something is missing")]

mod crowds;
mod equality;
mod fleet;
mod foreign;
mod shares;
mod support;
