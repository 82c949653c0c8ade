//! States in 104 bits, for stores that keep them in place.

#![expect(clippy::unwrap_used, reason = "the parameters are in range")]

use std::time::Duration;

use tk_core::{
    FixedWindow, FixedWindowState, Gcra, SlidingWindow, SlidingWindowLog, Strategy, TatState,
    Timestamp, TokenBucket,
};
use tk_testkit::{Random, Sample};

/// Every state that a strategy writes packs, and is the same when unpacked.
fn packs<S: Sample<State: PartialEq + std::fmt::Debug>>() {
    for seed in 0..2_000 {
        let random = &mut Random::new(seed);
        let (strategy, mut state) = (S::sample(random), S::State::default());
        let mut now = Timestamp::from_micros(random.up_to(Timestamp::MAX.as_micros()));
        for _ in 0..4 {
            let cost = random.within(1, strategy.capacity());
            if strategy.decide(&mut state, now, cost).allowed {
                let packed = strategy.pack(&state).unwrap();
                assert!(packed < 1 << 104);
                assert_eq!(strategy.unpack(packed), state);
            }
            now = now + Duration::from_micros(random.up_to(1 << 40));
        }
    }
}

/// Deciding on a packed state is unpacking it, deciding, and packing what came of it: any 104 bits, so states from outside too.
fn decides_packed_as_otherwise<S: Sample<State: PartialEq + std::fmt::Debug>>() {
    for seed in 0..5_000 {
        let random = &mut Random::new(seed);
        let strategy = S::sample(random);
        let now = Timestamp::from_micros(random.up_to(Timestamp::MAX.as_micros()));
        let near = {
            let mut state = S::State::default();
            let _ = strategy.decide(&mut state, now, random.within(1, strategy.capacity()));
            strategy.pack(&state).unwrap_or_default()
        };
        let any =
            u128::from(random.up_to((1 << 52) - 1)) << 52 | u128::from(random.up_to((1 << 52) - 1));
        for packed in [0, near, any] {
            for cost in [0, 1, random.within(1, strategy.capacity())] {
                let mut state = strategy.unpack(packed);
                let decision = strategy.decide(&mut state, now, cost);
                assert_eq!(
                    strategy.decide_packed(packed, now, cost),
                    (decision, strategy.pack(&state)),
                    "seed {seed}, {packed:#x}, cost {cost}"
                );
            }
        }
    }
}

#[test]
fn a_packed_state_is_decided_on_as_it_is_unpacked() {
    decides_packed_as_otherwise::<Gcra>();
    decides_packed_as_otherwise::<TokenBucket>();
    decides_packed_as_otherwise::<FixedWindow>();
}

#[test]
fn every_state_written_by_a_strategy_of_one_word_packs() {
    packs::<Gcra>();
    packs::<TokenBucket>();
    packs::<FixedWindow>();
}

#[test]
fn state_of_another_scale_does_not_pack() {
    let (slow, fast) = (Gcra::per_minute(7).unwrap(), Gcra::per_second(7).unwrap());
    let mut state = TatState::default();
    let _ = slow.decide(&mut state, Timestamp::from_secs(9), 3);
    assert!(slow.pack(&state).is_some());
    assert_eq!(fast.pack(&state), None);
    let (long, short) = (
        FixedWindow::per_minute(7).unwrap(),
        FixedWindow::per_second(7).unwrap(),
    );
    let mut state = FixedWindowState::default();
    let _ = long.decide(&mut state, Timestamp::from_secs(9), 3);
    assert!(long.pack(&state).is_some());
    assert_eq!(short.pack(&state), None);
}

#[test]
fn state_from_outside_that_is_too_wide_does_not_pack() {
    let gcra = Gcra::per_second(7).unwrap();
    let emission = gcra.emission();
    let tat = |micros, fraction| {
        gcra.pack(&TatState {
            micros,
            fraction,
            emission,
        })
    };
    let most = ((1 << 54) - 1, (1 << 50) - 1);
    let packed = tat(most.0, most.1).unwrap();
    let unpacked = gcra.unpack(packed);
    assert_eq!((unpacked.micros, unpacked.fraction), most);
    assert_eq!((tat(1 << 54, 0), tat(0, 1 << 50)), (None, None));

    let fixed = FixedWindow::per_second(7).unwrap();
    let window = 1_000_000;
    let pack = |start, used| {
        fixed.pack(&FixedWindowState {
            start,
            used,
            window,
        })
    };
    let unpacked = fixed.unpack(pack(most.0, most.1).unwrap());
    assert_eq!(
        (unpacked.start, unpacked.used, unpacked.window),
        (most.0, most.1, window)
    );
    assert_eq!((pack(1 << 54, 0), pack(0, 1 << 50)), (None, None));
}

