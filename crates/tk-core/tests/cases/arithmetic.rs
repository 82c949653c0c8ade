//! GCRA and token bucket.

use std::time::Duration;

use tk_core::{Clock, ConfigError, Gcra, SystemClock, TokenBucket};

use crate::{Key, built, ms, secs};

fn gcra(limit: u64, period: u64, burst: u64) -> Key<Gcra> {
    Key::of(Gcra::new(limit, Duration::from_micros(period)).and_then(|gcra| gcra.burst(burst)))
}

fn bucket(capacity: u64, refill: u64, period: u64) -> Key<TokenBucket> {
    Key::of(TokenBucket::new(
        capacity,
        refill,
        Duration::from_micros(period),
    ))
}

#[test]
fn burst_is_not_counted_again_as_tolerance_after_a_gap() {
    let mut key = gcra(10, secs(1), 10);
    key.allows(0, 10);
    key.allows(ms(1_100), 10);
    key.denies(ms(1_100), 1, ms(100));
}

#[test]
fn cost_above_the_burst_is_refused_and_leaves_the_burst_whole() {
    let mut key = gcra(10, secs(1), 10);
    key.never(11);
    key.allows(0, 10);
}

#[test]
fn remaining_does_not_depend_on_when_the_limiter_was_started() {
    for start in [0, 1, secs(1_000_000), secs(1_796_000_000)] {
        let mut key = gcra(5, secs(60), 5);
        assert_eq!(key.allows(start, 4).remaining, 1);
        assert_eq!(key.allows(start + secs(24), 1).remaining, 2);
    }
}

#[test]
fn wait_ends_when_one_unit_is_back_and_not_when_all_are() {
    let mut key = gcra(1, secs(1), 5);
    key.allows(0, 5);
    key.denies(0, 1, secs(1));
}

#[test]
fn zero_limit_burst_or_period_is_refused() {
    let second = Duration::from_secs(1);
    let refused = |built: Result<Gcra, ConfigError>, field| {
        let error = built.unwrap_err().to_string();
        assert!(error.starts_with(&format!("`{field}` is 0")), "{error}");
    };
    refused(Gcra::new(0, second), "limit");
    refused(Gcra::new(1, Duration::ZERO), "period");
    refused(Gcra::new(1, second).and_then(|gcra| gcra.burst(0)), "burst");
}

#[test]
fn bucket_that_never_refills_or_holds_nothing_is_refused() {
    let second = Duration::from_secs(1);
    for (capacity, refill, period, field) in [
        (0, 1, second, "capacity"),
        (1, 0, second, "refill"),
        (1, 1, Duration::ZERO, "period"),
    ] {
        let error = TokenBucket::new(capacity, refill, period)
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(&format!("`{field}` is 0")), "{error}");
    }
}

#[test]
fn large_cost_times_a_long_interval_does_not_wrap() {
    let mut key = gcra(1, secs(86_400), 5);
    key.never(200_000_000);
    key.never(u64::MAX);
    key.allows(0, 5);
}

#[test]
fn burst_that_takes_a_century_to_replenish_is_kept_exactly() {
    let mut key = gcra(1, secs(1), 3_000_000_000);
    let decision = key.allows(0, 1);
    assert_eq!(decision.remaining, 2_999_999_999);
    assert_eq!(decision.reset_at.as_micros(), secs(1));
}

#[test]
fn token_is_back_at_the_very_microsecond_promised() {
    // 10 per 13 s: one in 1.3 s.
    let mut key = bucket(1, 10, secs(13));
    key.allows(0, 1);
    key.denies(0, 1, ms(1_300));
    key.denies(ms(1_300) - 1, 1, 1);
    key.allows(ms(1_300), 1);
    // 3 per second: one in a third of a second, which is no whole number of microseconds.
    let mut key = bucket(1, 3, secs(1));
    key.allows(0, 1);
    key.denies(333_333, 1, 1);
    key.allows(333_334, 1);
    // The third unit comes exactly after a second: no error adds up.
    key.denies(666_666, 1, 2);
}

