//! One lease in flight, many who wait: rule 1.

use tokio::runtime::Handle;

use super::{
    l2::L2,
    node::{Node, carried, coupled, per_second, settle},
};

#[tokio::test]
async fn concurrent_misses_share_one_lease_at_a_time() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(100), carried(10));
    l2.replies(false);
    let waiters: Vec<_> = (0..50).map(|_| node.spawn(1)).collect();
    settle().await;
    assert_eq!(l2.log().leases, [(10, 1)]);
    l2.replies(true);
    for waiter in waiters {
        assert!(waiter.await.expect("no panic"));
    }
    let log = l2.log();
    assert_eq!((log.most_in_flight, log.leases.len()), (1, 5));
    let stats = node.tier.stats();
    assert_eq!(
        (stats.granted, stats.served),
        (50, 50),
        "no more is held than a batch"
    );
}

#[tokio::test]
async fn dropping_a_waiter_loses_no_grant_and_strands_nobody() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(100), coupled(10));
    l2.replies(false);
    let (first, second) = (node.spawn(1), node.spawn(1));
    settle().await;
    first.abort();
    settle().await;
    l2.replies(true);
    assert!(second.await.expect("no panic"));
    let hits = (0..20).filter(|_| node.hits()).count();
    assert_eq!(hits, 9, "the unit of the one who left is still there");
    assert_eq!(l2.log().leases.len(), 1);
}

#[tokio::test]
async fn dropping_every_waiter_keeps_the_grant_for_the_next() {
    let l2 = L2::new();
    for (mode, kept) in [(coupled(10), 10), (carried(10), 9)] {
        let node = Node::with(&l2, per_second(100), mode, |builder| builder.prefix("p"));
        l2.replies(false);
        let waiter = node.spawn(1);
        settle().await;
        waiter.abort();
        l2.replies(true);
        settle().await;
        let hits = (0..20).filter(|_| node.hits()).count();
        assert_eq!(hits, kept);
    }
    let back: Vec<_> = l2.log().hand_backs.iter().map(|back| back.1).collect();
    assert_eq!(
        back,
        [1],
        "carried over, one unit of an ownerless batch goes home"
    );
}

#[tokio::test]
async fn a_future_that_is_never_polled_again_holds_up_nobody() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(100), coupled(10));
    l2.replies(false);
    let mut stuck = Box::pin(node.tier.check("key"));
    let polled = futures_poll_once(&mut stuck).await;
    assert!(!polled);
    settle().await;
    l2.replies(true);
    settle().await;
    assert!(node.hits());
}

#[tokio::test]
async fn a_request_that_was_told_and_is_dropped_takes_nobody_elses_place() {
    let l2 = L2::new();
    let node = Node::with(&l2, per_second(100), coupled(10), |builder| {
        builder.max_keys(1)
    });
    l2.replies(false);
    let mut told = Box::pin(node.tier.check("key"));
    assert!(!futures_poll_once(&mut told).await);
    l2.replies(true);
    settle().await;
    // It has been told and does not know yet; meanwhile its key is forgotten, and comes back.
    assert!(node.tier.check("other").await.expect("it answers").allowed);
    l2.replies(false);
    let waiter = node.spawn(1);
    settle().await;
    drop(told);
    l2.replies(true);
    assert!(waiter.await.expect("its place was its own"));
}

/// Polls a future once; whether it was ready.
async fn futures_poll_once<F: Future + Unpin>(future: &mut F) -> bool {
    std::future::poll_fn(|context| {
        let ready = std::pin::Pin::new(&mut *future).poll(context).is_ready();
        std::task::Poll::Ready(ready)
    })
    .await
}

#[tokio::test]
async fn dropping_a_limiter_leaves_no_task_behind() {
    let l2 = L2::new();
    let lease = tk_twotier::Lease::batch(10).return_idle_after(std::time::Duration::from_secs(1));
    let node = Node::new(&l2, per_second(100), tk_twotier::Mode::Leased(lease));
    let before = Handle::current().metrics().num_alive_tasks();
    l2.replies(false);
    let waiter = node.spawn(1);
    settle().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), before + 3);
    waiter.abort();
    settle().await;
    drop(node);
    settle().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), before);
}

#[tokio::test]
async fn a_store_that_panics_fails_those_who_wait_and_no_others() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(100), coupled(10));
    l2.panics(true);
    let error = node.tier.check("key").await.expect_err("no answer came");
    assert_eq!(
        error.to_string(),
        "the store could not answer: the call to the shared store ended without an answer"
    );
    l2.panics(false);
    assert!(node.admits(1).await);
}

#[tokio::test]
async fn a_lease_that_is_denied_fails_or_is_dropped_gives_its_place_to_the_next() {
    let l2 = L2::new();
    let node = Node::with(&l2, per_second(5), coupled(5), |builder| {
        builder.max_keys(1)
    });
    let leases = |key: &'static str, units| {
        let (tier, asked) = (node.tier.clone(), l2.log().leases.len());
        let l2 = l2.clone();
        async move {
            let answer = tier.check_n(key, units).await;
            assert_eq!(
                l2.log().leases.len(),
                asked + 1,
                "{key} is leased, not checked"
            );
            answer.map(|decision| decision.allowed)
        }
    };
    assert_eq!(leases("denied", 5).await, Ok(true));
    assert_eq!(leases("denied", 1).await, Ok(false));
    assert_eq!(leases("second", 1).await, Ok(true));
    l2.fails(true);
    assert!(leases("failed", 1).await.is_err());
    l2.fails(false);
    assert_eq!(
        leases("failed", 1).await,
        Ok(true),
        "the same key asks again"
    );
    l2.panics(true);
    assert!(leases("lost", 1).await.is_err());
    l2.panics(false);
    assert_eq!(leases("third", 1).await, Ok(true));
    l2.replies(false);
    let dropped = tokio::spawn(leases("dropped", 1));
    settle().await;
    dropped.abort();
    l2.replies(true);
    settle().await;
    assert_eq!(leases("last", 1).await, Ok(true));
    assert_eq!(node.tier.stats().keys, 1);
}

#[test]
fn outside_of_a_runtime_a_lease_is_refused_and_hits_go_on() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(100), coupled(2));
    assert!(runtime.block_on(node.admits(1)));
    assert!(node.hits());
    let mut check = Box::pin(node.tier.check("key"));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(Err(error)) = check.as_mut().poll(&mut context) else {
        panic!("there is nothing to wait for");
    };
    assert_eq!(
        error.to_string(),
        "the store could not answer: a lease is needed, and this is not a Tokio runtime"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_callers_on_many_threads_admit_exactly_the_limit() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(500), coupled(7));
    let callers: Vec<_> = (0..16)
        .map(|_| {
            let node = node.clone();
            tokio::spawn(async move { node.hammer(100).await })
        })
        .collect();
    let mut admitted = 0;
    for caller in callers {
        admitted += caller.await.expect("no panic");
    }
    assert_eq!(admitted, 500);
}

#[tokio::test]
async fn clones_of_a_handle_share_one_limit() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(10), coupled(3));
    let workers: Vec<_> = (0..4).map(|_| node.clone()).collect();
    let mut admitted = 0;
    for worker in &workers {
        admitted += worker.hammer(10).await;
    }
    assert_eq!(admitted, 10);
}
