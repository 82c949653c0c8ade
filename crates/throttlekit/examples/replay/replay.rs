//! A limit on a manual clock.

use std::sync::Arc;

use throttlekit::{
    ConfigError, Decision, Error, FixedWindow, Gcra, ManualClock, MemoryStore, RateLimiter,
    SlidingWindow, SlidingWindowLog, Timestamp, TokenBucket,
};

use crate::args::{Args, Strategy};

/// Decides on a request of a key at an instant, whatever the strategy.
pub(crate) type Limit = Box<dyn FnMut(Timestamp, &[u8]) -> Result<Decision, Error>>;

/// The limit that `args` describe, with `limit` requests per period.
pub(crate) fn limiter(args: &Args, limit: u64) -> Result<Limit, ConfigError> {
    let burst = args.burst.unwrap_or(limit);
    Ok(match args.strategy {
        Strategy::Gcra => over_memory(
            Gcra::new(limit, args.per)?
                .burst(burst)
                .map_err(as_option)?,
        ),
        Strategy::TokenBucket => {
            over_memory(TokenBucket::new(burst, limit, args.per).map_err(as_option)?)
        }
        Strategy::FixedWindow => over_memory(FixedWindow::new(limit, args.per)?),
        Strategy::SlidingWindow => {
            let strategy = SlidingWindow::new(limit, args.per)?;
            over_memory(
                args.buckets
                    .map_or(Ok(strategy), |buckets| strategy.buckets(buckets))
                    .map_err(as_option)?,
            )
        }
        Strategy::SlidingLog => over_memory(SlidingWindowLog::new(limit, args.per)?),
    })
}

/// The error, with the field named as on the command line.
fn as_option(error: ConfigError) -> ConfigError {
    match error {
        ConfigError::OutOfRange {
            field,
            value,
            min,
            max,
        } => {
            let field = match field {
                "burst" | "capacity" => "--burst",
                "buckets" => "--buckets",
                other => other,
            };
            ConfigError::OutOfRange {
                field,
                value,
                min,
                max,
            }
        }
        other => other,
    }
}

fn over_memory<S: throttlekit::Strategy>(strategy: S) -> Limit {
    let clock = Arc::new(ManualClock::default());
    let limiter = RateLimiter::new(strategy, MemoryStore::with_clock(Arc::clone(&clock)));
    Box::new(move |at, key| {
        // Lines out of order are normal: the clock follows them back, which frees nothing.
        clock.set_wall(at);
        limiter.check(key)
    })
}
