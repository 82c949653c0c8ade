//! Forgetting a key: rule 8.

use super::{
    l2::L2,
    node::{Node, carried, coupled, per_second, settle},
};

#[tokio::test]
async fn a_reset_gives_a_new_budget() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(10), coupled(4));
    assert_eq!(node.hammer(12).await, 10);
    node.tier.reset("key").await.expect("it answers");
    assert_eq!(node.hammer(12).await, 10);
}

#[tokio::test]
async fn after_a_reset_others_may_spend_what_they_hold_and_no_more() {
    let l2 = L2::new();
    let nodes: Vec<_> = (0..3)
        .map(|_| Node::new(&l2, per_second(10), carried(3)))
        .collect();
    for node in &nodes {
        assert!(node.admits(1).await);
    }
    nodes[0].tier.reset("key").await.expect("it answers");
    let mut admitted = 0;
    for _ in 0..20 {
        for node in &nodes {
            admitted += u64::from(node.admits(1).await);
        }
    }
    assert_eq!(admitted, 10 + 2 * (3 - 1));
}

#[tokio::test]
async fn a_hand_back_from_before_a_reset_is_refused() {
    let l2 = L2::new();
    let (one, other) = (
        Node::new(&l2, per_second(10), coupled(4)),
        Node::new(&l2, per_second(10), coupled(4)),
    );
    assert!(one.admits(1).await);
    other.tier.reset("key").await.expect("it answers");
    assert!(other.admits(4).await);
    assert_eq!(one.tier.close().await, 0);
    assert_eq!(l2.available(&per_second(10), "key"), 6);
}

#[tokio::test]
async fn a_grant_sent_for_before_a_reset_is_not_used_after_it() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(10), coupled(10));
    l2.replies(false);
    let waiter = node.spawn(1);
    settle().await;
    let reset = tokio::spawn({
        let node = node.clone();
        async move { node.tier.reset("key").await }
    });
    settle().await;
    l2.replies(true);
    reset.await.expect("no panic").expect("it answers");
    assert!(waiter.await.expect("no panic"));
    assert_eq!(node.hammer(20).await, 9);
}

#[tokio::test]
async fn a_reset_goes_through_though_its_caller_goes_away() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(10), coupled(10));
    assert!(node.admits(10).await);
    l2.requests(false);
    let reset = tokio::spawn({
        let node = node.clone();
        async move { node.tier.reset("key").await }
    });
    settle().await;
    reset.abort();
    settle().await;
    l2.requests(true);
    settle().await;
    assert!(node.admits(10).await);
}
