//! A limit that changes while keys hold what was leased under the one before.

use std::slice::from_ref;

use tk_core::{Decision, Error, FixedWindow, Strategy, Timestamp};
use tk_twotier::{DenyCache, Lease, Local, Mode};

use super::{
    l2::L2,
    node::{Node, carried, coupled, millis, pass, per_second, settle},
};

fn per_minute(limit: u64) -> FixedWindow {
    FixedWindow::per_minute(limit).expect("a limit within the range")
}

#[tokio::test]
async fn a_lower_limit_serves_nothing_that_was_leased_above_it() {
    for mode in [coupled(100), carried(100)] {
        let l2 = L2::new();
        let node = Node::new(&l2, per_minute(100), mode);
        assert_eq!(node.hammer(80).await, 80);
        node.tier.set_strategy(per_minute(50));
        settle().await;
        let decision = node.tier.check("key").await.expect("it answers");
        assert_eq!(
            (decision.allowed, decision.limit, decision.remaining),
            (false, 50, 0)
        );
        pass(&l2, from_ref(&node), millis(60_000));
        assert_eq!(
            node.hammer(60).await,
            50,
            "the next window is of the new limit"
        );
    }
}

#[tokio::test]
async fn what_was_leased_under_the_limit_before_goes_home_and_is_leased_anew() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_minute(100), coupled(20));
    assert!(node.admits(5).await);
    node.tier.set_strategy(per_minute(50));
    assert!(!node.hits());
    settle().await;
    assert_eq!(l2.available(&per_minute(50), "key"), 45);
    assert_eq!(node.hammer(60).await, 45);
    let stats = node.tier.stats();
    assert_eq!((stats.taken_back, stats.stranded), (15, 0));
}

#[tokio::test]
async fn a_lease_under_way_when_the_limit_falls_is_void_and_its_waiters_ask_again() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_minute(100), coupled(100));
    l2.replies(false);
    let waiter = node.spawn(1);
    settle().await;
    node.tier.set_strategy(per_minute(10));
    l2.replies(true);
    assert!(waiter.await.expect("no panic"));
    settle().await;
    assert_eq!(l2.log().leases, [(100, 1), (10, 1)]);
    assert_eq!(node.hammer(20).await, 9);
}

#[tokio::test]
async fn whoever_waits_for_more_than_the_new_limit_is_told_so_and_nobody_else_is() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_minute(100), coupled(10));
    l2.replies(false);
    let [first, dear, last] = [1, 60, 1].map(|cost| {
        let tier = node.tier.clone();
        tokio::spawn(async move { tier.check_n("key", cost).await })
    });
    settle().await;
    node.tier.set_strategy(per_minute(50));
    settle().await;
    assert_eq!(
        dear.await.expect("no panic"),
        Err(Error::ExceedsCapacity {
            cost: 60,
            limit: 50
        }),
        "at once, for no answer can help"
    );
    l2.replies(true);
    for waiter in [first, last] {
        let decision = waiter.await.expect("no panic").expect("it answers");
        assert!(decision.allowed);
    }
}

#[tokio::test]
async fn credits_of_a_longer_window_do_not_outlive_the_change_to_a_shorter_one() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_minute(100), coupled(100));
    assert!(node.admits(1).await);
    node.tier.set_strategy(per_second(100));
    settle().await;
    assert!(
        !node.admits(1).await,
        "all was charged, and counts in the new window"
    );
    pass(&l2, from_ref(&node), millis(1_000));
    assert_eq!(
        node.hammer(150).await,
        100,
        "and none of it comes on top of the next"
    );
}

#[test]
fn outside_of_a_runtime_a_new_limit_costs_what_was_leased() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let l2 = L2::new();
    let node = Node::new(&l2, per_minute(100), coupled(20));
    assert!(runtime.block_on(node.admits(5)));
    node.tier.set_strategy(per_minute(50));
    assert_eq!(node.tier.stats().stranded, 15);
    assert_eq!(runtime.block_on(node.hammer(60)), 30);
}

#[tokio::test]
async fn a_key_that_was_denied_under_the_limit_before_is_asked_for_again() {
    let cached = Lease::batch(10).cached_denials(DenyCache::default());
    let l2 = L2::new();
    let node = Node::new(&l2, per_minute(10), Mode::Leased(cached));
    assert_eq!(node.hammer(11).await, 10);
    assert!(matches!(node.tier.try_check("key"), Ok(Local::Decided(_))));
    node.tier.set_strategy(per_minute(11));
    assert_eq!(node.tier.try_check("key"), Ok(Local::NeedsL2));
    assert!(node.admits(1).await);
}

/// A window that says whether it has edges: one type may stand for several strategies.
#[derive(Clone)]
struct Window(FixedWindow, bool);

impl Strategy for Window {
    type State = <FixedWindow as Strategy>::State;

    fn capacity(&self) -> u64 {
        self.0.capacity()
    }

    fn decide(&self, state: &mut Self::State, now: Timestamp, cost: u64) -> Decision {
        self.0.decide(state, now, cost)
    }

    fn has_edges(&self) -> bool {
        self.1
    }
}

#[tokio::test]
async fn a_grant_that_comes_late_is_kept_or_dropped_by_the_strategy_that_it_was_asked_under() {
    let l2 = L2::new();
    let node = Node::new(&l2, Window(per_second(100), false), carried(1));
    l2.takes(millis(2_000), &node.clock);
    assert!(node.admits(1).await);
    assert_eq!((l2.log().leases.len(), l2.log().checks), (1, 0));
    node.tier.set_strategy(Window(per_second(100), true));
    assert!(node.admits(1).await);
    assert_eq!((l2.log().leases.len(), l2.log().checks), (5, 1));
}
