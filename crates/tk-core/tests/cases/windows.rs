//! Fixed window, sliding window and log.

use std::time::Duration;

use tk_core::{FixedWindow, SlidingWindow, SlidingWindowLog, Strategy, Timestamp};

use crate::{Key, built, ms, secs};

fn fixed(limit: u64, window: u64) -> Key<FixedWindow> {
    Key::of(FixedWindow::new(limit, Duration::from_micros(window)))
}

fn sliding(limit: u64, window: u64, buckets: u64) -> Key<SlidingWindow> {
    let strategy = SlidingWindow::new(limit, Duration::from_micros(window));
    Key::of(strategy.and_then(|strategy| strategy.buckets(buckets)))
}

fn log(limit: u64, window: u64) -> Key<SlidingWindowLog> {
    Key::of(SlidingWindowLog::new(limit, Duration::from_micros(window)))
}

#[test]
fn only_the_fixed_window_admits_twice_the_limit_across_an_edge() {
    let mut key = fixed(10, secs(60));
    key.allows(ms(59_900), 10);
    key.allows(secs(60), 10);
    let mut key = sliding(10, secs(60), 10);
    key.allows(ms(59_900), 10);
    assert!(key.at(secs(60), 10).is_denied());
    let mut key = log(10, secs(60));
    key.allows(ms(59_900), 10);
    key.denies(secs(60), 10, ms(59_900));
}

#[test]
fn sliding_window_remembers_the_slices_before() {
    let mut key = sliding(100, secs(10), 10);
    key.allows(secs(5), 50);
    assert_eq!(key.allows(secs(11), 10).remaining, 40);
}

#[test]
fn limit_of_one_is_admitted_and_again_once_its_slice_has_left() {
    let mut key = sliding(1, secs(10), 10);
    key.allows(0, 1);
    // The slice of 0 s weighs something until 11 s.
    key.denies(secs(10), 1, secs(1));
    key.denies(secs(11) - 1, 1, 1);
    key.allows(secs(11), 1);
}

#[test]
fn slot_of_a_ring_counts_only_for_its_own_slice() {
    let mut key = sliding(5, secs(10), 10);
    key.allows(0, 5);
    assert_eq!(key.allows(secs(11), 1).remaining, 4);
    assert_eq!(key.allows(ms(1_000_500), 1).remaining, 4);
}

#[test]
fn retry_time_of_a_log_is_that_of_the_oldest_that_must_leave() {
    let mut key = log(2, secs(60));
    key.allows(0, 1);
    key.allows(secs(10), 1);
    key.denies(secs(20), 1, secs(40));
    let mut key = log(5, secs(60));
    key.allows(0, 3);
    key.allows(secs(10), 2);
    key.denies(secs(20), 4, secs(50));
}

#[test]
fn calls_of_one_instant_all_count_in_a_log() {
    let mut key = log(3, secs(60));
    assert_eq!(key.admitted(secs(7), 10), 3);
}

#[test]
fn refused_calls_are_not_counted() {
    let mut key = fixed(10, secs(60));
    key.allows(0, 8);
    key.denies(0, 5, secs(60));
    assert_eq!(key.allows(0, 1).remaining, 1);
    let mut key = sliding(10, secs(60), 10);
    key.allows(0, 8);
    assert!(key.at(0, 5).is_denied());
    assert_eq!(key.allows(0, 1).remaining, 1);
    let mut key = log(10, secs(60));
    key.allows(0, 8);
    key.denies(0, 5, secs(60));
    assert_eq!(key.allows(0, 1).remaining, 1);
}

#[test]
fn edge_of_the_limit_is_admitted_and_the_next_is_not() {
    assert_eq!(fixed(10, secs(60)).admitted(0, 12), 10);
    assert_eq!(sliding(10, secs(60), 10).admitted(0, 12), 10);
    assert_eq!(log(10, secs(60)).admitted(0, 12), 10);
}

#[test]
fn day_is_that_of_utc() {
    // The days on which clocks in New York go back and forward: 25 and 23 hours, which begin at 4:00 and at 5:00 UTC.
    for (day, local_midnight) in [(1_793_491_200, 4), (1_772_928_000, 5)] {
        let utc_midnight = secs(day + 86_400);
        let mut key = Key::of(FixedWindow::per_day(1));
        let first = key.allows(secs(day + local_midnight * 3_600), 1);
        assert_eq!(first.reset_at.as_micros(), utc_midnight);
        key.denies(utc_midnight - 1, 1, 1);
        key.allows(utc_midnight, 1);
    }
}

