//! Spending, and asking by hand.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use tk_core::{CachedClock, Clock, Error, Grant, ManualClock, Monotonic, Timestamp};
use tk_twotier::{Applied, LeaseSpender, Spending};

use super::service::{Service, is_served, refresh};
use crate::{behind::Behind, panics_for::PanicsFor};

#[test]
fn a_refresh_serves_the_request_that_asked_and_a_batch_in_all() {
    let service = Service::new(100);
    let spender = service.spender(10, |builder| builder);
    let refresh = refresh(&spender, service.now(), 1);
    let grant = service.grant(refresh.demand());
    let Applied::Served(decision) = spender.apply_lease(refresh, &grant) else {
        panic!("ten cover one");
    };
    assert_eq!((decision.limit, decision.remaining), (100, 9));
    assert_eq!(decision.reset_at, Timestamp::from_micros(60_000_998_999));
    let served = (0..20)
        .filter(|_| is_served(&spender, service.now(), 1))
        .count();
    assert_eq!(served, 9);
    assert_eq!(service.asked.into_inner().expect("no panic"), [10]);
}

#[test]
fn nothing_but_the_service_denies() {
    let service = Service::new(3);
    let spender = service.spender(3, |builder| builder);
    for _ in 0..3 {
        let needs = spender.spend(service.now(), 1).expect("a cost that fits");
        if let Spending::NeedsRefresh(refresh) = needs {
            let grant = service.grant(refresh.demand());
            let _ = spender.apply_lease(refresh, &grant);
        }
    }
    let refresh = refresh(&spender, service.now(), 1);
    let grant = service.grant(refresh.demand());
    assert_eq!(
        spender.apply_lease(refresh, &grant),
        Applied::Denied(grant.decision)
    );
    assert!(grant.decision.is_denied());
}

#[test]
fn one_request_asks_at_a_time() {
    let service = Service::new(100);
    let spender = service.spender(10, |builder| builder);
    let first = refresh(&spender, service.now(), 1);
    assert!(matches!(
        spender.spend(service.now(), 1),
        Ok(Spending::InFlight)
    ));
    drop(first);
    let second = refresh(&spender, service.now(), 1);
    assert_eq!(second.demand().want, 10);
}

#[test]
fn coupled_credits_end_with_their_window_counted_from_the_request() {
    let service = Service::new(100);
    let spender = service.spender(10, |builder| builder);
    let refresh = refresh(&spender, service.now(), 1);
    let grant = service.grant(refresh.demand());
    service.pass(900);
    assert!(matches!(
        spender.apply_lease(refresh, &grant),
        Applied::Served(_)
    ));
    service.pass(98);
    assert!(is_served(&spender, service.now(), 1));
    service.pass(1);
    assert!(!is_served(&spender, service.now(), 1));
}

#[test]
fn carried_over_credits_do_not_end() {
    let service = Service::new(100);
    let spender = service.spender(10, |builder| builder.window_coupled(false));
    let refresh = refresh(&spender, service.now(), 1);
    let grant = service.grant(refresh.demand());
    assert!(matches!(
        spender.apply_lease(refresh, &grant),
        Applied::Served(_)
    ));
    service.pass(5_000);
    assert!(is_served(&spender, service.now(), 9));
}

#[test]
fn a_cost_above_the_limit_is_refused_though_credits_would_cover_it() {
    let service = Service::new(100);
    let spender = service.spender(100, |builder| builder);
    let refresh = refresh(&spender, service.now(), 100);
    let mut grant = service.grant(refresh.demand());
    grant.amount += 150;
    let _ = spender.apply_lease(refresh, &grant);
    assert_eq!(spender.credits(), 150);
    let error = spender.spend(service.now(), 101).expect_err("never");
    let (cost, limit) = (101, 100);
    assert_eq!(error, Error::ExceedsCapacity { cost, limit });
    assert!(is_served(&spender, service.now(), 100));
}

#[test]
fn a_grant_that_is_over_is_tried_again_three_times() {
    let service = Service::new(100);
    let spender = service.spender(10, |builder| builder);
    for round in 0..4 {
        let refresh = refresh(&spender, service.now(), 1);
        let grant = service.grant(refresh.demand());
        service.pass(1_000);
        let applied = spender.apply_lease(refresh, &grant);
        let expected = if round < 3 {
            Applied::Retry
        } else {
            Applied::TooLate
        };
        assert_eq!(applied, expected);
        assert_eq!(spender.credits(), 0);
    }
}

#[test]
fn a_reset_voids_credits_and_what_was_asked_for_before() {
    let service = Service::new(100);
    let spender = service.spender(10, |builder| builder);
    let first = refresh(&spender, service.now(), 1);
    let grant = service.grant(first.demand());
    assert!(matches!(
        spender.apply_lease(first, &grant),
        Applied::Served(_)
    ));
    spender.reset();
    assert_eq!(spender.credits(), 0);
    let second = refresh(&spender, service.now(), 1);
    let grant = service.grant(second.demand());
    spender.reset();
    assert_eq!(spender.apply_lease(second, &grant), Applied::Retry);
    assert_eq!(spender.credits(), 0);
}

