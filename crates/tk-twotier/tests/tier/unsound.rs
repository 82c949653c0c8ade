//! A store whose grants make no sense, and a limiter that is closed from two sides.

use tk_core::Error;
use tk_twotier::{FailurePolicy, Lease, Mode, TierError};

use super::{
    l2::L2,
    node::{Node, per_second, settle},
};

fn carried(l2: &L2<tk_core::FixedWindow>, lease: Lease) -> Node {
    Node::with(l2, per_second(100), Mode::Leased(lease), |builder| {
        builder.on_failure(FailurePolicy::Error)
    })
}

#[tokio::test]
async fn nothing_granted_without_a_denial_admits_nobody() {
    let l2 = L2::new();
    let node = carried(&l2, Lease::batch(10));
    l2.claims(Some(0));
    let error = node
        .tier
        .check("key")
        .await
        .expect_err("nothing was granted");
    assert!(matches!(error, Error::Store(TierError::Unsound)), "{error}");
}

#[tokio::test]
async fn a_grant_below_the_least_is_not_asked_for_again_and_again() {
    let l2 = L2::new();
    let node = carried(&l2, Lease::batch(3));
    l2.claims(Some(1));
    let error = node
        .tier
        .check_n("key", 10)
        .await
        .expect_err("it does not cover the cost");
    assert!(matches!(error, Error::Store(TierError::Unsound)), "{error}");
    assert_eq!(l2.log().leases, [(10, 10)]);
}

#[tokio::test]
async fn a_grant_of_all_there_is_overflows_nothing() {
    let l2 = L2::new();
    let node = carried(&l2, Lease::batch(10).low_water(2));
    l2.claims(Some(u64::MAX));
    for _ in 0..30 {
        assert!(node.tier.check("key").await.expect("it is granted").allowed);
        settle().await;
    }
    node.tier.close().await;
}

#[tokio::test]
async fn a_limiter_closed_from_two_sides_closes_for_both() {
    let l2 = L2::new();
    let node = carried(&l2, Lease::batch(10));
    l2.requests(false);
    let check = tokio::spawn({
        let node = node.clone();
        async move { node.tier.check("key").await.is_ok() }
    });
    settle().await;
    let close = || {
        let node = node.clone();
        tokio::spawn(async move { node.tier.close().await })
    };
    let (first, given_up, last) = (close(), close(), close());
    settle().await;
    given_up.abort();
    l2.requests(true);
    first.await.expect("it ends");
    last.await.expect("it ends");
    assert!(check.await.is_ok());
}
