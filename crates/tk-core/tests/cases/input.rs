//! What is refused before anything is decided, with the field, the value and the range.

use std::time::Duration;

use tk_core::{
    ConfigError, Error, FixedWindow, Gcra, NameError, Range, Real, SlidingWindow, SlidingWindowLog,
    TokenBucket,
};

use crate::Key;

const SECOND: Duration = Duration::from_secs(1);
const MICROSECOND: Duration = Duration::from_micros(1);
const MOST_UNITS: u64 = 1 << 48;
const LONGEST: u64 = 1 << 45;

#[track_caller]
fn out_of_range<S: std::fmt::Debug>(
    built: Result<S, ConfigError>,
    expected: (&str, u128, u64, u64),
) {
    let Err(ConfigError::OutOfRange {
        field,
        value,
        min,
        max,
    }) = built
    else {
        panic!("{built:?}");
    };
    assert_eq!((field, value, min, max), expected);
}

/// A time that is none and one that is a microsecond too long are refused, both ends of the range are not.
#[track_caller]
fn spans<S: std::fmt::Debug>(
    field: &'static str,
    build: impl Fn(Duration) -> Result<S, ConfigError>,
) {
    let (min, max) = (MICROSECOND, Duration::from_micros(LONGEST));
    for value in [
        Duration::ZERO,
        max + MICROSECOND,
        Duration::from_secs(u64::MAX),
    ] {
        let refused = ConfigError::DurationOutOfRange {
            field,
            value,
            min,
            max,
        };
        assert_eq!(build(value).unwrap_err(), refused);
    }
    for inside in [min, max] {
        build(inside).unwrap();
    }
}

/// Zero and one too many are refused, both ends of the range are not.
#[track_caller]
fn ranges<S: std::fmt::Debug>(
    field: &str,
    max: u64,
    build: impl Fn(u64) -> Result<S, ConfigError>,
) {
    out_of_range(build(0), (field, 0, 1, max));
    out_of_range(build(max + 1), (field, u128::from(max) + 1, 1, max));
    for inside in [1, max] {
        build(inside).unwrap();
    }
}

#[test]
fn units_are_within_1_and_2_to_the_48() {
    ranges("limit", MOST_UNITS, |limit| Gcra::new(limit, SECOND));
    ranges("burst", MOST_UNITS, |burst| {
        Gcra::new(MOST_UNITS, SECOND)?.burst(burst)
    });
    ranges("capacity", MOST_UNITS, |capacity| {
        TokenBucket::new(capacity, MOST_UNITS, SECOND)
    });
    ranges("refill", MOST_UNITS, |refill| {
        TokenBucket::new(1, refill, SECOND)
    });
    ranges("limit", MOST_UNITS, |limit| FixedWindow::new(limit, SECOND));
    ranges("limit", MOST_UNITS, |limit| {
        SlidingWindow::new(limit, SECOND)
    });
    ranges("limit", MOST_UNITS, |limit| {
        SlidingWindowLog::new(limit, SECOND)
    });
}

#[test]
fn periods_are_within_1_and_2_to_the_45_microseconds() {
    spans("period", |period| Gcra::new(1, period));
    spans("period", |period| TokenBucket::new(1, 1, period));
    spans("window", |window| FixedWindow::new(1, window));
    spans("window", |window| SlidingWindow::new(1, window));
    spans("window", |window| SlidingWindowLog::new(1, window));
    spans("ttl", |ttl| Range::period("ttl", ttl));
}

#[test]
fn part_of_a_microsecond_is_refused_rather_than_cut_off() {
    for nanos in [1, 999, 1_001, 1_000_000_001] {
        let value = Duration::from_nanos(nanos);
        let refused = |field| ConfigError::SubMicrosecond {
            field,
            value,
            min: MICROSECOND,
            max: Duration::from_micros(LONGEST),
        };
        assert_eq!(Gcra::new(1, value).unwrap_err(), refused("period"));
        assert_eq!(FixedWindow::new(1, value).unwrap_err(), refused("window"));
    }
}

#[test]
fn burst_must_replenish_within_2_to_the_52_microseconds() {
    let gcra = Gcra::new(1, Duration::from_micros(LONGEST)).unwrap();
    ranges("burst", 1 << 7, |burst| gcra.burst(burst));
    let most = (1 << 52) / 1_000_000;
    ranges("capacity", most, |capacity| {
        TokenBucket::new(capacity, 1, SECOND)
    });
    // A third of a microsecond too long is too long.
    let most = 3 * (1 << 52) / 100_000;
    ranges("capacity", most, |capacity| {
        TokenBucket::new(capacity, 3, Duration::from_millis(100))
    });
}

