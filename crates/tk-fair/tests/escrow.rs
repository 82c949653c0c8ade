//! One budget in one process, as its users see it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tk_core::{Clock, Decision, ManualClock, Timestamp};
use tk_fair::{FairError, MAX_WEIGHT, Weigh, WeightedFairEscrow};

const WINDOW: Duration = Duration::from_secs(10);
const IDLE: Duration = Duration::from_secs(1);

type Escrow<W> = WeightedFairEscrow<W, Arc<ManualClock>>;

fn escrow<W: Weigh<u64>>(limit: u64, weight_of: W) -> (Escrow<W>, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at(Timestamp::from_secs(1_000)));
    let escrow = WeightedFairEscrow::builder(limit, WINDOW)
        .weight_of(weight_of)
        .clock(clock.clone())
        .build()
        .unwrap();
    (escrow, clock)
}

fn equal(_: &u64) -> u64 {
    1
}

/// Makes tenants known, and goes to the next window with all of them active.
fn known<W: Weigh<u64>>(escrow: &Escrow<W>, clock: &ManualClock, tenants: std::ops::Range<u64>) {
    clock.advance(WINDOW - IDLE / 2);
    for tenant in tenants {
        let _ = escrow.check(&tenant, 1);
    }
    clock.advance(IDLE / 2);
}

/// How many units `tenant` gets one by one, until it is refused.
fn drain<W: Weigh<u64>>(escrow: &Escrow<W>, tenant: u64) -> u64 {
    (0..)
        .take_while(|_| escrow.check(&tenant, 1).unwrap().allowed)
        .count() as u64
}

#[test]
fn weight_zero_admits_nothing_and_comes_before_nobody() {
    let (escrow, clock) = escrow(10, |tenant: &u64| *tenant);
    known(&escrow, &clock, 0..2);
    let denied = escrow.check(&0, 1).unwrap();
    assert!(denied.is_denied() && denied.retry_after == WINDOW);
    assert_eq!(drain(&escrow, 1), 10);
    clock.advance(WINDOW * 5);
    assert!(escrow.check(&0, 1).unwrap().is_denied(), "others idle");
    assert_eq!(escrow.stats_of(&0_u64).used, 0);
}

#[test]
fn uneven_demand_is_split_by_max_min_and_not_evenly() {
    let (escrow, clock) = escrow(100, equal);
    known(&escrow, &clock, 0..3);
    let mut got = [0; 3];
    for _ in 0..100 {
        got[0] += u64::from(got[0] < 10 && escrow.check(&0, 1).unwrap().allowed);
        got[1] += drain(&escrow, 1);
        got[2] += drain(&escrow, 2);
        clock.advance(WINDOW / 100);
    }
    assert_eq!(got, [10, 45, 45]);
}

#[test]
fn a_tenant_without_a_share_is_not_admitted_when_others_are_idle() {
    let (escrow, clock) = escrow(10, |_: &u64| 0);
    for _ in 0..30 {
        assert!(escrow.check(&1, 1).unwrap().is_denied());
        clock.advance(Duration::from_millis(700));
    }
}

/// Everyone asks for one unit after another, in twenty rounds a window. In which windows each was served.
fn take_turns<W: Weigh<u64>>(
    escrow: &Escrow<W>,
    clock: &ManualClock,
    tenants: u64,
    windows: u64,
) -> BTreeMap<u64, Vec<u64>> {
    let mut served: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for round in 0..windows * 20 {
        for tenant in 0..tenants {
            if escrow.check(&tenant, 1).unwrap().allowed {
                served.entry(tenant).or_default().push(round / 20);
            }
        }
        clock.advance(WINDOW / 20);
    }
    served
}

#[test]
fn a_hundred_tenants_on_ten_units_are_each_served_within_ten_windows() {
    let (escrow, clock) = escrow(10, equal);
    known(&escrow, &clock, 0..100);
    let served = take_turns(&escrow, &clock, 100, 10);
    assert_eq!(served.len(), 100);
    assert!(
        served.values().all(|windows| windows.len() == 1),
        "{served:?}"
    );
}

#[test]
fn a_hundred_tenants_that_nobody_knew_are_each_served_within_ten_windows() {
    let (escrow, clock) = escrow(10, equal);
    let served = take_turns(&escrow, &clock, 100, 10);
    assert_eq!(served.len(), 100, "{served:?}");
}

