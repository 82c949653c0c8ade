//! Grants, and the exact rules by which units of them are taken back.

#![expect(clippy::unwrap_used, reason = "a test ends where something fails")]

use std::{fmt::Debug, time::Duration};

use tk_core::{
    Error, FixedWindow, Gcra, Grant, Mark, SlidingWindow, SlidingWindowLog, Strategy, Tag,
    Timestamp, TokenBucket,
};
use tk_testkit::{Random, Sample};

const SECOND: Duration = Duration::from_secs(1);

/// A key under one strategy, in its first life.
struct Key<S: Strategy> {
    strategy: S,
    state: S::State,
}

impl<S: Strategy> Key<S> {
    fn of(strategy: S) -> Self {
        let state = S::State::default();
        Self { strategy, state }
    }

    fn lease(&mut self, now: u64, want: u64, at_least: u64) -> Result<Grant, Error<()>> {
        let now = Timestamp::from_micros(now);
        Grant::charge(&self.strategy, &mut self.state, now, want, at_least, 1)
    }

    fn grant(&mut self, now: u64, want: u64) -> Grant {
        let grant = self.lease(now, want, 1).unwrap();
        assert_eq!(grant.amount, want);
        grant
    }

    fn give_back(&mut self, now: u64, tag: Tag, amount: u64) -> u64 {
        let now = Timestamp::from_micros(now);
        tag.give_back(&self.strategy, &mut self.state, now, 1, amount)
    }

    fn available(&self, now: u64) -> u64 {
        self.strategy
            .available(&self.state, Timestamp::from_micros(now))
    }
}

/// A grant is the lesser of what is wanted and what there is; nothing, if that is less than the least of use.
fn grants_follow_the_one_rule<S: Sample<State: PartialEq + Debug>>() {
    for seed in 0..300 {
        let random = &mut Random::new(seed);
        let mut key = Key::of(S::sample(random));
        let all = key.strategy.capacity();
        let mut now = random.up_to(1 << 50);
        for _ in 0..12 {
            now += random.up_to(1 << 30);
            let (any_want, any_least) = (random.up_to(all), random.up_to(all));
            let want = random.choose(&[0, 1, any_want, all, u64::MAX]);
            let at_least = random.choose(&[0, 1, any_least, any_least, all, all + 1]);
            let (before, available) = (key.state.clone(), key.available(now));
            let grant = key.lease(now, want, at_least);
            if at_least > all {
                assert_eq!(
                    grant,
                    Err(Error::ExceedsCapacity {
                        cost: at_least,
                        limit: all
                    })
                );
                assert_eq!(key.state, before);
                continue;
            }
            let (grant, least) = (grant.unwrap(), at_least.max(1));
            let fitting = want.max(least).min(available);
            let amount = if fitting < least { 0 } else { fitting };
            assert_eq!(
                grant.amount, amount,
                "{:?}: {want}, {at_least}",
                key.strategy
            );
            assert_eq!((grant.tag.amount(), grant.tag.incarnation()), (amount, 1));
            assert_eq!(grant.decision.allowed, amount > 0);
            assert_eq!(key.available(now), available - amount);
            if amount == 0 {
                assert_eq!(key.state, before);
                let at = Timestamp::from_micros(now) + grant.decision.retry_after;
                assert!(key.strategy.available(&key.state, at) >= least || at == Timestamp::MAX);
            }
        }
    }
}

#[test]
fn each_strategy_grants_what_is_there() {
    grants_follow_the_one_rule::<Gcra>();
    grants_follow_the_one_rule::<TokenBucket>();
    grants_follow_the_one_rule::<FixedWindow>();
    grants_follow_the_one_rule::<SlidingWindow>();
    grants_follow_the_one_rule::<SlidingWindowLog>();
}

#[test]
fn only_the_life_and_the_amount_of_a_grant_can_be_handed_back() {
    let mut key = Key::of(FixedWindow::per_second(9).unwrap());
    let tag = key.grant(5, 6).tag;
    let stale = Tag::new(2, tag.mark(), tag.amount());
    assert_eq!(
        (stale.incarnation(), stale.mark(), stale.amount()),
        (2, tag.mark(), 6)
    );
    assert_eq!(key.give_back(5, stale, 6), 0);
    assert_eq!(key.give_back(5, tag, 0), 0);
    assert_eq!(key.available(5), 3);
    assert_eq!(key.give_back(5, tag, u64::MAX), 6);
    assert_eq!(key.available(5), 9);
}

#[test]
fn gcra_takes_back_only_from_the_last_grant_while_it_is_owed() {
    let mut key = Key::of(Gcra::per_second(10).unwrap());
    let first = key.grant(0, 4).tag;
    let second = key.grant(0, 3).tag;
    assert_eq!(key.give_back(0, first, 4), 0, "something was charged since");
    assert_eq!(key.give_back(0, second, 2), 2);
    assert_eq!(key.available(0), 5);
    assert_eq!(
        key.give_back(0, second, 1),
        0,
        "something was returned since"
    );
    let third = key.grant(0, 2).tag;
    // All is replenished after 700 ms, to the microsecond.
    let mut late = Key {
        strategy: key.strategy,
        state: key.state,
    };
    assert_eq!(late.give_back(700_000, third, 2), 0);
    assert_eq!(key.give_back(699_999, third, 2), 2);
    assert_eq!(key.available(0), 5);
}