#[test]
fn rings_and_logs_do_not_pack() {
    let (ring, log) = (
        SlidingWindow::per_second(7).unwrap(),
        SlidingWindowLog::per_second(7).unwrap(),
    );
    assert_eq!(ring.pack(&Default::default()), None);
    assert_eq!(log.pack(&Default::default()), None);
}

#[test]
fn scale_is_the_rate_the_window_and_the_buckets_but_not_the_limit() {
    let gcra = Gcra::per_second(10).unwrap();
    assert!(gcra.same_scale(&gcra.burst(3).unwrap()));
    assert!(gcra.same_scale(&Gcra::per_minute(600).unwrap()));
    assert!(!gcra.same_scale(&Gcra::per_minute(10).unwrap()));
    let bucket =
        |capacity, refill| TokenBucket::new(capacity, refill, Duration::from_secs(1)).unwrap();
    assert!(bucket(1, 5).same_scale(&bucket(9, 5)) && !bucket(1, 5).same_scale(&bucket(1, 6)));
    let fixed = FixedWindow::per_second(10).unwrap();
    assert!(fixed.same_scale(&FixedWindow::per_second(3).unwrap()));
    assert!(!fixed.same_scale(&FixedWindow::per_minute(10).unwrap()));
    let sliding = SlidingWindow::per_second(10).unwrap();
    assert!(sliding.same_scale(&SlidingWindow::per_second(3).unwrap()));
    assert!(!sliding.same_scale(&sliding.buckets(5).unwrap()));
    assert!(!sliding.same_scale(&SlidingWindow::per_minute(10).unwrap()));
    let log = SlidingWindowLog::per_second(10).unwrap();
    assert!(log.same_scale(&SlidingWindowLog::per_second(3).unwrap()));
    assert!(!log.same_scale(&SlidingWindowLog::per_minute(10).unwrap()));
}

#[test]
fn key_is_fresh_at_the_very_microsecond_at_which_all_is_back() {
    fn fresh_from<S: Strategy>(strategy: S, at: u64) -> u64 {
        let mut state = S::State::default();
        assert!(strategy.is_fresh(&state, Timestamp::EPOCH));
        let _ = strategy.decide(&mut state, Timestamp::from_micros(at), 1);
        let fresh = |at| strategy.is_fresh(&state, Timestamp::from_micros(at));
        let from = (at..).find(|&at| fresh(at)).unwrap();
        assert!(fresh(from + 1) && !fresh(0));
        from
    }
    let micros = Duration::from_micros;
    assert_eq!(fresh_from(Gcra::new(1, micros(7)).unwrap(), 5), 12);
    assert_eq!(fresh_from(Gcra::new(3, micros(7)).unwrap(), 5), 8);
    assert_eq!(fresh_from(FixedWindow::new(3, micros(7)).unwrap(), 8), 14);
    assert_eq!(
        fresh_from(
            SlidingWindow::new(3, micros(8))
                .unwrap()
                .buckets(4)
                .unwrap(),
            5
        ),
        14
    );
    assert_eq!(
        fresh_from(SlidingWindowLog::new(3, micros(7)).unwrap(), 5),
        12
    );
}

#[test]
fn key_from_which_all_was_handed_back_is_fresh_but_not_before_it_was_charged() {
    fn is_fresh<S: Strategy>(strategy: S, late: u64, early: u64) {
        let mut state = S::State::default();
        let now = Timestamp::from_micros(late);
        let _ = strategy.decide(&mut state, now, 2);
        let mark = strategy.mark(&state, now);
        assert!(!strategy.is_fresh(&state, now));
        assert_eq!(strategy.give_back(&mut state, now, mark, 2), 2);
        assert!(strategy.is_fresh(&state, now));
        assert!(!strategy.is_fresh(&state, Timestamp::from_micros(early)));
    }
    is_fresh(FixedWindow::per_second(3).unwrap(), 1_000_000, 999_999);
    is_fresh(SlidingWindow::per_second(3).unwrap(), 1_000_000, 999_999);
    is_fresh(SlidingWindowLog::per_second(3).unwrap(), 1_000_000, 999_999);
    is_fresh(Gcra::per_second(3).unwrap(), 1_000_000, 999_999);
}