/// The first to come may have everything while nobody else has asked, and nothing can bring that back. The ten windows begin with the next one.
#[test]
fn a_hundred_tenants_behind_one_that_took_all_are_each_served_within_ten_windows_more() {
    let (escrow, clock) = escrow(10, equal);
    assert_eq!(drain(&escrow, 0), 10);
    let served = take_turns(&escrow, &clock, 100, 11);
    assert_eq!(served.len(), 100, "{served:?}");
    assert!(!served.values().flatten().any(|window| *window == 0));
}

/// With less than one unit for each, light tenants would be behind heavy ones for ever.
#[test]
fn no_tenant_is_passed_over_for_ever_because_it_is_light() {
    for (heavy, heavies, lights, limit) in [(2, 20, 20, 10), (1_000, 5, 5, 4), (7, 30, 3, 5)] {
        let weight = move |tenant: &u64| if *tenant < heavies { heavy } else { 1 };
        let (escrow, clock) = escrow(limit, weight);
        let tenants = heavies + lights;
        let served = take_turns(&escrow, &clock, tenants, 100);
        // Half of the budget goes to whoever waited longest.
        let longest = tenants.div_ceil(limit.div_ceil(2)) + 1;
        for tenant in 0..tenants {
            let windows = &served[&tenant];
            let gaps = windows.windows(2).map(|pair| pair[1] - pair[0]);
            let gap = gaps.max().unwrap_or(100).max(windows[0] + 1);
            assert!(gap <= longest, "{tenant}: {windows:?}");
        }
        let turns = |of: std::ops::Range<u64>| of.map(|t| served[&t].len()).sum::<usize>();
        let (heavy, light) = (turns(0..heavies), turns(heavies..tenants));
        println!("{heavy} for {heavies} heavy ones, {light} for {lights} light ones");
        assert_eq!((heavy + light) as u64, limit * 100);
        assert!(heavy as u64 * lights > light as u64 * heavies);
    }
}

/// What is promised to the other leaves less than it wants, in every window.
#[test]
fn nothing_is_kept_for_one_who_waits_for_more_than_is_left() {
    let (escrow, clock) = escrow(100, equal);
    let mut got = [0; 5];
    for tick in 0..100 {
        got[tick / 20] += drain(&escrow, 1);
        assert!(escrow.check(&0, 100).unwrap().is_denied());
        clock.advance(WINDOW / 20);
    }
    assert_eq!(got, [100; 5]);
}

#[test]
fn one_who_waits_for_more_than_is_left_holds_up_nobody_behind_it() {
    let weight = |tenant: &u64| if *tenant < 9 { 1_000 } else { 1 };
    let (escrow, clock) = escrow(10, weight);
    let mut served = Vec::new();
    for tick in 0..20 * 20 {
        for heavy in 0..9 {
            drain(&escrow, heavy);
        }
        assert!(escrow.check(&9, 10).unwrap().is_denied());
        if escrow.check(&10, 1).unwrap().allowed {
            served.push(tick / 20);
        }
        clock.advance(WINDOW / 20);
    }
    assert!(served.len() >= 8, "{served:?}");
}

/// A slow tenant, known since the window began, one that takes its share at once, and one that comes later and wants everything.
#[test]
fn the_guarantee_is_kept_beside_greedy_newcomers() {
    let (escrow, clock) = escrow(60, equal);
    known(&escrow, &clock, 0..2);
    assert_eq!(drain(&escrow, 0), 30);
    let (mut slow, mut newcomer) = (0, 0);
    for tick in 0..100 {
        slow += u64::from(tick % 4 == 0 && escrow.check(&1, 1).unwrap().allowed);
        newcomer += if tick >= 20 { drain(&escrow, 2) } else { 0 };
        clock.advance(WINDOW / 100);
    }
    assert!(slow >= 20, "{slow} and {newcomer}");
    assert_eq!(slow + newcomer, 30);
}