#[test]
fn gcra_takes_back_fractions_of_a_microsecond_exactly() {
    let mut key = Key::of(Gcra::per_second(3).unwrap().burst(7).unwrap());
    let tag = key.grant(10, 7).tag;
    assert_eq!(key.give_back(10, tag, 5), 5);
    let mut twin = Key::of(key.strategy);
    let _ = twin.grant(10, 2);
    assert_eq!(key.state, twin.state);
}

#[test]
fn grants_within_one_microsecond_are_told_apart() {
    let mut key = Key::of(Gcra::new(3, Duration::from_micros(1)).unwrap());
    let first = key.grant(10, 1).tag;
    let second = key.grant(10, 1).tag;
    assert_eq!(key.give_back(10, first, 1), 0);
    assert_eq!(key.give_back(10, second, 1), 1);
}

#[test]
fn marks_tell_apart_every_fraction_of_a_microsecond() {
    let fine = Gcra::new(1 << 48, Duration::from_micros(1)).unwrap();
    let mark = |units: u64| Key::of(fine).grant(0, units).tag.mark().0;
    let mut marks: Vec<_> = (0..48).map(|bit| mark(1 << bit)).collect();
    marks.sort_unstable();
    marks.dedup();
    assert_eq!(marks.len(), 48);
}

#[test]
fn equal_arrival_times_under_two_rates_are_told_apart() {
    let per_second = |limit| Gcra::per_second(limit).unwrap();
    told_apart((per_second(10), 2), (per_second(20), 4));
    let per_microsecond = |limit| Gcra::new(limit, Duration::from_micros(1)).unwrap();
    told_apart((per_microsecond(1), 1), (per_microsecond(8), 8));
}

/// Grants under two rates that end in the same arrival time.
#[track_caller]
fn told_apart((slow, few): (Gcra, u64), (fast, many): (Gcra, u64)) {
    let (mut slow, mut fast) = (Key::of(slow), Key::of(fast));
    let (of_slow, of_fast) = (slow.grant(0, few).tag, fast.grant(0, many).tag);
    assert_eq!(slow.state.micros, fast.state.micros);
    assert_eq!(
        (slow.give_back(0, of_fast, 1), fast.give_back(0, of_slow, 1)),
        (0, 0)
    );
    assert_eq!(
        (slow.give_back(0, of_slow, 1), fast.give_back(0, of_fast, 1)),
        (1, 1)
    );
}

#[test]
fn rate_changed_since_the_grant_takes_nothing_back() {
    let mut key = Key::of(Gcra::per_second(10).unwrap());
    let tag = key.grant(0, 4).tag;
    key.strategy = Gcra::per_second(20).unwrap();
    assert_eq!(key.give_back(0, tag, 4), 0);
    key.strategy = Gcra::per_second(10).unwrap().burst(50).unwrap();
    assert_eq!(
        key.give_back(0, tag, 4),
        4,
        "a changed burst alone changes no rate"
    );
}

#[test]
fn fixed_window_takes_back_until_its_end_and_not_at_it() {
    let mut key = Key::of(FixedWindow::per_second(9).unwrap());
    let (first, second) = (key.grant(0, 4).tag, key.grant(999_999, 4).tag);
    assert_eq!(key.give_back(999_999, first, 4), 4);
    assert_eq!(key.give_back(1_000_000, second, 4), 0);
    let _ = key.grant(1_000_000, 2);
    assert_eq!(
        key.give_back(1_000_000, second, 4),
        0,
        "it names another window"
    );
    assert_eq!(key.available(1_000_000), 7);
}

#[test]
fn fixed_window_of_another_length_takes_nothing_back() {
    let mut key = Key::of(FixedWindow::per_second(9).unwrap());
    let tag = key.grant(0, 4).tag;
    key.strategy = FixedWindow::per_minute(9).unwrap();
    assert_eq!(key.give_back(0, tag, 4), 0);
    let _ = key.grant(0, 1);
    assert_eq!(key.give_back(0, tag, 4), 0);
    key.strategy = FixedWindow::new(20, SECOND).unwrap();
    assert_eq!(key.give_back(0, tag, 4), 0);
}

#[test]
fn sliding_window_takes_back_while_the_slice_still_weighs_anything() {
    let mut key = Key::of(SlidingWindow::per_second(9).unwrap());
    let (first, second) = (key.grant(0, 3).tag, key.grant(150_000, 4).tag);
    assert_eq!(
        key.give_back(1_000_000, first, 2),
        2,
        "the oldest slice is weighted, and lives"
    );
    assert_eq!(key.available(150_000), 4);
    assert_eq!(key.give_back(1_200_000, second, 4), 0, "its slice has left");
    assert_eq!(key.give_back(1_199_999, second, 3), 3);
    assert_eq!(key.state.counts.iter().sum::<u64>(), 2);
}

