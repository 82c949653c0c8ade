//! Sizers and observers of a user's making that panic or reach back into the limiter: those who wait are not left waiting.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    task::{Context, Waker},
};

use tk_core::{Error, Key, KeySink, ManualClock};
use tk_twotier::{
    Lease, LeaseAnswer, Mode, Observer, Outcome, Sizer, Sizing, Tier, TierError, TwoTier,
};

use super::{
    l2::{L2, START},
    node::{Node, coupled, millis, pass, per_second, settle},
};

/// Panics when it is asked for the size for the `n`th time.
struct PanicsAt(AtomicU64, u64);

impl Sizer for PanicsAt {
    fn size(&self) -> u64 {
        assert_ne!(self.0.fetch_add(1, SeqCst) + 1, self.1, "a sizer's bug");
        2
    }

    fn observe(&mut self, _: u64) {}
}

/// Panics when it is told of a window.
struct PanicsOnDemand;

impl Sizer for PanicsOnDemand {
    fn size(&self) -> u64 {
        2
    }

    fn observe(&mut self, _: u64) {
        panic!("a sizer's bug");
    }
}

fn leased(l2: &L2<tk_core::FixedWindow>, sizing: Sizing) -> Node {
    let lease = Lease::adaptive(sizing).window_coupled(true);
    Node::new(l2, per_second(100), Mode::Leased(lease))
}

#[tokio::test]
async fn a_sizer_that_panics_strands_nobody_who_waits() {
    // The first is asked for by the request that misses, the second by the task that brings its grant.
    for nth in [1, 2] {
        let l2 = L2::new();
        let sizing = Sizing::custom(move || PanicsAt(AtomicU64::new(0), nth));
        let node = leased(&l2, sizing);
        l2.replies(false);
        let waiters: Vec<_> = (0..5).map(|_| node.spawn(1)).collect();
        settle().await;
        l2.replies(true);
        for waiter in waiters {
            assert!(waiter.await.expect("no panic reaches a request"));
        }
        assert_eq!(node.tier.stats().failed, 0);
    }
}

#[tokio::test]
async fn without_its_sizer_a_key_leases_what_its_requests_cost() {
    let l2 = L2::new();
    let node = leased(&l2, Sizing::custom(|| PanicsOnDemand));
    assert_eq!(node.hammer(4).await, 4);
    pass(&l2, std::slice::from_ref(&node), millis(1_000));
    assert_eq!(node.hammer(2).await, 2);
    assert!(node.admits(7).await);
    assert_eq!(l2.log().leases, [(2, 1), (2, 1), (1, 1), (1, 1), (7, 7)]);
}

#[tokio::test]
async fn a_maker_of_sizers_that_panics_costs_neither_the_key_nor_its_place() {
    let l2 = L2::new();
    let make = || -> PanicsOnDemand { panic!("a maker's bug") };
    let node = leased(&l2, Sizing::custom(make));
    assert_eq!(node.hammer(3).await, 3);
    let stats = node.tier.stats();
    assert_eq!((stats.keys, stats.leases), (1, 3));
}

/// Panics whenever it is told of a lease.
struct PanicsOnLeases;

impl Observer for PanicsOnLeases {
    fn leased(&self, _: LeaseAnswer) {
        panic!("an observer's bug");
    }
}

#[tokio::test]
async fn an_observer_that_panics_strands_nobody_who_waits() {
    let l2 = L2::new();
    let tier = TwoTier::builder(per_second(100), l2.clone())
        .mode(coupled(2))
        .clock(Arc::new(ManualClock::at(START)))
        .observer(PanicsOnLeases)
        .build()
        .expect("settings within their ranges");
    let tier = Arc::new(tier);
    l2.replies(false);
    let waiters: Vec<_> = (0..5)
        .map(|_| {
            let tier = tier.clone();
            tokio::spawn(async move { tier.check("key").await })
        })
        .collect();
    settle().await;
    l2.replies(true);
    let mut served = 0;
    for waiter in waiters {
        match waiter.await.expect("no panic reaches a request") {
            Ok(decision) => served += u64::from(decision.allowed),
            Err(error) => assert!(matches!(error, Error::Store(TierError::Lost)), "{error}"),
        }
    }
    assert_eq!(served, 2, "those whom the grant covered were told before");
    assert!(tier.check("key").await.expect("it answers").allowed);
}

/// Panics whenever it is told of a check that was decided here.
struct PanicsOnHits;

impl Observer for PanicsOnHits {
    fn checked(&self, _: Outcome, tier: Tier, _: u64) {
        assert_ne!(tier, Tier::L1, "an observer's bug");
    }
}