#[test]
fn polite_clients_get_as_much_as_greedy_ones() {
    let (escrow, clock) = escrow(1_000, equal);
    let (mut got, mut next) = ([0; 4], [clock.now(); 4]);
    known(&escrow, &clock, 0..4);
    let end = clock.now() + WINDOW * 3;
    while clock.now() < end {
        for tenant in 0..4 {
            let polite = tenant < 2;
            while !polite || clock.now() >= next[tenant] {
                let decision = escrow.check(&(tenant as u64), 1).unwrap();
                if decision.is_denied() {
                    next[tenant] = clock.now() + decision.retry_after;
                    break;
                }
                got[tenant] += 1;
            }
        }
        clock.advance(Duration::from_millis(10));
    }
    assert_eq!(got, [750; 4]);
}

#[test]
fn nothing_changes_before_the_retry_time() {
    let (escrow, clock) = escrow(10, equal);
    known(&escrow, &clock, 0..2);
    assert_eq!(drain(&escrow, 0), 5);
    clock.advance(Duration::from_millis(300));
    let denied = escrow.check(&0, 1).unwrap();
    // Tenant 1 asked half a second before the window began, and half a second after that its claim ends.
    assert_eq!(denied.retry_after, Duration::from_millis(200));
    clock.advance(Duration::from_micros(199_999));
    assert!(escrow.check(&0, 1).unwrap().is_denied());
    clock.advance(Duration::from_micros(1));
    assert_eq!(drain(&escrow, 0), 5);
    // Used up. Whoever waits so long is still active.
    let denied = escrow.check(&0, 1).unwrap();
    assert_eq!(denied.retry_after, IDLE - Duration::from_micros(1));
    clock.advance(denied.retry_after);
    assert!(escrow.stats_of(&0_u64).active);
}

#[test]
fn a_decision_tells_of_the_tenants_own_share() {
    let (escrow, clock) = escrow(100, |tenant: &u64| *tenant);
    known(&escrow, &clock, 1..4);
    let Decision {
        allowed,
        limit,
        remaining,
        reset_at,
        retry_after,
    } = escrow.check(&3, 20).unwrap();
    assert_eq!((allowed, limit, remaining), (true, 50, 30));
    assert_eq!(
        (reset_at, retry_after),
        (clock.now() + WINDOW, Duration::ZERO)
    );
    let untouched = escrow.check(&1, 0).unwrap();
    assert_eq!((untouched.limit, untouched.remaining), (16, 16));
    assert_eq!(untouched.reset_at, clock.now());
}

#[test]
fn input_that_can_never_be_admitted_is_an_error_and_charges_nothing() {
    let heavy = Arc::new(AtomicU64::new(MAX_WEIGHT + 1));
    let weight = heavy.clone();
    let (escrow, _) = escrow(10, move |_: &u64| weight.load(Ordering::Relaxed));
    let garbage = FairError::Weight {
        weight: MAX_WEIGHT + 1,
        max: MAX_WEIGHT,
    };
    assert_eq!(escrow.check(&1, 1), Err(garbage));
    heavy.store(u64::MAX, Ordering::Relaxed);
    assert!(matches!(
        escrow.check(&1, 1),
        Err(FairError::Weight {
            weight: u64::MAX,
            ..
        })
    ));
    heavy.store(MAX_WEIGHT, Ordering::Relaxed);
    assert_eq!(
        escrow.check(&1, 11),
        Err(FairError::ExceedsCapacity {
            cost: 11,
            limit: 10
        })
    );
    assert!(escrow.stats().tenants.is_empty());
    assert!(escrow.check(&1, 10).unwrap().allowed);
    let names = WeightedFairEscrow::builder(10, WINDOW).build().unwrap();
    assert_eq!(names.check("", 1), Err(FairError::EmptyTenant));
}

#[test]
fn cost_zero_leaves_no_trace() {
    let (escrow, _) = escrow(10, equal);
    assert!(escrow.check(&1, 0).unwrap().allowed);
    assert!(escrow.stats().tenants.is_empty());
}

#[test]
fn neither_reset_nor_eviction_frees_a_unit() {
    let clock = Arc::new(ManualClock::at(Timestamp::from_secs(1_000)));
    let escrow = WeightedFairEscrow::builder(20, WINDOW)
        .max_keys(2)
        .clock(clock.clone())
        .build()
        .unwrap();
    let mut admitted = 0;
    for round in 0..200_u64 {
        admitted += u64::from(escrow.check(&(round % 7), 1).unwrap().allowed);
        if round.is_multiple_of(3) {
            escrow.reset(&(round % 7));
        }
        clock.advance(Duration::from_millis(40));
    }
    assert_eq!(admitted, 20);
    assert_eq!(escrow.stats().pool, 0);
}