#[test]
fn limit_lowered_below_what_is_used_leaves_nothing_until_the_next_window() {
    let mut key = fixed(100, secs(60));
    key.allows(0, 80);
    key.strategy = built(FixedWindow::new(50, Duration::from_secs(60)));
    assert_eq!(key.at(secs(1), 0).remaining, 0);
    key.denies(secs(1), 1, secs(59));
    assert_eq!(key.allows(secs(60), 1).remaining, 49);
    let mut key = log(100, secs(60));
    key.allows(0, 80);
    key.strategy = built(SlidingWindowLog::new(50, Duration::from_secs(60)));
    assert_eq!(key.at(secs(1), 0).remaining, 0);
    key.denies(secs(1), 1, secs(59));
    let mut key = sliding(100, secs(60), 10);
    key.allows(0, 80);
    key.strategy = built(SlidingWindow::new(50, Duration::from_secs(60)));
    assert_eq!(key.at(secs(1), 0).remaining, 0);
    assert!(key.at(secs(1), 1).is_denied());
    assert_eq!(key.allows(secs(66), 1).remaining, 49);
}

#[test]
fn limit_raised_on_live_state_is_there_at_once() {
    let mut key = fixed(10, secs(60));
    key.allows(0, 10);
    key.strategy = built(FixedWindow::new(15, Duration::from_secs(60)));
    assert_eq!(key.allows(0, 1).remaining, 4);
}

#[test]
fn window_shorter_than_a_millisecond_slides() {
    let mut key = sliding(100, ms(5), 10);
    key.allows(0, 100);
    key.denies(ms(5), 100, 500);
    key.allows(5_500, 100);
    // A window shorter than 10 us has as many buckets as microseconds.
    let strategy = built(SlidingWindow::new(1, Duration::from_micros(3)));
    assert_eq!(strategy.bucket_count(), 3);
}

#[test]
fn clock_that_steps_back_waits_for_the_end_of_the_newest_window() {
    let mut key = fixed(1, secs(60));
    key.allows(secs(120), 1);
    key.denies(secs(61), 1, secs(119));
    let mut key = log(1, secs(60));
    key.allows(secs(120), 1);
    key.denies(secs(61), 1, secs(119));
    let mut key = sliding(1, secs(60), 60);
    key.allows(secs(120), 1);
    key.denies(secs(61), 1, secs(120));
}

#[test]
fn buckets_need_not_divide_the_window() {
    let mut key = sliding(10, secs(10), 3);
    // Slices begin at 0, 3 333 333.3 and 6 666 666.6 us.
    key.allows(3_333_333, 10);
    key.denies(secs(10), 1, 333_334);
    assert_eq!(key.state.newest, 0);
    let mut key = sliding(10, secs(10), 3);
    key.allows(3_333_334, 10);
    assert_eq!(key.state.newest, 1);
}

#[test]
fn cost_of_a_million_is_one_entry() {
    let mut key = log(2_000_000, secs(60));
    key.allows(0, 1_000_000);
    key.allows(0, 999_999);
    let entries = format!("{:?}", key.state).matches("Entry").count();
    assert_eq!(entries, 1);
    key.denies(secs(1), 1_000_000, secs(59));
}

#[test]
fn totals_of_a_log_that_never_runs_empty_may_wrap() {
    let limit = 1 << 48;
    let mut key = log(limit, 2);
    // Half the limit in each microsecond: 2^64 units after 131,072 of them.
    for at in 0..140_000 {
        assert_eq!(
            key.allows(at, limit / 2).remaining,
            if at == 0 { limit / 2 } else { 0 }
        );
        key.denies(at, limit, 2);
    }
}

#[test]
fn many_dead_entries_leave_a_few_per_write_and_never_count() {
    let mut key = log(1_000, ms(1));
    for at in 0..1_000 {
        key.allows(at, 1);
    }
    let entries = |key: &Key<SlidingWindowLog>| format!("{:?}", key.state).matches("Entry").count();
    assert_eq!(entries(&key), 1_000);
    assert_eq!(key.allows(secs(1), 1).remaining, 999);
    assert_eq!(entries(&key), 1_001 - SlidingWindowLog::PRUNED_PER_WRITE);
    key.allows(secs(1) + 1, 998);
    assert_eq!(key.at(secs(1) + 2, 0).remaining, 1);
}

#[test]
fn longer_window_counts_what_the_shorter_one_used() {
    let mut key = fixed(10, secs(10));
    key.allows(secs(119), 10);
    key.strategy = built(FixedWindow::new(10, Duration::from_secs(60)));
    key.denies(secs(119), 1, secs(1));
    key.allows(secs(120), 10);
}

