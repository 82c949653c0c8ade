//! The shared store fails: rule 7 and the policies.

use tk_core::{Error, Gcra};
use tk_twotier::{DenyCache, FailurePolicy, Lease, Mode, TierError};

use super::{
    l2::{Down, L2},
    node::{Node, coupled, millis, pass, per_second, settle},
};

fn with_policy(l2: &L2<tk_core::FixedWindow>, mode: Mode, policy: FailurePolicy) -> Node {
    Node::with(l2, per_second(100), mode, |builder| {
        builder.on_failure(policy)
    })
}

#[tokio::test]
async fn credits_already_leased_are_served_first() {
    let l2 = L2::new();
    let node = with_policy(&l2, coupled(10), FailurePolicy::deny());
    assert!(node.admits(1).await);
    l2.fails(true);
    assert_eq!(node.hammer(20).await, 9);
}

#[tokio::test]
async fn without_a_policy_the_error_is_the_callers() {
    let l2 = L2::new();
    for mode in [Mode::Strict, coupled(10)] {
        let node = with_policy(&l2, mode, FailurePolicy::Error);
        l2.fails(true);
        let error = node.tier.check("key").await.expect_err("it is down");
        assert!(matches!(error, Error::Store(TierError::L2(error)) if *error == Down));
        assert_eq!(node.tier.stats().failed, 1);
        l2.fails(false);
        assert!(node.admits(1).await, "the next check asks again");
    }
}

#[tokio::test]
async fn all_who_wait_for_a_failed_lease_are_told() {
    let l2 = L2::new();
    let node = with_policy(&l2, coupled(10), FailurePolicy::Error);
    l2.requests(false);
    let waiters: Vec<_> = (0..5)
        .map(|_| {
            let node = node.clone();
            tokio::spawn(async move { node.tier.check("key").await.is_err() })
        })
        .collect();
    settle().await;
    l2.fails(true);
    l2.requests(true);
    for waiter in waiters {
        assert!(waiter.await.expect("no panic"));
    }
    assert_eq!(l2.log().leases.len(), 1);
}

#[tokio::test]
async fn a_policy_answers_and_is_counted() {
    for (policy, allowed) in [(FailurePolicy::Allow, true), (FailurePolicy::deny(), false)] {
        for mode in [
            Mode::Strict,
            Mode::CachedDeny(DenyCache::default()),
            coupled(10),
        ] {
            let l2 = L2::new();
            l2.fails(true);
            let node = with_policy(&l2, mode, policy);
            let decision = node.tier.check("key").await.expect("the policy answers");
            assert_eq!((decision.allowed, decision.remaining), (allowed, 0));
            assert_eq!(decision.retry_after.is_zero(), allowed);
            let stats = node.tier.stats();
            assert_eq!(
                (stats.admitted_by_policy, stats.denied_by_policy),
                (u64::from(allowed), u64::from(!allowed))
            );
            l2.fails(false);
            assert!(node.admits(1).await, "it returns to the store at once");
        }
    }
}

#[tokio::test]
async fn cost_zero_is_allowed_by_every_policy_that_answers() {
    for policy in [
        FailurePolicy::Allow,
        FailurePolicy::deny(),
        FailurePolicy::one_of(4),
    ] {
        for mode in [
            Mode::Strict,
            Mode::CachedDeny(DenyCache::default()),
            coupled(10),
        ] {
            let l2 = L2::new();
            l2.fails(true);
            let node = with_policy(&l2, mode, policy);
            // A share that is used up, and a denial in memory, are no reason.
            let _ = node.hammer(30).await;
            let decision = node.tier.check_n("key", 0).await.expect("it answers");
            assert!(decision.allowed && decision.retry_after.is_zero());
        }
    }
}

#[tokio::test]
async fn no_policy_admits_what_can_never_be() {
    let l2 = L2::new();
    l2.fails(true);
    let node = with_policy(&l2, coupled(10), FailurePolicy::Allow);
    assert!(matches!(
        node.tier.check_n("key", 101).await,
        Err(Error::ExceedsCapacity { .. })
    ));
    assert!(matches!(node.tier.check("").await, Err(Error::EmptyKey)));
}