#[test]
fn a_newcomer_is_denied_while_all_places_are_taken_by_the_active() {
    let clock = Arc::new(ManualClock::at(Timestamp::from_secs(1_000)));
    let escrow = WeightedFairEscrow::builder(20, WINDOW)
        .max_keys(2)
        .clock(clock.clone())
        .build()
        .unwrap();
    assert!(escrow.check(&1_u64, 1).unwrap().allowed && escrow.check(&2_u64, 1).unwrap().allowed);
    let denied = escrow.check(&3_u64, 1).unwrap();
    assert!(denied.is_denied());
    assert_eq!(denied.retry_after, IDLE);
    // A third of the budget would be its share, and nothing of that is to be had.
    assert_eq!((denied.limit, denied.remaining), (6, 0));
    clock.advance(IDLE);
    assert!(escrow.check(&3_u64, 1).unwrap().allowed);
}

#[test]
fn whoever_was_active_is_remembered_until_the_window_ends_or_all_are_idle() {
    let clock = Arc::new(ManualClock::at(Timestamp::from_secs(1_000)));
    let escrow = WeightedFairEscrow::builder(100, WINDOW)
        .max_keys(2)
        .clock(clock.clone())
        .build()
        .unwrap();
    clock.advance(WINDOW - IDLE / 2);
    assert!(escrow.check(&0_u64, 1).unwrap().allowed);
    clock.advance(IDLE / 2);
    let mut got = [0; 3];
    let mut ask = |tenant: u64, times| {
        let admitted = (0..times).filter(|_| escrow.check(&tenant, 1).unwrap().allowed);
        got[tenant as usize] += admitted.count();
    };
    for turn in 0..6 {
        ask(1 + turn % 2, 100);
        for _ in 0..2 {
            clock.advance(IDLE / 2 + Duration::from_millis(1));
            ask(0, 1);
        }
    }
    ask(0, 100);
    assert_eq!(got, [50, 50, 0]);
    assert_eq!(escrow.stats().weight, 2);
    let denied = escrow.check(&2, 1).unwrap();
    assert_eq!(denied.retry_after, IDLE, "then all may be idle");
    clock.advance(IDLE);
    assert!(escrow.check(&2, 0).unwrap().allowed);
    assert_eq!(escrow.stats_of(&1).used, 50);
    clock.advance(WINDOW);
    assert!(escrow.check(&2, 1).unwrap().allowed);
}

#[test]
fn a_weight_that_falls_to_zero_and_comes_back_counts_once() {
    for flaps in [0, 1, 2, 200] {
        let shared = Arc::new(AtomicU64::new(1));
        let weight = shared.clone();
        let (escrow, clock) = escrow(100, move |tenant: &u64| match tenant {
            0 => 1,
            _ => weight.load(Ordering::Relaxed),
        });
        known(&escrow, &clock, 0..2);
        assert!(escrow.check(&0, 1).unwrap().allowed);
        let mut got = drain(&escrow, 1);
        for _ in 0..flaps {
            shared.store(0, Ordering::Relaxed);
            assert!(escrow.check(&1, 1).unwrap().is_denied());
            let stats = escrow.stats_of(&1);
            assert_eq!((stats.weight, stats.used, stats.active), (0, got, false));
            shared.store(1, Ordering::Relaxed);
            got += drain(&escrow, 1);
        }
        assert_eq!((got, drain(&escrow, 0)), (50, 49), "{flaps} times");
        assert_eq!(escrow.stats().weight, 2);
    }
}

#[test]
fn a_tenant_that_is_reset_counts_once_and_leaves_others_what_they_were_promised() {
    let (escrow, clock) = escrow(100, equal);
    known(&escrow, &clock, 0..2);
    assert!(escrow.check(&0, 1).unwrap().allowed);
    let mut got = 0;
    for _ in 0..200 {
        escrow.reset(&1);
        assert_eq!(escrow.stats_of(&1).used, 0);
        got += u64::from(escrow.check(&1, 1).unwrap().allowed);
    }
    assert_eq!((got, drain(&escrow, 0)), (50, 49));
    assert_eq!(escrow.stats().weight, 2);
}

