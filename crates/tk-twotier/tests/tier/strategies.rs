//! A limit that changes while keys hold what was leased under the one before.

use std::{
    slice::from_ref,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    task::{Context, Waker},
};

use tk_core::{Decision, Error, FixedWindow, Strategy, Timestamp};
use tk_twotier::{DenyCache, Lease, Local, Mode, TierError};

use super::{
    l2::{Down, L2},
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

/// Polls two checks once each, so that a lease is due that has yet to take off; lets the limit fall; and waits for both.
async fn answers_when_the_limit_falls<S: Strategy>(
    node: &Node<S>,
    costs: [u64; 2],
    falls: impl FnOnce(),
) -> [Result<Decision, Error<TierError<Down>>>; 2] {
    let [mut first, mut last] = costs.map(|cost| Box::pin(node.tier.check_n("key", cost)));
    let mut context = Context::from_waker(Waker::noop());
    assert!(first.as_mut().poll(&mut context).is_pending());
    assert!(last.as_mut().poll(&mut context).is_pending());
    falls();
    [first.await, last.await]
}

const TOO_DEAR: Result<Decision, Error<TierError<Down>>> = Err(Error::ExceedsCapacity {
    cost: 60,
    limit: 50,
});

#[tokio::test]
async fn a_lease_that_is_sent_under_a_lower_limit_says_nothing_of_those_who_ask_for_less() {
    for costs in [[60, 1], [1, 60]] {
        let l2 = L2::new();
        let node = Node::new(&l2, per_minute(100), coupled(10));
        let lower = || node.tier.set_strategy(per_minute(50));
        let answers = answers_when_the_limit_falls(&node, costs, lower).await;
        for (cost, answer) in costs.into_iter().zip(answers) {
            match cost {
                60 => assert_eq!(answer, TOO_DEAR),
                _ => assert!(answer.expect("it answers").allowed),
            }
        }
        assert_eq!(
            node.tier.stats().granted,
            node.tier.stats().served + 9 + node.tier.stats().taken_back
        );
    }
}

/// A limit that falls without a word, as one does to a lease that lands before `set_strategy` has come by its key.
#[derive(Clone)]
struct Falls(Arc<AtomicU64>);

impl Strategy for Falls {
    type State = <FixedWindow as Strategy>::State;

    fn capacity(&self) -> u64 {
        self.0.load(SeqCst)
    }

    fn decide(&self, state: &mut Self::State, now: Timestamp, cost: u64) -> Decision {
        per_minute(self.capacity()).decide(state, now, cost)
    }
}

#[tokio::test]
async fn an_answer_of_a_limit_that_nobody_here_knows_of_yet_tells_those_who_ask_for_more_and_ends()
{
    let l2 = L2::new();
    let limit = Arc::new(AtomicU64::new(100));
    let node = Node::new(&l2, Falls(limit.clone()), coupled(10));
    let fall = || limit.store(50, SeqCst);
    let [dear, cheap] = answers_when_the_limit_falls(&node, [60, 1], fall).await;
    assert_eq!(dear, TOO_DEAR);
    assert!(cheap.expect("it answers").allowed);
    assert_eq!(l2.log().leases, [(60, 60), (10, 1)]);
    assert_eq!(node.tier.check_n("key", 60).await, TOO_DEAR);
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