#[test]
fn cost_above_the_capacity_changes_no_fresh_state() {
    Key::of(Gcra::per_second(3)).never(4);
    Key::of(TokenBucket::new(3, 1, SECOND)).never(4);
    Key::of(FixedWindow::per_second(3)).never(4);
    Key::of(SlidingWindow::per_second(3)).never(4);
    Key::of(SlidingWindowLog::per_second(3)).never(4);
}

#[test]
fn burst_replaces_the_default_and_an_earlier_burst() {
    let gcra = Gcra::per_second(10)
        .unwrap()
        .burst(3)
        .unwrap()
        .burst(7)
        .unwrap();
    assert_eq!(tk_core::Strategy::capacity(&gcra), 7);
    assert_eq!((gcra.limit(), gcra.period()), (10, SECOND));
}

#[test]
fn buckets_are_within_1_and_1024_and_no_finer_than_the_microsecond() {
    let window = |micros| SlidingWindow::new(1, Duration::from_micros(micros)).unwrap();
    ranges("buckets", 1_024, |buckets| {
        window(1_000_000).buckets(buckets)
    });
    ranges("buckets", 100, |buckets| window(100).buckets(buckets));
    ranges("buckets", 1, |buckets| window(1).buckets(buckets));
    // window * buckets stays below 2^53.
    ranges("buckets", 255, |buckets| window(LONGEST).buckets(buckets));
    ranges("buckets", 511, |buckets| window(1 << 44).buckets(buckets));
    ranges("buckets", 1_023, |buckets| window(1 << 43).buckets(buckets));
    ranges("buckets", 1_024, |buckets| {
        window((1 << 43) - 1).buckets(buckets)
    });
}

#[test]
fn constructors_for_the_usual_periods_mean_what_they_say() {
    let periods = [1, 60, 3_600, 86_400].map(Duration::from_secs);
    macro_rules! mean {
        ($strategy:ident) => {
            let build = [
                $strategy::per_second(7),
                $strategy::per_minute(7),
                $strategy::per_hour(7),
                $strategy::per_day(7),
            ];
            assert_eq!(build, periods.map(|period| $strategy::new(7, period)));
            assert!($strategy::per_second(0).is_err());
        };
    }
    mean!(Gcra);
    mean!(FixedWindow);
    mean!(SlidingWindow);
    mean!(SlidingWindowLog);
}

#[test]
fn strategy_can_be_a_constant() {
    const LIMIT: Result<Gcra, ConfigError> = Gcra::per_minute(100);
    const WINDOW: Result<SlidingWindow, ConfigError> = SlidingWindow::per_hour(9);
    assert_eq!(LIMIT.unwrap().limit(), 100);
    assert_eq!(WINDOW.unwrap().limit(), 9);
}

#[test]
fn strategies_tell_what_they_were_built_with() {
    let bucket = TokenBucket::new(5, 20, SECOND).unwrap();
    assert_eq!((bucket.refill(), bucket.period()), (20, SECOND));
    let emission = bucket.emission();
    assert_eq!((emission.numerator, emission.denominator), (50_000, 1));
    let thirds = Gcra::per_second(3).unwrap().emission();
    assert_eq!((thirds.numerator, thirds.denominator), (1_000_000, 3));
    let sliding = SlidingWindow::per_second(4).unwrap().buckets(7).unwrap();
    assert_eq!(
        (sliding.limit(), sliding.window(), sliding.bucket_count()),
        (4, SECOND, 7)
    );
    let log = SlidingWindowLog::per_second(4).unwrap();
    assert_eq!((log.limit(), log.window()), (4, SECOND));
    let fixed = FixedWindow::per_second(4).unwrap();
    assert_eq!((fixed.limit(), fixed.window()), (4, SECOND));
}

