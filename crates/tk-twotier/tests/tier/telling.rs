//! Counters, observers and learned sizes.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
};

use tk_core::{Clock, ManualClock, Monotonic, Timestamp};
use tk_twotier::{
    Lease, LeaseAnswer, Local, Mode, Observer, Outcome, Sizer, Sizing, Tier, TwoTier,
};

use super::{
    l2::{L2, START},
    node::{Node, carried, coupled, millis, pass, per_second, settle},
};

#[tokio::test]
async fn every_unit_granted_is_accounted_for() {
    for mode in [coupled(7), carried(7)] {
        let l2 = L2::new();
        let nodes = [Node::new(&l2, per_second(50), mode)];
        let node = &nodes[0];
        for round in 0..40 {
            let _ = node.hammer(1 + round % 5).await;
            if round % 3 == 0 {
                l2.replies(false);
                let waiter = node.spawn(1 + round % 9);
                settle().await;
                pass(&l2, &nodes, millis(400));
                if round % 2 == 0 {
                    waiter.abort();
                }
                l2.replies(true);
                settle().await;
            }
            pass(&l2, &nodes, millis(70));
        }
        node.tier.close().await;
        let stats = node.tier.stats();
        assert_eq!(
            stats.granted,
            stats.served + stats.stranded + stats.late + stats.taken_back,
            "{stats:?}"
        );
        assert_eq!(stats.granted, l2.log().granted);
    }
}

#[tokio::test]
async fn checks_are_counted_by_outcome_and_tier() {
    let l2 = L2::new();
    let node = Node::new(&l2, per_second(10), coupled(5));
    let _ = node.hammer(12).await;
    let stats = node.tier.stats();
    assert_eq!((stats.admitted_locally, stats.admitted_by_l2), (8, 2));
    assert_eq!((stats.denied_locally, stats.denied_by_l2), (0, 2));
    assert_eq!((stats.l2_calls, stats.leases), (4, 4));
    assert_eq!((stats.granted, stats.served, stats.keys), (10, 10, 1));
}

#[derive(Default)]
struct Seen {
    admitted_from_memory: AtomicU64,
    denied: AtomicU64,
    granted: AtomicU64,
    taken_back: AtomicU64,
}

impl Observer for Seen {
    fn checked(&self, outcome: Outcome, tier: Tier, _: u64) {
        match (outcome, tier) {
            (Outcome::Admitted, Tier::L1) => self.admitted_from_memory.fetch_add(1, SeqCst),
            (Outcome::Denied, _) => self.denied.fetch_add(1, SeqCst),
            _ => 0,
        };
    }

    fn leased(&self, answer: LeaseAnswer) {
        if let LeaseAnswer::Granted { amount, .. } = answer {
            self.granted.fetch_add(amount, SeqCst);
        }
    }

    fn handed_back(&self, _: u64, applied: Option<u64>) {
        self.taken_back.fetch_add(applied.unwrap_or(0), SeqCst);
    }
}

#[tokio::test]
async fn an_observer_is_told_as_it_happens() {
    let seen = Arc::new(Seen::default());
    let tier = TwoTier::builder(per_second(10), L2::new())
        .mode(coupled(6))
        .clock(Arc::new(ManualClock::at(START)))
        .observer(seen.clone())
        .build()
        .expect("settings within their ranges");
    for _ in 0..8 {
        assert!(tier.check("key").await.expect("it answers").allowed);
    }
    assert!(
        tier.check_n("key", 5)
            .await
            .expect("it answers")
            .is_denied()
    );
    tier.close().await;
    let told = [
        &seen.admitted_from_memory,
        &seen.denied,
        &seen.granted,
        &seen.taken_back,
    ];
    assert_eq!(told.map(|told| told.load(SeqCst)), [6, 1, 10, 2]);
}

/// Leases what the last window served.
struct Last(u64, Arc<AtomicU64>);

impl Sizer for Last {
    fn size(&self) -> u64 {
        self.0
    }

    fn observe(&mut self, demand: u64) {
        self.0 = demand;
        self.1.fetch_add(1, SeqCst);
    }
}

#[tokio::test]
async fn a_sizer_per_key_learns_from_the_windows_that_have_ended() {
    let windows = Arc::new(AtomicU64::new(0));
    let sizing = Sizing::custom({
        let windows = windows.clone();
        move || Last(1, windows.clone())
    });
    let l2 = L2::new();
    let lease = Lease::adaptive(sizing).window_coupled(true);
    let node = Node::new(&l2, per_second(1_000), Mode::Leased(lease));
    for _ in 0..4 {
        assert_eq!(node.hammer(40).await, 40);
        pass(&l2, std::slice::from_ref(&node), millis(1_000));
    }
    assert_eq!(windows.load(SeqCst), 3);
    let wants: Vec<_> = l2.log().leases.iter().map(|lease| lease.0).collect();
    assert_eq!(wants[..40], [1; 40]);
    assert_eq!(wants[40..], [40, 40, 40]);
}

#[tokio::test]
async fn a_size_above_the_capacity_is_clamped() {
    let l2 = L2::new();
    let lease = Lease::adaptive(Sizing::custom(|| Last(u64::MAX, Arc::default())));
    let node = Node::new(&l2, per_second(10), Mode::Leased(lease));
    assert_eq!(node.hammer(12).await, 10);
    assert_eq!(l2.log().leases[0], (10, 1));
}

/// Whoever reads its wall is held up for a while first, once that is wanted.
struct Dozing {
    clock: ManualClock,
    sleepy: AtomicBool,
}

impl Clock for Dozing {
    fn now(&self) -> Timestamp {
        if self.sleepy.load(SeqCst) {
            self.clock.advance(millis(50));
        }
        self.clock.now()
    }

    fn monotonic(&self) -> Monotonic {
        self.clock.monotonic()
    }
}

#[tokio::test]
async fn a_reset_is_never_told_late_however_long_passes_between_two_readings() {
    let l2 = L2::new();
    let clock = Arc::new(Dozing {
        clock: ManualClock::at(START),
        sleepy: AtomicBool::new(false),
    });
    let tier = TwoTier::builder(per_second(100), l2.clone())
        .clock(Arc::clone(&clock))
        .mode(coupled(10))
        .build()
        .expect("settings within their ranges");
    let tier = Arc::new(tier);
    l2.replies(false);
    let waiter = tokio::spawn({
        let tier = Arc::clone(&tier);
        async move { tier.check("key").await }
    });
    settle().await;
    clock.sleepy.store(true, SeqCst);
    l2.replies(true);
    settle().await;
    let waited = waiter.await.expect("no panic").expect("granted");
    let Ok(Local::Decided(hit)) = tier.try_check("key") else {
        panic!("credits are at hand");
    };
    for decision in [waited, hit] {
        assert!(decision.allowed);
        let end = START + millis(1_000);
        assert!(decision.reset_at <= end, "{:?}", decision.reset_at);
    }
}
