//! Instants saturate at both ends and are whole microseconds.

use std::time::Duration;

use tk_core::{Monotonic, Timestamp};

#[test]
fn instants_count_from_the_epoch_to_the_last_that_counts() {
    assert_eq!(Timestamp::from_secs(3), Timestamp::from_millis(3_000));
    assert_eq!(Timestamp::from_millis(3), Timestamp::from_micros(3_000));
    assert_eq!(Timestamp::MAX.as_micros(), (1 << 52) - 1);
    for beyond in [
        Timestamp::from_micros(1 << 52),
        Timestamp::from_secs(u64::MAX),
    ] {
        assert_eq!(beyond, Timestamp::MAX);
    }
    assert_eq!(Timestamp::from_millis(u64::MAX), Timestamp::MAX);
    assert_eq!(Timestamp::from_micros((1 << 52) - 1), Timestamp::MAX);
    assert_eq!(Timestamp::default(), Timestamp::EPOCH);
    assert_eq!(u64::from(Timestamp::from(7)), 7);
}

#[test]
fn sums_and_differences_saturate() {
    let (second, two) = (Timestamp::from_secs(1), Timestamp::from_secs(2));
    let passed = Duration::from_secs(1);
    assert_eq!((second + passed, two - passed), (two, second));
    assert_eq!(
        (two.since(second), second.since(two)),
        (passed, Duration::ZERO)
    );
    assert_eq!(
        (two + Duration::MAX, two - Duration::MAX),
        (Timestamp::MAX, Timestamp::EPOCH)
    );
    // Less than a microsecond is no time.
    assert_eq!(two + Duration::from_nanos(999), two);
    assert_eq!(
        two + Duration::from_nanos(1_000),
        Timestamp::from_micros(2_000_001)
    );
    assert_eq!(
        two + Duration::new(1, 5_000),
        Timestamp::from_micros(3_000_005)
    );
}

#[test]
fn monotonic_instants_do_so_too() {
    let at = Monotonic::from_micros;
    assert_eq!(at(5) + Duration::from_micros(3), at(8));
    assert_eq!(at(5) - Duration::from_micros(3), at(2));
    assert_eq!(at(5) - Duration::from_secs(3), Monotonic::ORIGIN);
    assert_eq!(at(5) + Duration::MAX, at(u64::MAX));
    assert_eq!(at(5).since(at(2)), Duration::from_micros(3));
    assert_eq!(at(2).since(at(5)), Duration::ZERO);
    assert_eq!(at(2).as_micros(), 2);
}

#[test]
fn instants_are_shown_in_seconds() {
    assert_eq!(Timestamp::from_micros(12_000_034).to_string(), "12.000034");
}
