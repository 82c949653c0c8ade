//! The store on real servers, which the test kit starts; they need `redis-server` in the `PATH`.

#![expect(clippy::unwrap_used, reason = "a test ends where something is missing")]

mod arithmetic;
mod big_logs;
mod cases;
mod clusters;
mod conformance;
mod crowds;
mod evictions;
mod foreign;
mod lives;
mod lost_replies;
mod outages;
mod processes;
mod refusals;
mod replicas;
mod sentinels;
mod support;
mod together;