#[tokio::test]
async fn a_check_whose_observer_panicked_does_not_charge_again() {
    let tier = TwoTier::builder(per_second(100), L2::new())
        .mode(coupled(10))
        .clock(Arc::new(ManualClock::at(START)))
        .observer(PanicsOnHits)
        .build()
        .expect("settings within their ranges");
    assert!(tier.check("key").await.expect("it answers").allowed);
    let mut check = pin!(tier.check("key"));
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..3 {
        let poll = AssertUnwindSafe(|| check.as_mut().poll(&mut context));
        assert!(catch_unwind(poll).is_err());
    }
    assert_eq!(tier.stats().admitted_locally, 1);
}

/// Panics the first time it is told of a hand-back.
#[derive(Default)]
struct PanicsOnce(AtomicU64);

impl Observer for PanicsOnce {
    fn handed_back(&self, _: u64, _: Option<u64>) {
        assert_ne!(self.0.fetch_add(1, SeqCst), 0, "an observer's bug");
    }
}

#[tokio::test(start_paused = true)]
async fn the_task_that_looks_for_idle_keys_is_started_again_after_a_panic() {
    let l2 = L2::new();
    let clock = Arc::new(ManualClock::at(START));
    let lease = Lease::batch(10).return_idle_after(millis(100));
    let tier = TwoTier::builder(per_second(100), l2.clone())
        .mode(Mode::Leased(lease))
        .clock(clock.clone())
        .observer(PanicsOnce::default())
        .build()
        .expect("settings within their ranges");
    for left in [99, 98] {
        assert!(tier.check("key").await.expect("it answers").allowed);
        l2.clock().advance(millis(100));
        clock.advance(millis(100));
        tokio::time::sleep(millis(60)).await;
        assert_eq!(l2.available(&per_second(100), "key"), left);
    }
}

/// A key that panics when it is read for the third time: a check reads it to find it, to make room for it, and to keep it.
struct PanicsOnThird(AtomicU64);

impl Key for PanicsOnThird {
    fn feed<S: KeySink>(&self, sink: &mut S) {
        assert_ne!(self.0.fetch_add(1, SeqCst), 2, "a key's bug");
        sink.bytes(b"another");
    }

    fn is_empty(&self) -> bool {
        false
    }
}

#[tokio::test]
async fn a_key_that_panics_while_it_is_read_takes_nobodys_place() {
    let l2 = L2::new();
    let node = Node::with(&l2, per_second(100), coupled(10), |builder| {
        builder.max_keys(1)
    });
    for taken in [0, 1] {
        let tier = node.tier.clone();
        let check = async move { tier.check(&PanicsOnThird(AtomicU64::new(0))).await };
        assert!(tokio::spawn(check).await.is_err());
        assert_eq!(node.tier.stats().keys, taken);
        assert_eq!(node.hammer(9).await, 9);
    }
    assert_eq!((l2.log().leases.len(), l2.log().checks), (2, 0));
}

type Closing = Pin<Box<dyn Future<Output = u64> + Send>>;

/// Begins what it was given when it is told of units that ended unspent.
#[derive(Default)]
struct Meanwhile(Mutex<Option<Closing>>);

impl Observer for Meanwhile {
    fn stranded(&self, _: u64) {
        if let Some(task) = self.0.lock().expect("no test panics here").as_mut() {
            let polled = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_limiter_that_looks_for_idle_keys_can_be_closed_while_a_request_comes_in() {
    let l2 = L2::new();
    let clock = Arc::new(ManualClock::at(START));
    let meanwhile = Arc::new(Meanwhile::default());
    let lease = Lease::batch(10).window_coupled(true);
    let tier = TwoTier::builder(per_second(100), l2.clone())
        .mode(Mode::Leased(lease.return_idle_after(millis(100))))
        .max_keys(1)
        .clock(clock.clone())
        .observer(meanwhile.clone())
        .build()
        .expect("settings within their ranges");
    let tier = Arc::new(tier);
    assert!(tier.check("key").await.expect("it answers").allowed);
    l2.clock().advance(millis(2_000));
    clock.advance(millis(2_000));
    let closed = tier.clone();
    let close = Box::pin(async move { closed.close().await });
    *meanwhile.0.lock().expect("no test panics here") = Some(close);
    // It takes the place of the other key, whose credits have ended: there the observer begins to close.
    assert!(tier.check("other").await.expect("it answers").allowed);
    let close = meanwhile.0.lock().expect("no test panics here").take();
    let close = close.expect("it is not over");
    let closing = tokio::time::timeout(millis(10_000), close).await;
    closing.expect("no task is left to wait for");
    assert_eq!(l2.available(&per_second(100), "other"), 99);
}
