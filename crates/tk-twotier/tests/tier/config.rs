//! Settings out of range are refused by name.

use std::time::Duration;

use tk_twotier::{DenyCache, FailurePolicy, Lease, LeaseSpender, Mode, SizerOptions, TwoTier};

use super::{l2::L2, node::per_second};

fn refused(mode: Mode) -> String {
    TwoTier::builder(per_second(100), L2::new())
        .mode(mode)
        .build()
        .expect_err("out of range")
        .to_string()
}

#[test]
fn a_batch_is_within_one_and_the_capacity() {
    for batch in [0, 101] {
        assert_eq!(
            refused(Mode::Leased(Lease::batch(batch))),
            format!("`batch` is {batch}; allowed is 1 to 100")
        );
    }
}

#[test]
fn a_low_water_mark_is_below_the_batch() {
    assert_eq!(
        refused(Mode::Leased(Lease::batch(10).low_water(10))),
        "`low_water` is 10; allowed is 0 to 9"
    );
}

#[test]
fn times_are_not_zero() {
    let lease = Lease::batch(10).return_idle_after(Duration::ZERO);
    assert_eq!(
        refused(Mode::Leased(lease)),
        "`return_idle_after` is 0ns; allowed is 1µs to 35184372.088832s"
    );
    assert_eq!(
        refused(Mode::CachedDeny(DenyCache::max_age(Duration::ZERO))),
        "`max_age` is 0ns; allowed is 1µs to 35184372.088832s"
    );
}

#[test]
fn times_are_whole_microseconds() {
    let time = Duration::from_nanos(1_500);
    let lease = Lease::batch(10).return_idle_after(time);
    assert_eq!(
        refused(Mode::Leased(lease)),
        "`return_idle_after` is 1.5µs; allowed are whole microseconds, 1µs to 35184372.088832s"
    );
    assert_eq!(
        refused(Mode::CachedDeny(DenyCache::max_age(time))),
        "`max_age` is 1.5µs; allowed are whole microseconds, 1µs to 35184372.088832s"
    );
    let lease = Lease::batch(10).cached_denials(DenyCache::max_age(time));
    assert!(refused(Mode::Leased(lease)).starts_with("`max_age` is 1.5µs"));
    let builder = TwoTier::builder(per_second(100), L2::new());
    let policy = FailurePolicy::Deny { retry_after: time };
    let error = builder
        .on_failure(policy)
        .build()
        .expect_err("out of range");
    assert!(error.to_string().starts_with("`retry_after` is 1.5µs"));
    let error = LeaseSpender::new(100, time).expect_err("out of range");
    assert!(error.to_string().starts_with("`ttl` is 1.5µs"));
}

#[test]
fn the_margin_for_drift_is_at_most_half() {
    assert_eq!(
        refused(Mode::Leased(Lease::batch(10).drift_ppm(600_000))),
        "`drift_ppm` is 600000; allowed is 0 to 500000"
    );
}

#[test]
fn options_of_a_sizer_are_checked() {
    let options = SizerOptions::new(-1.0, 1.0);
    assert!(refused(Mode::Leased(Lease::adaptive(options))).starts_with("`order_cost` is -1"));
}

#[test]
fn there_is_room_for_a_key_and_a_prefix_is_a_name() {
    let build = || TwoTier::builder(per_second(100), L2::new());
    let error = build().max_keys(0).build().expect_err("no room");
    assert_eq!(
        error.to_string(),
        "`max_keys` is 0; allowed is 1 to 4294967295"
    );
    let error = build().prefix("a\nb").build().expect_err("a line break");
    assert!(
        error
            .to_string()
            .starts_with("`prefix` holds the control character")
    );
}

#[test]
fn a_share_is_a_part_and_a_denial_has_a_time() {
    let build = |policy| {
        let builder = TwoTier::builder(per_second(100), L2::new());
        let error = builder
            .on_failure(policy)
            .build()
            .expect_err("out of range");
        error.to_string()
    };
    let share = |share| build(FailurePolicy::LocalShare { share });
    assert_eq!(share((2, 1)), "`share.0` is 2; allowed is 1 to 1");
    assert_eq!(share((0, 1)), "`share.0` is 0; allowed is 1 to 1");
    assert!(share((1, 0)).starts_with("`share.1` is 0"));
    let retry_after = Duration::ZERO;
    assert!(build(FailurePolicy::Deny { retry_after }).starts_with("`retry_after` is 0"));
}
