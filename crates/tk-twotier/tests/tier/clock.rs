//! Clocks of a user's making, that panic or have run for long.

use std::{
    sync::Arc,
    task::{Context, Waker},
    time::Duration,
};

use tk_core::{Clock, Error, FixedWindow, ManualClock, Monotonic, Timestamp};
use tk_twotier::{Lease, Mode, TierError, TwoTier};

use super::{
    l2::{L2, START},
    node::{coupled, per_second, settle},
};
use crate::panics_for::PanicsFor;

fn by_clock(l2: &L2<FixedWindow>, clock: &PanicsFor) -> Arc<TwoTier<L2<FixedWindow>, PanicsFor>> {
    let tier = TwoTier::builder(per_second(100), l2.clone())
        .mode(coupled(10))
        .clock(clock.clone())
        .build();
    Arc::new(tier.expect("settings within their ranges"))
}

#[tokio::test]
async fn a_clock_that_panics_while_a_lease_lands_strands_nobody_who_waits() {
    // When the grant arrives; when that is over too; and ever since.
    for readings in [1, 2, u64::MAX] {
        let (l2, clock) = (L2::new(), PanicsFor::of(Arc::new(ManualClock::at(START))));
        let tier = by_clock(&l2, &clock);
        l2.replies(false);
        let waiters: Vec<_> = (0..3)
            .map(|_| {
                let tier = tier.clone();
                tokio::spawn(async move { tier.check("key").await })
            })
            .collect();
        settle().await;
        clock.readings(readings);
        l2.replies(true);
        for waiter in waiters {
            let answer = waiter.await.expect("no panic reaches a request");
            assert!(matches!(answer, Err(Error::Store(TierError::Lost))));
        }
        clock.readings(0);
        assert!(tier.check("key").await.expect("it answers").allowed);
    }
}

#[tokio::test]
async fn a_place_in_the_queue_is_given_up_without_a_clock() {
    let (l2, clock) = (L2::new(), PanicsFor::of(Arc::new(ManualClock::at(START))));
    let tier = by_clock(&l2, &clock);
    l2.replies(false);
    let mut check = Box::pin(tier.check("key"));
    assert!(
        check
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    );
    settle().await;
    clock.readings(u64::MAX);
    drop(check);
    clock.readings(0);
    l2.replies(true);
    settle().await;
    let decision = tier.peek("key").await.expect("it answers");
    assert_eq!(decision.remaining, 10, "nobody was charged");
}

/// A clock that began to count so many microseconds ago.
struct Since(ManualClock, u64);

impl Clock for Since {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn monotonic(&self) -> Monotonic {
        self.0.monotonic() + Duration::from_micros(self.1)
    }
}

#[tokio::test]
async fn refills_do_not_depend_on_how_long_the_clock_has_run() {
    for origin in [0, 1 << 47, 1 << 62] {
        let l2 = L2::new();
        let lease = Lease::batch(10).window_coupled(true).low_water(5);
        let tier = TwoTier::builder(per_second(1_000), l2.clone())
            .clock(Since(ManualClock::at(START), origin))
            .mode(Mode::Leased(lease))
            .build()
            .expect("settings within their ranges");
        for _ in 0..100 {
            assert!(tier.check("key").await.expect("it answers").allowed);
            settle().await;
        }
        let stats = tier.stats();
        assert_eq!((stats.leases, stats.refills), (11, 10), "since {origin}");
    }
}