#[test]
fn a_weight_may_change_within_a_window() {
    let shared = Arc::new(AtomicU64::new(1));
    let weight = shared.clone();
    let (escrow, clock) = escrow(100, move |tenant: &u64| {
        if *tenant == 0 {
            weight.load(Ordering::Relaxed)
        } else {
            1
        }
    });
    known(&escrow, &clock, 0..2);
    assert_eq!(drain(&escrow, 0), 50);
    shared.store(3, Ordering::Relaxed);
    // At once: 75 and 25, as if it had always been so. What the other was promised by the new weights is still there.
    assert_eq!((drain(&escrow, 0), drain(&escrow, 1)), (25, 25));
    shared.store(1, Ordering::Relaxed);
    assert_eq!((drain(&escrow, 0), drain(&escrow, 1)), (0, 0));
    shared.store(3, Ordering::Relaxed);
    known(&escrow, &clock, 0..2);
    assert_eq!((drain(&escrow, 0), drain(&escrow, 1)), (75, 25));
}

#[test]
fn time_that_runs_backwards_frees_nothing() {
    let (escrow, clock) = escrow(10, equal);
    assert_eq!(drain(&escrow, 1), 10);
    clock.set_wall(Timestamp::from_secs(900));
    let denied = escrow.check(&1, 1).unwrap();
    assert!(denied.is_denied());
    assert_eq!(
        denied.retry_after,
        Duration::from_secs(101) - Duration::from_micros(1)
    );
    clock.set_wall(Timestamp::from_secs(1_010));
    assert_eq!(drain(&escrow, 1), 10);
}

#[test]
fn equal_inputs_give_equal_outputs() {
    let play = || {
        let (escrow, clock) = escrow(50, |tenant: &u64| tenant % 5 + 1);
        let mut random = 1_u64;
        let mut answers = Vec::new();
        for _ in 0..5_000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            answers.push(
                escrow
                    .check(&(random >> 60), 1 + (random >> 40) % 3)
                    .unwrap(),
            );
            clock.advance(Duration::from_micros((random >> 20) % 20_000));
        }
        answers
    };
    assert_eq!(play(), play());
}

#[test]
fn settings_are_checked() {
    let builder = |limit| WeightedFairEscrow::builder(limit, WINDOW);
    let refused = [
        (builder(0), "`limit` is 0; allowed is 1 to 281474976710656"),
        (
            WeightedFairEscrow::builder(10, Duration::ZERO),
            "`window` is 0ns; allowed is 1µs to 35184372.088832s",
        ),
        (
            builder(10).idle_after(Duration::ZERO),
            "`idle_after` is 0ns; allowed is 1µs to 2s",
        ),
        (
            builder(10).idle_after(Duration::from_millis(2_001)),
            "`idle_after` is 2.001s; allowed is 1µs to 2s",
        ),
        (
            builder(10).max_keys(0),
            "`max_keys` is 0; allowed is 1 to 2147483648",
        ),
    ];
    for (builder, message) in refused {
        assert_eq!(builder.build().unwrap_err().to_string(), message);
    }
    let nanos = builder(10).idle_after(Duration::from_nanos(1_500)).build();
    assert!(
        nanos
            .unwrap_err()
            .to_string()
            .contains("whole microseconds")
    );
    assert!(
        WeightedFairEscrow::builder(10, Duration::from_micros(1))
            .build()
            .is_ok()
    );
}

#[test]
fn everyone_is_listed_under_the_identity_asked_for() {
    let (escrow, _) = escrow(10, |tenant: &u64| *tenant);
    for tenant in 1..4 {
        let _ = escrow.check(&tenant, 1);
    }
    let stats = escrow.stats();
    assert_eq!(
        (stats.limit, stats.effective_limit, stats.pool, stats.weight),
        (10, 10, 7, 6)
    );
    let listed: BTreeMap<_, _> = stats.tenants.into_iter().collect();
    assert_eq!(listed[&escrow.id_of(&3_u64)], escrow.stats_of(&3_u64));
    assert_eq!(escrow.stats_of(&3_u64).weight, 3);
}
