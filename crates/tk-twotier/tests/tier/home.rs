//! Credits find their way home: rule 5.

use tk_core::{Error, FixedWindow};
use tk_twotier::{DenyCache, Lease, Local, Mode, TierError};

use super::{
    l2::{Down, L2},
    node::{Node, carried, coupled, millis, pass, per_second, settle},
};

#[tokio::test]
async fn closing_hands_back_what_was_not_spent_and_refuses_more() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(100), coupled(10));
    assert_eq!(node.hammer(3).await, 3);
    assert_eq!(node.tier.close().await, 7);
    assert_eq!(l2.available(&per_second(100), "key"), 97);
    let error = node.tier.check("key").await.expect_err("it is closed");
    assert_eq!(
        error.to_string(),
        "the store could not answer: the limiter has been closed"
    );
    assert_eq!(node.tier.close().await, 0, "once");
    assert_eq!(l2.log().hand_backs.len(), 1);
}

#[tokio::test]
async fn once_closed_nothing_answers_from_memory_either() {
    let cached = DenyCache::default();
    for mode in [
        Mode::CachedDeny(cached),
        Mode::Leased(Lease::batch(1).cached_denials(cached)),
    ] {
        let l2 = L2::new();
        let node = Node::new(&l2, per_second(1), mode);
        assert_eq!(node.hammer(3).await, 1);
        assert!(matches!(node.tier.try_check("key"), Ok(Local::Decided(_))));
        node.tier.close().await;
        let tier = &node.tier;
        assert!(is_closed(&tier.try_check("key")));
        assert!(is_closed(&tier.check("key").await));
        assert!(is_closed(&tier.check_n("key", 0).await));
        assert!(is_closed(&tier.peek("key").await));
        assert!(is_closed(&tier.reset("key").await));
        assert!(is_closed(&tier.check("another").await));
    }
}

#[tokio::test]
async fn credits_serve_nobody_from_the_moment_of_closing() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(100), coupled(10));
    assert!(node.admits(1).await);
    l2.requests(false);
    let close = tokio::spawn({
        let node = node.clone();
        async move { node.tier.close().await }
    });
    settle().await;
    assert!(is_closed(&node.tier.try_check("key")));
    l2.requests(true);
    assert_eq!(close.await.expect("no panic"), 9);
}

fn is_closed<T>(answer: &Result<T, Error<TierError<Down>>>) -> bool {
    matches!(answer, Err(Error::Store(TierError::Closed)))
}

#[tokio::test]
async fn closing_waits_for_the_lease_under_way_and_serves_its_waiters() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(100), coupled(10));
    l2.replies(false);
    let waiters: Vec<_> = (0..3).map(|_| node.spawn(1)).collect();
    settle().await;
    let close = tokio::spawn({
        let node = node.clone();
        async move { node.tier.close().await }
    });
    settle().await;
    assert!(!close.is_finished());
    l2.replies(true);
    for waiter in waiters {
        assert!(waiter.await.expect("no panic"));
    }
    close.await.expect("no panic");
    assert_eq!(l2.available(&per_second(100), "key"), 97);
}

#[tokio::test]
async fn dropping_hands_nothing_back() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(100), coupled(10));
    assert!(node.admits(1).await);
    drop(node);
    settle().await;
    assert_eq!(l2.available(&per_second(100), "key"), 90);
}

#[tokio::test]
async fn idle_credits_go_home_once() {
    let l2 = L2::new();
    let lease = Lease::batch(10).return_idle_after(millis(100));
    let node = Node::new(&l2, per_second(100), Mode::Leased(lease));
    let nodes = std::slice::from_ref(&node);
    assert!(node.admits(1).await);
    pass(&l2, nodes, millis(99));
    assert_eq!(node.tier.return_idle().await, 0);
    pass(&l2, nodes, millis(1));
    assert_eq!(node.tier.return_idle().await, 9);
    assert_eq!(node.tier.return_idle().await, 0);
    assert_eq!(l2.available(&per_second(100), "key"), 99);
    assert_eq!(node.tier.stats().keys, 0);
    assert!(node.admits(1).await, "it asks again");
}

#[tokio::test(start_paused = true)]
async fn a_task_looks_for_idle_credits_by_itself() {
    let l2 = L2::new();
    let lease = Lease::batch(10).return_idle_after(millis(100));
    let node = Node::new(&l2, per_second(100), Mode::Leased(lease));
    assert!(node.admits(1).await);
    pass(&l2, std::slice::from_ref(&node), millis(100));
    tokio::time::sleep(millis(60)).await;
    assert_eq!(l2.available(&per_second(100), "key"), 99);
}

/// A node that holds 9 credits of each of four keys, for which nobody has asked for 200 ms.
async fn idle(l2: &L2<FixedWindow>) -> Node {
    let lease = Lease::batch(10).window_coupled(true);
    let mode = Mode::Leased(lease.return_idle_after(millis(100)));
    let node = Node::new(l2, FixedWindow::per_minute(1_000).expect("in range"), mode);
    for key in ["a", "b", "c", "d"] {
        assert!(node.tier.check(key).await.expect("it answers").allowed);
    }
    pass(l2, std::slice::from_ref(&node), millis(200));
    node
}

