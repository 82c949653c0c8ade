//! Leases whose size is learned: by whatever way a key comes in, its sizer comes with it.

use std::slice::from_ref;

use tk_core::{FixedWindow, Store};
use tk_twotier::{DenyCache, FailurePolicy, Lease, Mode, SizerOptions};

use super::{
    l2::L2,
    node::{Node, millis, pass, per_second, settle},
};

/// Carried-over leases of 1 to 10 units, and room for so many keys.
fn learned(l2: &L2<FixedWindow>, max_keys: u32) -> Node {
    let lease = Lease::adaptive(SizerOptions::new(1.0, 1.0).max_size(10));
    let mode = Mode::Leased(lease.cached_denials(DenyCache::default()));
    Node::with(l2, per_second(100), mode, |builder| {
        builder
            .on_failure(FailurePolicy::one_of(2))
            .max_keys(max_keys)
    })
}

/// The size learned is the first, and what is carried over into a window is less than the largest.
async fn leases_as_its_sizer_says(l2: &L2<FixedWindow>, node: &Node) {
    let before = l2.log().leases.len();
    assert!(node.admits(1).await);
    assert_eq!(l2.log().leases[before..], [(1, 1)]);
    pass(l2, from_ref(node), millis(1_000));
    let admitted = node.hammer(400).await;
    assert!(admitted <= 109, "{admitted} admitted");
    let leases = l2.log().leases;
    assert!(leases[before..].iter().all(|(want, _)| *want <= 10));
}

#[tokio::test]
async fn a_key_that_a_policy_met_first_leases_as_its_sizer_says() {
    let l2 = L2::new();
    let node = learned(&l2, 100);
    l2.fails(true);
    let answer = node.tier.check_n("key", 0).await.expect("a policy answers");
    assert!(answer.allowed);
    l2.fails(false);
    leases_as_its_sizer_says(&l2, &node).await;
}

/// A request for a key for which there is no room, since the other's lease is under way, and is when it is answered.
async fn while_there_is_no_room(l2: &L2<FixedWindow>, node: &Node, then: impl FnOnce()) -> bool {
    l2.replies(false);
    let other = tokio::spawn({
        let node = node.clone();
        async move { node.tier.check("other").await.expect("it answers") }
    });
    settle().await;
    l2.requests(false);
    let key = node.spawn(1);
    settle().await;
    l2.replies(true);
    assert!(other.await.expect("no panic").allowed);
    then();
    l2.requests(true);
    key.await.expect("no panic")
}

#[tokio::test]
async fn a_key_that_a_policy_made_room_for_leases_as_its_sizer_says() {
    let l2 = L2::new();
    let node = learned(&l2, 1);
    assert!(while_there_is_no_room(&l2, &node, || l2.fails(true)).await);
    l2.fails(false);
    // Whatever the policy remembers of the other is over by then.
    pass(&l2, from_ref(&node), millis(1_000));
    leases_as_its_sizer_says(&l2, &node).await;
}

#[tokio::test]
async fn a_key_that_a_denial_made_room_for_leases_as_its_sizer_says() {
    let l2 = L2::new();
    let node = learned(&l2, 1);
    let all = l2.check(&per_second(100), &"key", 100).await;
    assert!(all.expect("it answers").allowed);
    assert!(!while_there_is_no_room(&l2, &node, || ()).await);
    assert_eq!(node.tier.stats().evicted, 1, "for a denial to remember");
    pass(&l2, from_ref(&node), millis(1_000));
    leases_as_its_sizer_says(&l2, &node).await;
}
