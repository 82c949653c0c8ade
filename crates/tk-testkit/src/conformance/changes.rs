//! Another strategy on live state.

use std::{fmt::Debug, time::Duration};

use tk_core::{FixedWindow, Gcra, SlidingWindow, SlidingWindowLog, Strategy, TokenBucket};

use super::{Harness, HarnessForAll, fits, twin};

/// All claims of this module, under each of the five strategies.
pub async fn all<H: HarnessForAll>(harness: &H) {
    let secs = Duration::from_secs;
    let gcra = |limit, period, burst| fits(fits(Gcra::new(limit, secs(period))).burst(burst));
    changed_limit_keeps_usage(
        harness,
        &gcra(10, 10, 10),
        &[
            gcra(20, 10, 10),
            gcra(10, 10, 4),
            gcra(3, 7, 20),
            gcra(1, 100, 1),
        ],
    )
    .await;
    let bucket = |capacity, refill, period| fits(TokenBucket::new(capacity, refill, secs(period)));
    changed_limit_keeps_usage(
        harness,
        &bucket(10, 5, 10),
        &[
            bucket(20, 5, 10),
            bucket(4, 5, 10),
            bucket(10, 50, 7),
            bucket(1, 1, 100),
        ],
    )
    .await;
    let fixed = |limit, window| fits(FixedWindow::new(limit, secs(window)));
    changed_limit_keeps_usage(
        harness,
        &fixed(10, 10),
        &[fixed(20, 10), fixed(4, 10), fixed(10, 60), fixed(10, 3)],
    )
    .await;
    let sliding = |limit, window, buckets| {
        fits(fits(SlidingWindow::new(limit, secs(window))).buckets(buckets))
    };
    changed_limit_keeps_usage(
        harness,
        &sliding(10, 10, 10),
        &[
            sliding(20, 10, 10),
            sliding(4, 10, 10),
            sliding(10, 10, 3),
            sliding(10, 60, 60),
        ],
    )
    .await;
    let log = |limit, window| fits(SlidingWindowLog::new(limit, secs(window)));
    changed_limit_keeps_usage(
        harness,
        &log(10, 10),
        &[log(20, 10), log(4, 10), log(10, 60), log(10, 3)],
    )
    .await;
}

/// After a change nobody has a free burst and nobody is locked out; hand-backs from before do no harm; changing back does neither.
pub async fn changed_limit_keeps_usage<S: Strategy + Debug, H: Harness<S>>(
    harness: &H,
    first: &S,
    others: &[S],
) {
    for other in others {
        for used in [1, 7, first.capacity()] {
            let story = format!("{used} used, then {other:?} in force");
            let mut twin = twin(harness, first, &story).await;
            let held = twin.grant("key", used, 1).await;
            twin.set_now(twin.now() + Duration::from_millis(1_300));
            twin.strategy = other.clone();
            let all = other.capacity();
            let _ = twin.peek("key").await;
            twin.charge("key", 0).await;
            let fresh_burst = twin.decide("key", all).await;
            twin.claim(
                fresh_burst.is_denied() || used == 1 || all < used,
                "a change gave a new burst",
            );
            let _ = twin.take_back("key", &held, 1).await;
            let held = twin.grant("key", 2, 1).await;
            let _ = twin.take_back("key", &held, 1).await;
            let wait = twin.decide("key", all).await;
            twin.set_now(twin.now() + wait.retry_after);
            let due = twin.decide("key", all).await;
            twin.claim(due.allowed || wait.allowed, "a change locked a key out");
            twin.strategy = first.clone();
            twin.charge("key", 1).await;
            let _ = twin.peek("key").await;
            twin.set_now(twin.now() + Duration::from_secs(1_000));
            twin.charge("key", first.capacity()).await;
        }
    }
}
