//! What a caller of a leased limit sees.

use tk_core::{Error, Gcra, Timestamp};
use tk_twotier::{Lease, Local, Mode};

use super::{
    l2::{L2, START},
    node::{Node, carried, coupled, millis, pass, per_second, settle},
};

#[tokio::test]
async fn one_lease_serves_a_batch() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(100), coupled(10));
    assert_eq!(node.hammer(10).await, 10);
    assert_eq!(l2.log().leases, [(10, 1)]);
    assert_eq!(node.hammer(1).await, 1);
    assert_eq!(l2.log().leases.len(), 2);
}

#[tokio::test]
async fn the_fifth_of_a_limit_of_five_is_admitted_with_a_batch_of_two() {
    for mode in [carried(2), coupled(2)] {
        let l2 = L2::new();
        let node = Node::new(&l2, per_second(5), mode);
        assert_eq!(node.hammer(12).await, 5);
    }
}

#[tokio::test]
async fn a_hit_is_decided_at_once_and_tells_what_is_left() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(100), coupled(10));
    assert_eq!(node.tier.try_check("key"), Ok(Local::NeedsL2));
    assert!(node.admits(1).await);
    let Ok(Local::Decided(decision)) = node.tier.try_check("key") else {
        panic!("nine are left");
    };
    assert_eq!((decision.limit, decision.remaining), (100, 8));
    // The window's end, less the margin for drift.
    assert_eq!(
        decision.reset_at,
        Timestamp::from_micros(START.as_micros() + 998_999)
    );
}

#[tokio::test]
async fn a_check_is_a_few_words_and_charges_nothing_until_it_is_polled() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(100), coupled(10));
    assert!(node.admits(1).await);
    let check = node.tier.check("key");
    // What asks the store is boxed, or each hit would reserve room for it.
    assert!(size_of_val(&check) <= 128, "{}", size_of_val(&check));
    drop(check);
    let next = node.tier.check("key").await;
    assert_eq!(next.expect("it answers").remaining, 8);
}

#[tokio::test]
#[should_panic(expected = "polled after it was ready")]
async fn a_check_that_is_ready_does_not_charge_again() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(100), coupled(10));
    let mut check = std::pin::pin!(node.tier.check("key"));
    assert!(check.as_mut().await.expect("it answers").allowed);
    let _ = check.await;
}

#[tokio::test]
async fn a_denial_is_passed_on_as_it_is() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(10), coupled(10));
    assert_eq!(node.hammer(10).await, 10);
    pass(&l2, std::slice::from_ref(&node), millis(300));
    let decision = node.tier.check("key").await.expect("it answers");
    assert!(decision.is_denied());
    assert_eq!(decision.retry_after, millis(700));
    assert_eq!(decision.reset_at, Timestamp::from_secs(60_001));
}

#[tokio::test]
async fn a_cost_above_the_capacity_is_refused_before_anybody_is_asked() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(10), coupled(5));
    assert!(matches!(
        node.tier.check_n("key", 11).await,
        Err(Error::ExceedsCapacity {
            cost: 11,
            limit: 10
        })
    ));
    assert!(matches!(
        node.tier.try_check_n("key", 11),
        Err(Error::ExceedsCapacity {
            cost: 11,
            limit: 10
        })
    ));
    assert!(matches!(node.tier.check("").await, Err(Error::EmptyKey)));
    assert_eq!(node.tier.stats().l2_calls, 0);
}

#[tokio::test]
async fn a_dearer_cost_leases_its_cost() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(100), coupled(10));
    assert!(node.admits(25).await);
    assert!(node.admits(7).await);
    assert!(node.admits(8).await);
    assert_eq!(l2.log().leases, [(25, 25), (10, 7), (7, 5)]);
}

#[tokio::test]
async fn cost_zero_is_allowed_and_charges_nothing() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(100), coupled(10));
    assert!(node.admits(0).await);
    assert_eq!(l2.available(&per_second(100), "key"), 100);
}

#[tokio::test]
async fn a_lower_limit_clamps_the_batch() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(100), coupled(50));
    node.tier.set_strategy(per_second(7));
    assert_eq!(node.hammer(10).await, 7);
    assert_eq!(l2.log().leases[0], (7, 1));
}

#[tokio::test]
async fn low_water_hides_the_round_trip() {
    let l2 = L2::new();
    let lease = Lease::batch(10).low_water(3).window_coupled(true);
    let node = Node::new(&l2, per_second(1_000), Mode::Leased(lease));
    assert!(node.admits(1).await);
    let mut waited = 0;
    for _ in 0..200 {
        waited += u64::from(!node.hits());
        settle().await;
    }
    assert_eq!(waited, 0);
    let stats = node.tier.stats();
    assert!((20..=22).contains(&stats.leases), "{stats:?}");
    assert_eq!(stats.refills, stats.leases - 1);
}

#[tokio::test]
async fn a_refill_that_is_denied_is_not_tried_without_end() {
    let l2 = L2::new();
    let lease = Lease::batch(10).low_water(5).window_coupled(true);
    let node = Node::new(&l2, per_second(10), Mode::Leased(lease));
    assert_eq!(node.hammer(6).await, 6);
    settle().await;
    settle().await;
    assert!(l2.log().leases.len() <= 7);
}

#[tokio::test]
async fn grants_that_come_later_than_they_last_are_answered_by_a_check() {
    let l2 = L2::new();
    // A batch of two is replenished after 2 us, and a reply takes a millisecond: coupled grants are always late.
    let strategy = Gcra::per_second(1_000_000).expect("a limit within the range");
    let node = Node::new(&l2, strategy, coupled(2));
    l2.takes(millis(1), &node.clock);
    assert!(node.admits(1).await);
    assert_eq!((l2.log().leases.len(), l2.log().checks), (4, 1));
    assert_eq!(node.tier.stats().late, 8);
    // Carried over, they are as good as any.
    let node = Node::new(&l2, strategy, carried(2));
    l2.takes(millis(1), &node.clock);
    assert_eq!(node.hammer(10).await, 10);
    assert_eq!((l2.log().leases.len(), l2.log().checks), (4 + 5, 1));
}

#[tokio::test]
async fn peeking_charges_nothing_and_needs_nobody_while_credits_are_at_hand() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(100), coupled(10));
    let peeked = node.tier.peek("key").await.expect("it answers");
    assert_eq!((peeked.allowed, peeked.remaining), (true, 100));
    assert!(node.admits(1).await);
    let calls = node.tier.stats().l2_calls;
    let peeked = node.tier.peek("key").await.expect("it answers");
    assert_eq!((peeked.allowed, peeked.remaining), (true, 9));
    assert_eq!(node.tier.stats().l2_calls, calls);
}

#[tokio::test]
async fn keys_and_prefixes_count_apart() {
    let l2 = L2::new();
    let a = Node::with(&l2, per_second(5), coupled(5), |builder| {
        builder.prefix("a")
    });
    let b = Node::with(&l2, per_second(5), coupled(5), |builder| {
        builder.prefix("b")
    });
    assert_eq!((a.hammer(9).await, b.hammer(9).await), (5, 5));
    assert!(a.tier.check("other").await.expect("it answers").allowed);
}
