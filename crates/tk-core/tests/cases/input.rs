//! What is refused before anything is decided, with the field, the value and the range.

use std::time::Duration;

use tk_core::{
    ConfigError, FixedWindow, Gcra, NameError, Range, Real, SlidingWindow, SlidingWindowLog,
    TokenBucket,
};

use crate::Key;

const SECOND: Duration = Duration::from_secs(1);
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
    let micros = Duration::from_micros;
    ranges("period", LONGEST, |period| Gcra::new(1, micros(period)));
    ranges("period", LONGEST, |period| {
        TokenBucket::new(1, 1, micros(period))
    });
    ranges("window", LONGEST, |window| {
        FixedWindow::new(1, micros(window))
    });
    ranges("window", LONGEST, |window| {
        SlidingWindow::new(1, micros(window))
    });
    ranges("window", LONGEST, |window| {
        SlidingWindowLog::new(1, micros(window))
    });
}

#[test]
fn endless_period_is_named_in_microseconds() {
    let endless = Duration::from_secs(u64::MAX);
    out_of_range(
        FixedWindow::new(1, endless),
        ("window", endless.as_micros(), 1, LONGEST),
    );
}

#[test]
fn part_of_a_microsecond_is_refused_rather_than_cut_off() {
    for nanos in [1, 999, 1_001, 1_000_000_001] {
        let value = Duration::from_nanos(nanos);
        assert_eq!(
            Gcra::new(1, value),
            Err(ConfigError::SubMicrosecond {
                field: "period",
                value
            })
        );
        assert_eq!(
            FixedWindow::new(1, value),
            Err(ConfigError::SubMicrosecond {
                field: "window",
                value
            })
        );
    }
}

#[test]
fn burst_must_replenish_within_2_to_the_52_microseconds() {
    let (field, most) = ("time in which the capacity replenishes", 1 << 52);
    let gcra = Gcra::new(1, Duration::from_micros(LONGEST)).unwrap();
    gcra.burst(1 << 7).unwrap();
    out_of_range(
        gcra.burst((1 << 7) + 1),
        (field, (1 << 52) + (1 << 45), 1, most),
    );
    let bucket = TokenBucket::new(MOST_UNITS, 1, SECOND);
    out_of_range(bucket, (field, 1_000_000 << 48, 1, most));
    // A third of a microsecond too long counts as a whole one.
    let thirds = TokenBucket::new((3 << 52) + 1, 3, Duration::from_micros(1));
    assert!(thirds.is_err());
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
fn errors_name_the_field_the_value_and_the_range() {
    let error = Gcra::new(0, SECOND).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`limit` is 0; allowed is 1 to 281474976710656"
    );
    let error = FixedWindow::new(1, Duration::from_nanos(1_500)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`window` is 1.5µs; allowed are whole microseconds"
    );
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
