//! Decides whether a request fits its limit: pure rules, exact integers, no I/O.
//!
//! Everything above this crate (stores, two-tier limiters, fair shares) speaks in its words:
//!
//! - a [`Strategy`] is a pure rule: state, now and cost in, [`Decision`] out. It never reads a clock.
//! - a [`Clock`] is the only way time enters. [`SystemClock`] reads real time, [`ManualClock`] is told.
//! - a [`Store`] keeps one state per [`Key`] and applies a strategy to it in one atomic step;
//!   a [`SyncStore`] does so without waiting.
//! - [`RateLimiter`] and [`AsyncRateLimiter`] put a strategy and a store behind `check(key)`;
//!   [`Limiter`] is what middleware takes.
//!
//! All times are whole microseconds, and no decision involves floating point: a memory store and a
//! Redis store that start from equal states answer equally, field for field.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `std` (default) | the system and cached clocks, `set_strategy` through a shared reference; implies `alloc` |
//! | `alloc` | the sliding window and the sliding window log, [`OwnedKey`], [`FlatTable`], [`TableHint`], `check_many` |
//! | `quanta` | [`QuantaClock`], by way of the crate of that name; implies `std` |
//! | `serde` | `Serialize` and `Deserialize` for decisions, states and tags |
//!
//! Without features the crate needs neither an allocator nor an operating system.

#![no_std]
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod async_rate_limiter;
mod clock;
mod decision;
mod error;
#[cfg(feature = "alloc")]
mod flat_table;
mod key;
mod lease;
mod limiter;
#[cfg(feature = "std")]
mod patience;
mod prefetch;
mod prefix;
mod range;
mod rate_limiter;
mod store;
mod strategy;
mod swap;
mod time;

pub use async_rate_limiter::AsyncRateLimiter;
pub use clock::Clock;
#[cfg(target_has_atomic = "64")]
pub use clock::ManualClock;
#[cfg(feature = "quanta")]
pub use clock::QuantaClock;
#[cfg(feature = "std")]
pub use clock::{CachedClock, SystemClock};
pub use decision::Decision;
pub use error::{ConfigError, Error, NameError, Real};
#[cfg(feature = "alloc")]
pub use flat_table::{FlatTable, Keyed, TableHint};
#[cfg(feature = "alloc")]
pub use key::OwnedKey;
pub use key::{Fingerprint, Key, KeySink};
pub use lease::{Grant, Mark, Tag};
pub use limiter::Limiter;
#[cfg(feature = "std")]
pub use patience::Patience;
pub use prefetch::prefetch;
pub use prefix::Prefix;
pub use range::Range;
pub use rate_limiter::RateLimiter;
pub use store::{Store, SyncStore};
pub use strategy::{
    Emission, FixedWindow, FixedWindowState, Gcra, Strategy, TatState, TokenBucket,
};
#[cfg(feature = "alloc")]
pub use strategy::{
    LogView, SlidingWindow, SlidingWindowLog, SlidingWindowLogState, SlidingWindowState,
};
pub use time::{Monotonic, Timestamp};