#[tokio::test]
async fn four_nodes_that_are_cut_off_share_the_limit() {
    for limit in [100, 101, 3] {
        let l2 = L2::new();
        l2.fails(true);
        let mut admitted = 0;
        for _ in 0..4 {
            let node = Node::with(&l2, per_second(limit), coupled(1), |builder| {
                builder.on_failure(FailurePolicy::one_of(4))
            });
            admitted += node.hammer(200).await;
        }
        assert_eq!(admitted, limit / 4 * 4, "the remainder is nobody's");
    }
}

#[tokio::test]
async fn a_local_share_charges_costs_and_is_renewed() {
    let l2 = L2::new();
    l2.fails(true);
    let node = with_policy(
        &l2,
        coupled(10),
        FailurePolicy::LocalShare { share: (3, 10) },
    );
    let decision = node.tier.check_n("key", 20).await.expect("it answers");
    assert_eq!(
        (decision.allowed, decision.limit, decision.remaining),
        (true, 30, 9)
    );
    assert!(!node.admits(11).await);
    assert!(!node.admits(40).await, "more than the whole share");
    pass(&l2, std::slice::from_ref(&node), millis(1_000));
    assert!(node.admits(30).await);
}

#[tokio::test]
async fn keys_beyond_the_room_share_one_local_state() {
    let l2 = L2::new();
    l2.fails(true);
    let node = Node::with(&l2, per_second(10), coupled(10), |builder| {
        builder.on_failure(FailurePolicy::one_of(1)).max_keys(1)
    });
    assert_eq!(node.hammer(20).await, 10);
    let mut admitted = 0;
    for key in 0..100u64 {
        let decision = node.tier.check(&key).await.expect("it answers");
        admitted += u64::from(decision.allowed);
    }
    assert_eq!(admitted, 10);
    assert!(
        !node.admits(1).await,
        "the flood has not freed the blocked key"
    );
}

#[tokio::test]
async fn a_key_that_finds_room_later_is_admitted_no_more_than_its_share() {
    let l2 = L2::new();
    let gcra = Gcra::per_minute(100).and_then(|gcra| gcra.burst(100));
    let gcra = gcra.expect("within the range");
    for (mode, wait, more) in [
        // A unit comes back every 0.6 s.
        (Mode::Strict, 1_000, 1),
        (Mode::CachedDeny(DenyCache::max_age(millis(1))), 1_000, 1),
        (coupled(10), 1_000, 1),
        (Mode::Strict, 60_000, 100),
    ] {
        let node = Node::with(&l2, gcra, mode, |builder| {
            builder.on_failure(FailurePolicy::one_of(1)).max_keys(1)
        });
        l2.fails(true);
        let other = node.tier.check("other").await.expect("the policy answers");
        assert!(other.allowed, "it takes the only place");
        assert_eq!(node.hammer(150).await, 100);
        pass(&l2, std::slice::from_ref(&node), millis(wait));
        assert_eq!(node.hammer(150).await, more, "the other has given way");
    }
}

#[tokio::test]
async fn a_lost_reply_is_not_asked_for_again() {
    let l2 = L2::new();
    let node = with_policy(&l2, coupled(10), FailurePolicy::Error);
    l2.replies(false);
    let waiter = node.spawn(1);
    settle().await;
    // The caller loses patience. The grant is charged, and no answer will ever come.
    waiter.abort();
    settle().await;
    assert_eq!(l2.available(&per_second(100), "key"), 90);
    assert_eq!(l2.log().leases.len(), 1);
}

#[tokio::test]
async fn errors_of_a_refill_are_silent_and_counted() {
    let l2 = L2::new();
    let lease = Lease::batch(10).low_water(9).window_coupled(true);
    let node = with_policy(&l2, Mode::Leased(lease), FailurePolicy::Error);
    assert!(node.admits(1).await);
    l2.fails(true);
    assert!(node.hits());
    settle().await;
    let stats = node.tier.stats();
    assert_eq!((stats.l2_failures, stats.failed), (1, 0));
    assert!(node.hits());
}

#[tokio::test]
async fn a_limiter_is_built_while_the_store_is_down_and_joins_it_later() {
    let l2 = L2::new();
    l2.fails(true);
    let node = with_policy(&l2, coupled(10), FailurePolicy::deny());
    assert!(!node.admits(1).await);
    for _ in 0..3 {
        l2.fails(false);
        pass(&l2, std::slice::from_ref(&node), millis(1_000));
        assert_eq!(node.hammer(150).await, 100);
        l2.fails(true);
        assert!(!node.admits(1).await);
    }
}
