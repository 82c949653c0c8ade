//! Rate limiting whose limits hold, on one machine and on a fleet.
//!
//! ```
//! use throttlekit::{Gcra, MemoryStore, RateLimiter};
//!
//! // 100 requests a minute per user, up to 20 of them at once.
//! let limiter = RateLimiter::new(Gcra::per_minute(100)?.burst(20)?, MemoryStore::new());
//!
//! let decision = limiter.check("user:7")?;
//! if decision.allowed {
//!     println!("go on, {} left", decision.remaining);
//! } else {
//!     println!("come back in {:?}", decision.retry_after);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Start with the [guide]. This crate adds names, not behaviour; each feature adds a crate that can be used alone:
//!
//! | feature | what for | crate |
//! |---|---|---|
//! | | strategies, decisions, clocks, limiters | `tk-core` |
//! | `memory` (default) | limits within one process | `tk-store-memory` |
//! | `redis` | limits that machines share through Redis or Valkey | `tk-store-redis` |
//! | `twotier` | shared limits without a round trip per request | `tk-twotier` |
//! | `fair` | one budget split over tenants and regions | `tk-fair` |
//! | `tokio` | `acquire`, which waits until a request fits | |
//! | `serde` | `Serialize` and `Deserialize` for decisions, states and tags | |

#![forbid(unsafe_code)]

#[cfg(feature = "tokio")]
mod acquire;
pub mod guide;
#[cfg(feature = "tokio")]
mod timer;

#[cfg(feature = "tokio")]
pub use acquire::{Acquire, AcquireError};
#[cfg(feature = "tokio")]
pub use timer::{Timed, Timer};
pub use tk_core::*;
#[cfg(feature = "fair")]
pub use tk_fair::{self as fair, WeightedFairEscrow};
#[cfg(feature = "memory")]
pub use tk_store_memory::*;
#[cfg(feature = "redis")]
pub use tk_store_redis::{self as redis, RedisStore};
#[cfg(feature = "twotier")]
pub use tk_twotier::{self as twotier, LeaseSpender, TwoTier};
