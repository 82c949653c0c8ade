//! A node whose clock is behind.

use std::{sync::Arc, time::Duration};

use tk_core::{CachedClock, Clock, FixedWindow, ManualClock, QuantaClock};
use tk_twotier::{DenyCache, Lease, Local, Mode, TwoTier};

use super::{
    l2::{L2, START},
    node::{carried, coupled, per_second},
};
use crate::behind::Behind;

/// That of a node, behind by at most so many microseconds.
fn behind(micros: u64) -> Behind {
    Behind::of(Arc::new(ManualClock::at(START)), micros)
}

fn micros(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

#[tokio::test]
async fn a_node_whose_clock_lags_spends_nothing_after_the_true_end_of_its_window() {
    let lag = 40;
    // Windows for which the margin for drift is less than the lag, and one for which it is more.
    for window in [1_000, 10_000, 1_000_000] {
        for sent_behind in 0..=lag {
            let l2 = L2::new();
            let clock = behind(lag);
            let strategy = FixedWindow::new(100, micros(window)).expect("within the range");
            let tier = TwoTier::builder(strategy, l2.clone())
                .clock(clock.clone())
                .mode(coupled(50))
                .build()
                .expect("within the range");
            let pass = |time| {
                l2.clock().advance(micros(time));
                clock.clock.advance(micros(time));
            };
            pass(window / 2);
            clock.by(sent_behind);
            assert!(tier.check("key").await.expect("it answers").allowed);
            // As late as it may be, from just before the end of the window until no reading can be of it any more.
            clock.by(lag);
            pass(window / 2 - 1);
            for after in 0..=2 * lag {
                pass(1);
                assert_eq!(
                    tier.try_check("key").expect("a cost that fits"),
                    Local::NeedsL2,
                    "{after} us after the end of a window of {window} us, sent {sent_behind} us behind"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_fleet_whose_clocks_lag_admits_no_more_than_the_limit_in_any_window() {
    const LAG: u64 = 30;
    let strategy = FixedWindow::new(20, micros(1_000)).expect("within the range");
    let l2 = L2::new();
    let clocks = [(); 3].map(|()| behind(LAG));
    let tiers = clocks.clone().map(|clock| {
        TwoTier::builder(strategy, l2.clone())
            .clock(clock)
            .mode(coupled(5))
            .build()
            .expect("within the range")
    });
    let pass = |time| {
        l2.clock().advance(micros(time));
        for clock in &clocks {
            clock.clock.advance(micros(time));
        }
    };
    let mut random = 1_u64;
    let mut below = |end: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) % end
    };
    for window in 0..500 {
        // What was leased in the window before is tried around its end, and then all that the new one has is asked for.
        let early = below(2 * LAG);
        pass(early);
        let mut admitted = 0;
        for _ in 0..40 {
            for (tier, clock) in tiers.iter().zip(&clocks) {
                clock.by(below(LAG + 1));
                admitted += u64::from(tier.check("key").await.expect("it answers").allowed);
            }
        }
        assert!(admitted <= 20, "{admitted} in window {window}");
        // One more, in which each leases a batch and spends one unit of it.
        let middle = 500 + below(400);
        pass(1_000 - early + middle);
        for (tier, clock) in tiers.iter().zip(&clocks) {
            clock.by(below(LAG + 1));
            assert!(tier.check("key").await.expect("it answers").allowed);
        }
        pass(1_000 - middle);
    }
}

#[test]
fn a_clock_that_may_lag_without_bound_counts_no_leases() {
    let build = |mode| {
        TwoTier::builder(per_second(100), L2::new())
            .clock(CachedClock::of(ManualClock::at(START)))
            .mode(mode)
            .build()
    };
    for mode in [coupled(10), carried(10), Mode::Leased(Lease::batch(1))] {
        let error = build(mode).expect_err("no bound").to_string();
        assert!(error.starts_with("`clock.lag` is "), "{error}");
    }
    // What is remembered too long here is a denial.
    for mode in [Mode::Strict, Mode::CachedDeny(DenyCache::default())] {
        assert!(build(mode).is_ok());
    }
}

#[tokio::test]
async fn the_default_clock_counts_leases_and_says_by_how_much_it_lags() {
    let tier: TwoTier<L2<FixedWindow>> = TwoTier::builder(per_second(100), L2::new())
        .mode(coupled(10))
        .build()
        .expect("within the range");
    assert_eq!(tier.clock().lag(), QuantaClock::LAG);
    assert!(tier.check("key").await.expect("it answers").allowed);
}