#[test]
fn shorter_window_frees_a_key_that_was_used_up_under_a_long_one() {
    let mut key = fixed(10, secs(86_400));
    key.allows(secs(5), 10);
    key.strategy = built(FixedWindow::new(10, Duration::from_secs(1)));
    key.denies(ms(7_250), 1, ms(750));
    key.denies(ms(7_500), 1, ms(500));
    key.allows(secs(8), 10);
    let mut key = log(10, secs(86_400));
    key.allows(secs(5), 10);
    key.strategy = built(SlidingWindowLog::new(10, Duration::from_secs(1)));
    key.denies(ms(7_250), 1, secs(1));
    key.denies(ms(7_500), 1, ms(750));
    key.allows(ms(8_250), 10);
    let mut key = sliding(10, secs(86_400), 10);
    key.allows(secs(5), 10);
    key.strategy = built(SlidingWindow::new(10, Duration::from_secs(1)));
    key.denies(ms(7_250), 10, ms(1_050));
    key.denies(ms(7_500), 10, ms(800));
    key.allows(ms(8_300), 10);
}

#[test]
fn window_handed_back_in_full_still_stands_when_the_clock_steps_back() {
    let strategy = built(FixedWindow::new(10, Duration::from_secs(10)));
    let mut state = Default::default();
    let late = Timestamp::from_secs(25);
    let charged = strategy.decide(&mut state, late, 4);
    let mark = strategy.mark(&state, late);
    assert_eq!(strategy.give_back(&mut state, late, mark, 4), 4);
    let earlier = strategy.decide(&mut state, Timestamp::from_secs(15), 10);
    assert!(charged.allowed && earlier.allowed);
    assert_eq!(earlier.reset_at, Timestamp::from_secs(30));
    let mut key = sliding(10, secs(10), 10);
    key.allows(secs(25), 4);
    let mark = key.strategy.mark(&key.state, late);
    assert_eq!(key.strategy.give_back(&mut key.state, late, mark, 4), 4);
    assert_eq!(key.allows(secs(15), 10).reset_at.as_micros(), secs(36));
    // The second entry has pruned the first, which fills the window that the clock steps back into.
    let mut key = log(1, secs(9));
    key.allows(secs(34), 1);
    key.allows(secs(43), 1);
    let late = Timestamp::from_secs(43);
    let mark = key.strategy.mark(&key.state, late);
    assert_eq!(key.strategy.give_back(&mut key.state, late, mark, 1), 1);
    assert_eq!(key.allows(secs(39), 1).reset_at.as_micros(), secs(52));
}

#[test]
fn counts_whose_weight_takes_more_than_64_bits_are_exact() {
    const MOST: u64 = 1 << 48;
    const WINDOW: u64 = 1 << 45;
    let mut key = sliding(MOST, WINDOW, 1);
    key.allows(0, MOST - 1);
    // Half of them count in the middle of the next window, rounded up.
    let middle = WINDOW + WINDOW / 2;
    assert_eq!(key.at(middle, 0).remaining, MOST / 2);
    // For three quarters of the limit a quarter of the window has to be left.
    key.denies(middle, MOST - MOST / 4, WINDOW / 4);
    key.allows(middle + WINDOW / 4, MOST - MOST / 4);
}

#[test]
fn change_of_a_state_in_which_nothing_counts_begins_anew() {
    let mut key = sliding(5, secs(1), 10);
    let now = Timestamp::from_secs(20);
    let grant =
        tk_core::Grant::charge::<_, ()>(&key.strategy, &mut key.state, now, 3, 1, 0).unwrap();
    assert_eq!(
        grant
            .tag
            .give_back(&key.strategy, &mut key.state, now, 0, 3),
        3
    );
    let mut fresh = sliding(5, secs(1), 5);
    key.strategy = fresh.strategy;
    assert_eq!(key.allows(secs(10), 1), fresh.allows(secs(10), 1));
    assert_eq!(key.state, fresh.state);
}

#[test]
fn instant_of_a_log_that_was_handed_back_is_charged_to_but_not_waited_for() {
    let mut key = log(3, secs(9));
    key.allows(secs(36), 1);
    key.allows(secs(43), 1);
    let late = Timestamp::from_secs(43);
    let mark = key.strategy.mark(&key.state, late);
    assert_eq!(key.strategy.give_back(&mut key.state, late, mark, 1), 1);
    for cost in [0, 3] {
        assert_eq!(key.at(secs(43), cost).reset_at.as_micros(), secs(45));
    }
    // What comes from a clock that steps back is counted at the newest instant all the same.
    assert_eq!(key.allows(secs(39), 1).reset_at.as_micros(), secs(52));
}
