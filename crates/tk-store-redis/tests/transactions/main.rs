//! The store of transactions on real servers, which the test kit starts; they need `redis-server` in the `PATH`.

#![expect(clippy::unwrap_used, reason = "a test ends where something is missing")]

mod clusters;
mod conformance;
mod crowds;
mod failures;
mod lost_replies;
mod support;