#[test]
fn a_grant_of_nothing_without_a_denial_is_no_answer() {
    let service = Service::new(100);
    let spender = service.spender(10, |builder| builder);
    let refresh = refresh(&spender, service.now(), 1);
    let grant = Grant {
        amount: 0,
        ..service.grant(refresh.demand())
    };
    assert_eq!(spender.apply_lease(refresh, &grant), Applied::Nothing);
}

#[test]
fn unspent_credits_are_handed_back_once() {
    let service = Service::new(100);
    let spender = service.spender(10, |builder| builder);
    let refresh = refresh(&spender, service.now(), 1);
    let grant = service.grant(refresh.demand());
    let _ = spender.apply_lease(refresh, &grant);
    let backs = spender.hand_back();
    assert_eq!(backs.len(), 1);
    assert_eq!((backs[0].amount, backs[0].tag), (9, grant.tag));
    assert_eq!(spender.hand_back(), []);
}

#[test]
fn a_cost_above_the_limit_can_never_be_served() {
    let service = Service::new(100);
    let spender = service.spender(10, |builder| builder);
    assert!(matches!(
        spender.spend(service.now(), 101),
        Err(Error::ExceedsCapacity {
            cost: 101,
            limit: 100
        })
    ));
    assert_eq!(refresh(&spender, service.now(), 100).demand().at_least, 100);
}

#[test]
fn before_the_first_lease_the_window_is_assumed_to_last() {
    let service = Service::new(100);
    let spender = service.spender(10, |builder| builder);
    let Ok(Spending::Served(decision)) = spender.spend(service.now(), 0) else {
        panic!("it costs nothing");
    };
    assert_eq!(decision.remaining, 0);
    assert_eq!(
        decision.reset_at,
        service.clock.now() + Duration::from_secs(1)
    );
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let second = Duration::from_secs(1);
    let told = |builder: tk_twotier::LeaseSpenderBuilder| {
        builder.build().expect_err("out of range").to_string()
    };
    assert!(told(LeaseSpender::builder(0, second)).starts_with("`limit` is 0"));
    assert!(told(LeaseSpender::builder(9, Duration::ZERO)).starts_with("`ttl` is 0"));
    assert_eq!(
        told(LeaseSpender::builder(9, second).batch(10)),
        "`batch` is 10; allowed is 1 to 9"
    );
    assert!(told(LeaseSpender::builder(9, second).drift_ppm(500_001)).starts_with("`drift_ppm`"));
}

#[test]
fn credits_end_earlier_by_what_the_clock_may_lag() {
    let service = Service::new(100);
    let clock = Behind::of(service.clock.clone(), 40);
    clock.by(40);
    let spender = LeaseSpender::builder(100, Duration::from_secs(1))
        .batch(10)
        .clock(clock)
        .build()
        .expect("settings within their ranges");
    let Ok(Spending::NeedsRefresh(refresh)) = spender.spend(service.now(), 1) else {
        panic!("nothing has been leased");
    };
    let grant = service.grant(refresh.demand());
    let _ = spender.apply_lease(refresh, &grant);
    // A second, less a thousandth and a microsecond for drift, and less the lag.
    let end = Monotonic::from_micros(998_959);
    let last = end - Duration::from_micros(1);
    assert!(matches!(spender.spend(last, 1), Ok(Spending::Served(_))));
    assert!(matches!(
        spender.spend(end, 1),
        Ok(Spending::NeedsRefresh(_))
    ));
}

#[test]
fn a_clock_that_panics_leaves_the_next_free_to_ask() {
    // While the grant is applied; when the refresh is given up for that; and ever since.
    for readings in [1, 2, u64::MAX] {
        let service = Service::new(100);
        let clock = PanicsFor::of(service.clock.clone());
        let spender = LeaseSpender::builder(100, Duration::from_secs(1))
            .clock(clock.clone())
            .build()
            .expect("settings within their ranges");
        for is_answered in [true, false] {
            let refresh = refresh(&spender, service.now(), 1);
            let grant = service.grant(refresh.demand());
            clock.readings(readings);
            let bug = AssertUnwindSafe(|| match is_answered {
                true => spender.apply_lease(refresh, &grant),
                false => panic!("a bug of whoever holds {refresh:?}"),
            });
            assert!(catch_unwind(bug).is_err());
            clock.readings(0);
        }
        let refresh = refresh(&spender, service.now(), 1);
        let grant = service.grant(refresh.demand());
        assert!(matches!(
            spender.apply_lease(refresh, &grant),
            Applied::Served(_)
        ));
    }
}

#[test]
fn a_clock_that_may_lag_without_bound_counts_no_credits() {
    let error = LeaseSpender::builder(100, Duration::from_secs(1))
        .clock(CachedClock::of(ManualClock::default()))
        .build()
        .expect_err("no bound");
    assert!(error.to_string().starts_with("`clock.lag` is "), "{error}");
}