#[test]
fn thirds_of_a_second_add_up_to_seconds() {
    let mut key = bucket(3, 3, secs(1));
    key.allows(0, 3);
    for second in 1..1_000 {
        key.allows(secs(second), 3);
        key.denies(secs(second), 1, 333_334);
    }
}

#[test]
fn idle_time_is_worth_one_burst_and_no_more() {
    let mut key = gcra(1, secs(1), 2);
    key.allows(0, 1);
    assert_eq!(key.admitted(secs(4), 100), 2);
    let mut key = bucket(5, 5, secs(1));
    key.allows(0, 5);
    assert_eq!(key.admitted(secs(3_600), 6), 5);
    key.never(100);
}

#[test]
fn too_large_a_cost_takes_nothing() {
    let mut key = gcra(1, secs(60), 5);
    key.never(10);
    assert_eq!(key.allows(0, 1).remaining, 4);
}

#[test]
fn refusal_moves_neither_clock_nor_balance() {
    let mut key = bucket(1, 1, secs(1));
    key.allows(0, 1);
    key.never(5);
    key.denies(ms(500), 1, ms(500));
    key.allows(secs(1), 1);
}

#[test]
fn clock_that_steps_back_asks_for_the_time_until_it_is_back() {
    let mut key = bucket(5, 1, secs(1));
    key.allows(secs(100), 3);
    let before = key.state;
    // The balance is -8 as seen from 89 s: 103 s less 5 tokens is 98 s, and one more.
    key.denies(secs(89), 1, secs(10));
    assert_eq!(key.state, before);
    key.allows(secs(99), 1);
}

#[test]
fn readings_that_jump_back_between_cores_refuse_nothing_through_the_system_clock() {
    let strategy = built(Gcra::per_second(10));
    let state = std::sync::Mutex::new(Default::default());
    let allowed = std::thread::scope(|scope| {
        let check = || {
            let mut state = state.lock().unwrap();
            tk_core::Strategy::decide(&strategy, &mut *state, SystemClock.now(), 1).allowed
        };
        let threads: Vec<_> = (0..10).map(|_| scope.spawn(check)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect::<Vec<_>>()
    });
    assert_eq!(allowed, [true; 10]);
    // Without it: the burst is there, whatever the order of the readings.
    let mut key = gcra(10, secs(1), 10);
    for at in [0, 5, 3, 8, 6, 11, 9, 14, 12, 17] {
        key.allows(ms(at), 1);
    }
}

#[test]
fn default_burst_of_a_rate_below_one_per_second_is_one() {
    let mut key = Key::of(Gcra::new(1, Duration::from_secs(3)));
    key.allows(0, 1);
    key.denies(0, 1, secs(3));
}

#[test]
fn refill_faster_than_the_microsecond_is_exact() {
    let mut key = bucket(4, 4, 1);
    key.allows(7, 4);
    key.denies(7, 1, 1);
    key.allows(8, 4);
    let mut key = bucket(100, 1, 500);
    key.allows(0, 100);
    key.denies(499, 1, 1);
    key.allows(500, 1);
}

#[test]
fn raised_rate_gives_no_free_burst() {
    let mut key = gcra(10, secs(1), 10);
    key.allows(0, 10);
    key.strategy = built(Gcra::new(20, Duration::from_secs(1)).and_then(|gcra| gcra.burst(10)));
    key.denies(0, 1, ms(50));
    key.allows(ms(50), 1);
    // A larger burst adds what is larger about it, at once.
    let mut key = gcra(10, secs(1), 10);
    key.allows(0, 10);
    key.strategy = built(Gcra::per_second(20));
    assert_eq!(key.allows(0, 1).remaining, 9);
}

#[test]
fn raised_rate_frees_a_key_that_was_used_up_under_a_slow_one() {
    let mut key = gcra(1, secs(86_400), 1);
    key.allows(0, 1);
    key.denies(secs(1), 1, secs(86_399));
    key.strategy = built(Gcra::per_second(1));
    key.denies(secs(1), 1, secs(1));
    key.denies(ms(1_500), 1, ms(500));
    key.allows(secs(2), 1);
}
