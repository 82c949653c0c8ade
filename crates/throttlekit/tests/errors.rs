//! What is wrong is told with its name, its value and what is allowed.

#![cfg(feature = "memory")]

use std::{error::Error, time::Duration};

use throttlekit::{
    FixedWindow, Gcra, MemoryStore, RateLimiter, SlidingWindow, SlidingWindowLog, TokenBucket,
};

const SECOND: Duration = Duration::from_secs(1);

fn told<T>(result: Result<T, impl Error>) -> String {
    result
        .err()
        .map_or_else(String::new, |error| error.to_string())
}

#[test]
fn a_setting_out_of_range_is_named_with_its_value_and_what_is_allowed() {
    let store = || MemoryStore::<Gcra>::builder();
    let limiter = || RateLimiter::new(Gcra::per_second(1).unwrap(), MemoryStore::new());
    let (units, times) = ("1 to 281474976710656", "1µs to 35184372.088832s");
    let none = Duration::ZERO;
    for (error, message) in [
        (
            told(Gcra::new(0, SECOND)),
            format!("`limit` is 0; allowed is {units}"),
        ),
        (
            told(Gcra::new(1, none)),
            format!("`period` is 0ns; allowed is {times}"),
        ),
        (
            told(TokenBucket::new(1, 0, SECOND)),
            format!("`refill` is 0; allowed is {units}"),
        ),
        (
            told(FixedWindow::new(1 << 49, SECOND)),
            format!("`limit` is 562949953421312; allowed is {units}"),
        ),
        (
            told(FixedWindow::new(1, none)),
            format!("`window` is 0ns; allowed is {times}"),
        ),
        (
            told(SlidingWindow::per_second(1).unwrap().buckets(2_000)),
            "`buckets` is 2000; allowed is 1 to 1024".into(),
        ),
        (
            told(SlidingWindowLog::new(1, Duration::from_nanos(1_500))),
            format!("`window` is 1.5µs; allowed are whole microseconds, {times}"),
        ),
        (
            told(store().max_keys(0).build()),
            "`max_keys` is 0; allowed is 1 to 18446744073709551615".into(),
        ),
        (
            told(store().shards(0).build()),
            "`shards` is 0; allowed is 1 to 65536".into(),
        ),
        (
            told(limiter().with_prefix("")),
            "`prefix` is empty; allowed are 1 to 128 bytes without control characters".into(),
        ),
        (
            told(limiter().check("")),
            "the key is empty; allowed is any key with at least one byte or number".into(),
        ),
        (
            told(limiter().check_n("a", 2)),
            "cost 2 can never be admitted: the capacity is 1".into(),
        ),
    ] {
        assert_eq!(error, message);
    }
}

#[cfg(feature = "tokio")]
#[tokio::test]
async fn a_wait_that_would_be_too_long_tells_both_times() {
    use std::sync::Arc;

    use throttlekit::{Acquire, ManualClock};

    let store = MemoryStore::with_clock(Arc::new(ManualClock::default()));
    let limiter = RateLimiter::new(Gcra::new(1, SECOND * 3).unwrap(), store);
    assert!(limiter.check("a").unwrap().allowed);
    let error = limiter.acquire("a", 1, SECOND).await;
    assert_eq!(told(error), "fits in 3s at the earliest, 1s are left");
}
