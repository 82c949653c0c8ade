//! Denials from memory.

use tk_twotier::{DenyCache, Lease, Local, Mode};

use super::{
    l2::L2,
    node::{Node, coupled, millis, pass, per_second, settle},
};

fn cached() -> Mode {
    Mode::CachedDeny(DenyCache::default())
}

#[tokio::test]
async fn a_flood_on_a_blocked_key_reaches_the_store_once() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(1), cached());
    assert_eq!(node.hammer(100).await, 1);
    assert_eq!(l2.log().checks, 2);
    let stats = node.tier.stats();
    assert_eq!((stats.admitted(), stats.denied()), (1, 99));
    assert_eq!((stats.denied_locally, stats.denied_by_l2), (98, 1));
}

#[tokio::test]
async fn a_denial_answers_its_cost_and_dearer_with_the_retry_time_that_is_left() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(10), cached());
    assert!(node.admits(6).await);
    assert!(!node.admits(5).await);
    pass(&l2, std::slice::from_ref(&node), millis(250));
    let Ok(Local::Decided(decision)) = node.tier.try_check_n("key", 7) else {
        panic!("five was denied");
    };
    assert_eq!(decision.retry_after, millis(750));
    assert_eq!(node.tier.try_check_n("key", 4), Ok(Local::NeedsL2));
    assert!(node.admits(4).await, "four fit");
}

#[tokio::test]
async fn what_was_denied_is_counted_in_no_mode() {
    let leased = |batch| Lease::batch(batch).cached_denials(DenyCache::default());
    for mode in [
        Mode::Strict,
        cached(),
        coupled(8),
        Mode::Leased(leased(8).window_coupled(true)),
        Mode::Leased(leased(10)),
    ] {
        let l2 = L2::new();
        let per_minute = tk_core::FixedWindow::per_minute(10).expect("a limit within the range");
        let node = Node::new(&l2, per_minute, mode);
        assert!(node.admits(8).await);
        assert!(!node.admits(5).await);
        let decision = node.tier.check("key").await.expect("it answers");
        assert!(decision.allowed);
        assert_eq!(decision.remaining, 1);
        assert!(node.admits(1).await && !node.admits(1).await);
    }
}

#[tokio::test]
async fn the_cheapest_denial_is_the_one_that_is_remembered() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(10), cached());
    assert!(node.admits(8).await);
    assert!(!node.admits(9).await);
    assert!(!node.admits(3).await);
    let checks = l2.log().checks;
    assert!(!node.admits(3).await && !node.admits(9).await);
    assert_eq!(l2.log().checks, checks);
}

#[tokio::test]
async fn a_denial_ends_after_the_retry_time_counted_from_the_send_instant() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(1), cached());
    let nodes = std::slice::from_ref(&node);
    assert!(node.admits(1).await);
    pass(&l2, nodes, millis(600));
    l2.replies(false);
    let denied = node.spawn(1);
    settle().await;
    pass(&l2, nodes, millis(300));
    l2.replies(true);
    assert!(!denied.await.expect("no panic"));
    pass(&l2, nodes, millis(99));
    assert!(matches!(node.tier.try_check("key"), Ok(Local::Decided(_))));
    pass(&l2, nodes, millis(1));
    assert!(node.admits(1).await);
}

#[tokio::test]
async fn a_denial_is_forgotten_after_a_second_however_far_its_retry_time() {
    let hourly = |limit| tk_core::FixedWindow::per_hour(limit).expect("a limit within the range");
    let l2 = L2::new();
    let nodes = [
        Node::new(&l2, hourly(1), cached()),
        Node::new(&l2, hourly(1), cached()),
    ];
    assert!(nodes[0].admits(1).await);
    assert!(!nodes[0].admits(1).await && !nodes[1].admits(1).await);
    pass(&l2, &nodes, millis(500));
    nodes[1].tier.reset("key").await.expect("it answers");
    assert!(!nodes[0].admits(1).await, "it has not heard of it");
    pass(&l2, &nodes, millis(500));
    assert!(nodes[0].admits(1).await);
    assert!(!nodes[0].admits(1).await);
    nodes[0].tier.set_strategy(hourly(2));
    assert!(nodes[0].admits(1).await, "its own limit was raised");
}

#[tokio::test]
async fn a_denial_from_before_a_reset_is_not_remembered() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(1), cached());
    assert!(node.admits(1).await);
    l2.replies(false);
    let denied = node.spawn(1);
    settle().await;
    let reset = tokio::spawn({
        let node = node.clone();
        async move { node.tier.reset("key").await }
    });
    settle().await;
    l2.replies(true);
    assert!(!denied.await.expect("no panic"));
    reset.await.expect("no panic").expect("it answers");
    assert!(node.admits(1).await);
}

#[tokio::test]
async fn denials_in_memory_are_bounded_in_number() {
    let l2 = L2::new();
    let node = Node::with(&l2, per_second(1), cached(), |builder| builder.max_keys(16));
    for key in 0..1_000u64 {
        for _ in 0..2 {
            let _ = node.tier.check(&key).await.expect("it answers");
        }
    }
    let stats = node.tier.stats();
    assert_eq!((stats.admitted(), stats.denied()), (1_000, 1_000));
    assert!(stats.keys <= 16, "{stats:?}");
}

#[tokio::test]
async fn a_leased_limit_asks_again_unless_denials_are_cached() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(10), coupled(5));
    assert_eq!(node.hammer(20).await, 10);
    assert_eq!(l2.log().leases.len(), 12);
    let lease = Lease::batch(5)
        .window_coupled(true)
        .cached_denials(DenyCache::default());
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(10), Mode::Leased(lease));
    assert_eq!(node.hammer(20).await, 10);
    assert_eq!(l2.log().leases.len(), 3);
    assert_eq!(node.tier.stats().denied_locally, 9);
}

#[tokio::test]
async fn waiters_check_again_after_a_reset() {
    let l2 = L2::new();
    let nodes = [
        Node::new(&l2, per_second(10), coupled(10)),
        Node::new(&l2, per_second(10), coupled(10)),
    ];
    assert!(nodes[1].admits(10).await);
    l2.replies(false);
    let waiter = nodes[0].spawn(1);
    settle().await;
    let reset = tokio::spawn({
        let node = nodes[0].clone();
        async move { node.tier.reset("key").await }
    });
    settle().await;
    l2.replies(true);
    reset.await.expect("no panic").expect("it answers");
    assert!(
        waiter.await.expect("no panic"),
        "its denial was from before"
    );
}