#[test]
fn sliding_window_takes_back_from_the_slice_of_the_grant_alone() {
    let mut key = Key::of(SlidingWindow::per_second(9).unwrap());
    let tag = key.grant(0, 2).tag;
    let _ = key.grant(100_000, 5);
    let _ = key.give_back(100_000, tag, 2);
    assert_eq!((key.state.counts[0], key.state.counts[1]), (0, 5));
    let of_no_slice = Tag::new(1, Mark(tag.mark().0 + (7 << 64)), 2);
    assert_eq!(key.give_back(100_000, of_no_slice, 2), 0);
    key.strategy = SlidingWindow::per_second(9).unwrap().buckets(5).unwrap();
    assert_eq!(key.give_back(100_000, tag, 2), 0);
}

#[test]
fn sliding_window_of_another_scale_takes_nothing_back() {
    let tens = SlidingWindow::per_second(9).unwrap();
    let fifths = tens.buckets(5).unwrap();
    let (mut key, mut other) = (Key::of(tens), Key::of(fifths));
    let (of_tens, of_fifths) = (key.grant(0, 2).tag, other.grant(0, 2).tag);
    key.strategy = fifths;
    assert_eq!(key.give_back(0, of_fifths, 2), 0, "the state is in tenths");
    let _ = key.grant(0, 1);
    assert_eq!(key.give_back(0, of_tens, 2), 0, "the state is in fifths");
    assert_eq!(key.available(0), 6);
    key.strategy = SlidingWindow::new(9, SECOND + Duration::from_micros(1)).unwrap();
    let _ = key.grant(0, 1);
    assert_eq!(key.give_back(0, of_tens, 2), 0, "the window is another");
}

#[test]
fn log_takes_back_until_the_entry_has_left_and_not_at_that_instant() {
    let mut key = Key::of(SlidingWindowLog::per_second(9).unwrap());
    let (first, second) = (key.grant(0, 3).tag, key.grant(10, 4).tag);
    assert_eq!(key.give_back(999_999, first, 2), 2);
    assert_eq!(key.available(10), 4);
    assert_eq!(key.give_back(1_000_010, second, 1), 0);
    assert_eq!(key.give_back(1_000_009, second, 3), 3);
    assert_eq!(key.available(10), 7);
    assert_eq!(
        key.give_back(10, Tag::new(1, Mark(5 << 64 | 1_000_000), 3), 3),
        0,
        "no such entry"
    );
}

#[test]
fn log_takes_back_from_the_newest_entries_only() {
    let reach = SlidingWindowLog::GIVE_BACK_REACH as u64;
    let mut key = Key::of(SlidingWindowLog::per_second(1_000).unwrap());
    let (first, second) = (key.grant(0, 3).tag, key.grant(1, 3).tag);
    for at in 2..=reach {
        let _ = key.grant(at, 1);
    }
    assert_eq!(
        key.give_back(reach, first, 3),
        0,
        "{reach} later instants were stored"
    );
    assert_eq!(key.give_back(reach, second, 3), 3);
    // Later totals are lowered too: nothing else is lost.
    assert_eq!(key.available(reach), 1_000 - 3 - (reach - 1));
}

#[test]
fn log_of_another_window_takes_nothing_back() {
    let mut key = Key::of(SlidingWindowLog::per_second(9).unwrap());
    let tag = key.grant(7, 4).tag;
    key.strategy = SlidingWindowLog::per_minute(9).unwrap();
    assert_eq!(key.give_back(7, tag, 4), 0);
    let _ = key.grant(7, 1);
    assert_eq!(key.give_back(7, tag, 4), 0);
}

#[test]
fn grants_last_as_long_as_their_units_count() {
    let span = |micros| Duration::from_micros(micros);
    assert_eq!(
        Key::of(Gcra::per_second(10).unwrap()).grant(5, 3).span,
        span(300_000)
    );
    assert_eq!(
        Key::of(FixedWindow::per_second(10).unwrap())
            .grant(400_000, 3)
            .span,
        span(600_000)
    );
    // Until the slice that began at 400 ms has left.
    let sliding = SlidingWindow::per_second(10).unwrap();
    assert_eq!(Key::of(sliding).grant(450_000, 3).span, span(1_050_000));
    assert_eq!(
        Key::of(SlidingWindowLog::per_second(10).unwrap())
            .grant(7, 3)
            .span,
        SECOND
    );
}

#[test]
fn edges_are_those_of_windows() {
    assert!(!Gcra::per_second(1).unwrap().has_edges());
    assert!(!TokenBucket::new(1, 1, SECOND).unwrap().has_edges());
    assert!(FixedWindow::per_second(1).unwrap().has_edges());
    assert!(SlidingWindow::per_second(1).unwrap().has_edges());
    assert!(SlidingWindowLog::per_second(1).unwrap().has_edges());
}
