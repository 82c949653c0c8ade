//! The same decisions on Redis and Valkey: one limit for a whole fleet.
//!
//! A [`RedisStore`] keeps the states of a strategy in a server, and applies the strategy there in a script, in one atomic step and one
//! round trip. The script does the arithmetic of `tk-core` in whole numbers and answers with the state as it found it; the
//! client runs the very rule of `tk-core` on that state. So the answer is the memory store's, field for field, and a server
//! that decided otherwise is found out instead of believed.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use tk_core::{AsyncRateLimiter, Gcra};
//! use tk_store_redis::RedisStore;
//!
//! let store = RedisStore::builder("api").url("redis://127.0.0.1").build()?;
//! let limiter = AsyncRateLimiter::new(Gcra::per_second(100)?, store);
//! if limiter.check("alice").await?.allowed {
//!     // serve
//! }
//! # Ok(())
//! # }
//! ```
//!
//! What happens when the server is slow, gone or replaced is said at [`StoreError`] and in the project's page on Redis.

#![forbid(unsafe_code)]

mod builder;
mod store;
mod transaction;

#[cfg(feature = "fair")]
mod region_pool;

mod key;
mod operation;
mod script;
mod scripted;

mod breaker;
mod error;
mod given_up;
mod incarnation;
mod link;
mod reply;
mod url;
mod warning;

pub use builder::{BuildError, Builder};
pub use error::{Applied, ErrorKind, StoreError};
#[cfg(feature = "fair")]
pub use region_pool::{PoolError, RedisRegionFairPool};
pub use scripted::Scripted;
pub use store::RedisStore;
pub use transaction::{TransactionBuilder, TransactionStore};
pub use warning::Warning;