#[test]
fn errors_of_bad_input_name_the_field_the_value_and_what_is_allowed() {
    let long = "x".repeat(129);
    let sliding = SlidingWindow::new(1, MICROSECOND * 7).unwrap();
    let year = Duration::from_secs(365 * 86_400);
    let lag = Duration::from_secs(u64::MAX);
    for (error, message) in [
        (
            Gcra::new(0, SECOND).unwrap_err(),
            "`limit` is 0; allowed is 1 to 281474976710656",
        ),
        (
            Gcra::new(1, year).unwrap().burst(143).unwrap_err(),
            "`burst` is 143; allowed is 1 to 142",
        ),
        (
            TokenBucket::new(143, 1, year).unwrap_err(),
            "`capacity` is 143; allowed is 1 to 142",
        ),
        (
            sliding.buckets(8).unwrap_err(),
            "`buckets` is 8; allowed is 1 to 7",
        ),
        (
            Gcra::new(1, Duration::ZERO).unwrap_err(),
            "`period` is 0ns; allowed is 1µs to 35184372.088832s",
        ),
        (
            FixedWindow::new(1, year * 2).unwrap_err(),
            "`window` is 63072000s; allowed is 1µs to 35184372.088832s",
        ),
        (
            FixedWindow::new(1, Duration::from_nanos(1_500)).unwrap_err(),
            "`window` is 1.5µs; allowed are whole microseconds, 1µs to 35184372.088832s",
        ),
        (
            Range::micros("idle_after", SECOND * 3, 2_500_000).unwrap_err(),
            "`idle_after` is 3s; allowed is 1µs to 2.5s",
        ),
        (
            Range::duration("deadline", MICROSECOND * 10, SECOND / 4, SECOND).unwrap_err(),
            "`deadline` is 10µs; allowed is 250ms to 1s",
        ),
        (
            Range::lag(lag).unwrap_err(),
            "`clock.lag` is 18446744073709551615s; allowed is 0ns to 35184372.088832s",
        ),
        (
            Range::real("weight", f64::NAN, 1e-9, 8.0).unwrap_err(),
            "`weight` is NaN; allowed is 1e-9 to 8.0",
        ),
        (
            Range::name("policy", "").unwrap_err(),
            "`policy` is empty; allowed are 1 to 128 bytes without control characters",
        ),
        (
            Range::name("policy", &long).unwrap_err(),
            "`policy` is 129 bytes long; allowed are 1 to 128 bytes without control characters",
        ),
        (
            Range::name("policy", "a\nb").unwrap_err(),
            "`policy` holds the control character '\\n'; allowed are 1 to 128 bytes without control characters",
        ),
    ] {
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn errors_of_a_call_say_what_is_allowed() {
    let error: Error = Error::EmptyKey;
    assert_eq!(
        error.to_string(),
        "the key is empty; allowed is any key with at least one byte or number"
    );
    let error: Error = Error::ExceedsCapacity { cost: 3, limit: 2 };
    assert_eq!(
        error.to_string(),
        "cost 3 can never be admitted: the capacity is 2"
    );
}

#[test]
fn a_clocks_lag_is_rounded_up_and_bounded() {
    let longest = Duration::from_micros(LONGEST);
    assert_eq!(Range::lag(Duration::ZERO), Ok(0));
    assert_eq!(Range::lag(Duration::from_nanos(1)), Ok(1));
    assert_eq!(Range::lag(longest), Ok(LONGEST));
    assert!(Range::lag(longest + Duration::from_nanos(1)).is_err());
}

#[test]
fn real_number_is_within_its_range_both_ends_included_and_is_a_number() {
    let real = |value| Range::real("weight", value, 0.25, 8.0);
    for inside in [0.25, 0.5, 8.0] {
        assert_eq!(real(inside), Ok(inside));
    }
    for outside in [0.0, -1.0, 0.2, 8.1, f64::INFINITY, f64::NAN] {
        let (min, max) = (Real::new(0.25), Real::new(8.0));
        let error = ConfigError::RealOutOfRange {
            field: "weight",
            value: Real::new(outside),
            min,
            max,
        };
        assert_eq!(real(outside), Err(error));
        assert_eq!((min.get(), max.get()), (0.25, 8.0));
        assert_eq!(
            error.to_string(),
            format!("`weight` is {outside:?}; allowed is 0.25 to 8.0")
        );
    }
}

#[test]
fn name_with_a_control_character_is_refused() {
    let refused = |name: &str| match Range::name("policy", name) {
        Err(ConfigError::Name {
            field: "policy",
            reason,
        }) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(""), NameError::Empty);
    assert_eq!(refused("a\"\r\nX: y"), NameError::Control('\r'));
    assert_eq!(refused("nul\0"), NameError::Control('\0'));
    assert_eq!(refused("next\u{85}line"), NameError::Control('\u{85}'));
    assert_eq!(refused(&"x".repeat(129)), NameError::TooLong(129));
    assert_eq!(Range::name("policy", &"x".repeat(128)).unwrap().len(), 128);
    assert_eq!(
        Range::name("policy", "per user, größer").unwrap(),
        "per user, größer"
    );
}