/// Units served, taken back and stranded.
fn ends(node: &Node) -> (u64, u64, u64) {
    let stats = node.tier.stats();
    assert_eq!(stats.granted, 40);
    (stats.served, stats.taken_back, stats.stranded)
}

#[tokio::test(start_paused = true)]
async fn closing_waits_for_the_idle_credits_that_are_on_their_way_home() {
    let l2 = L2::new();
    let node = idle(&l2).await;
    l2.requests(false);
    tokio::time::sleep(millis(300)).await;
    settle().await;
    let close = tokio::spawn({
        let node = node.clone();
        async move { node.tier.close().await }
    });
    settle().await;
    assert!(!close.is_finished());
    l2.requests(true);
    assert_eq!(close.await.expect("no panic"), 0, "nothing was at hand");
    assert_eq!(ends(&node), (4, 36, 0));
    assert_eq!(l2.log().hand_backs.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn closing_does_not_wait_for_the_next_look_at_idle_keys() {
    let l2 = L2::new();
    let node = idle(&l2).await;
    assert_eq!(
        node.tier.close().await,
        36,
        "the next look would have been before it"
    );
    assert_eq!(ends(&node), (4, 36, 0));
}

#[tokio::test(start_paused = true)]
async fn credits_that_are_cut_off_on_their_way_home_are_stranded() {
    let l2 = L2::new();
    let node = idle(&l2).await;
    l2.replies(false);
    let mut back = Box::pin(node.tier.return_idle());
    assert!(
        tokio::time::timeout(millis(1), &mut back).await.is_err(),
        "the first is under way"
    );
    drop(back);
    assert_eq!(ends(&node), (4, 0, 36));
}

#[tokio::test(start_paused = true)]
async fn credits_are_stranded_by_a_store_that_panics_on_their_way_home() {
    let l2 = L2::new();
    let node = idle(&l2).await;
    l2.panics(true);
    let tier = node.tier.clone();
    assert!(
        tokio::spawn(async move { tier.close().await })
            .await
            .is_err()
    );
    assert_eq!(ends(&node), (4, 0, 36));
}

#[tokio::test]
async fn credits_in_use_stay() {
    let l2 = L2::new();
    let lease = Lease::batch(10).return_idle_after(millis(100));
    let node = Node::new(&l2, per_second(100), Mode::Leased(lease));
    assert!(node.admits(1).await);
    for _ in 0..5 {
        pass(&l2, std::slice::from_ref(&node), millis(60));
        assert!(node.hits());
        assert_eq!(node.tier.return_idle().await, 0);
    }
}

#[tokio::test]
async fn an_evicted_key_hands_its_credits_back() {
    let l2 = L2::new();
    let node = Node::with(&l2, per_second(100), coupled(10), |builder| {
        builder.max_keys(2)
    });
    for key in ["a", "b", "c"] {
        let decision = node.tier.check(key).await.expect("it answers");
        assert!(decision.allowed);
        pass(&l2, std::slice::from_ref(&node), millis(1));
    }
    settle().await;
    assert_eq!(l2.available(&per_second(100), "a"), 99);
    let stats = node.tier.stats();
    assert_eq!((stats.keys, stats.evicted, stats.taken_back), (2, 1, 9));
}

#[tokio::test]
async fn a_key_that_finds_no_room_is_checked_by_the_store() {
    let l2 = L2::new();
    let node = Node::with(&l2, per_second(3), coupled(3), |builder| {
        builder.max_keys(1)
    });
    l2.replies(false);
    let waiter = node.spawn(1);
    settle().await;
    let other = tokio::spawn({
        let node = node.clone();
        async move { node.tier.check("other").await.expect("it answers").allowed }
    });
    settle().await;
    l2.replies(true);
    assert!(waiter.await.expect("no panic") && other.await.expect("no panic"));
    assert_eq!((l2.log().leases.len(), l2.log().checks), (1, 1));
}

#[tokio::test]
async fn a_hand_back_after_its_window_is_not_even_sent() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(100), carried(10));
    assert!(node.admits(1).await);
    pass(&l2, std::slice::from_ref(&node), millis(1_000));
    assert_eq!(node.tier.close().await, 0);
    assert_eq!(l2.log().hand_backs, []);
    assert_eq!(node.tier.stats().stranded, 9);
}

#[tokio::test]
async fn a_hand_back_whose_answer_is_lost_is_counted_and_never_repeated() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(100), coupled(10));
    assert!(node.admits(1).await);
    l2.fails(true);
    assert_eq!(node.tier.close().await, 0);
    l2.fails(false);
    assert_eq!(node.tier.close().await, 0);
    assert_eq!(l2.available(&per_second(100), "key"), 90);
    let stats = node.tier.stats();
    assert_eq!(
        (stats.handed_back, stats.taken_back, stats.stranded),
        (9, 0, 9)
    );
}
