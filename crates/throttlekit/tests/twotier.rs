//! Two tiers over the store that ships: fleets in one process, each node with its own clock.

#![cfg(all(feature = "memory", feature = "twotier"))]

use std::{sync::Arc, time::Duration};

use throttlekit::{
    Clock, FixedWindow, Gcra, ManualClock, MemoryStore, RateLimiter, SlidingWindowLog, Strategy,
    Timestamp,
    twotier::{DenyCache, Lease, Local, Mode, SizerOptions, TwoTier},
};
use tk_testkit::Random;

const START: u64 = 1_700_000_000_000_000;
const SECOND: u64 = 1_000_000;

type Shared<S> = Arc<MemoryStore<S, Arc<ManualClock>>>;
type Node<S> = TwoTier<Shared<S>, Arc<ManualClock>>;

/// Nodes whose clocks are moved together with the store's, however wrong their walls are.
struct Fleet<S: Strategy> {
    nodes: Vec<Node<S>>,
    clocks: Vec<Arc<ManualClock>>,
    store: Shared<S>,
}

#[expect(clippy::unwrap_used, reason = "a test helper")]
impl<S: Strategy> Fleet<S> {
    /// Walls are ahead and behind in turn, by up to two seconds.
    fn new(strategy: &S, mode: &Mode, nodes: u64) -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(START)));
        let store: Shared<S> = Arc::new(MemoryStore::with_clock(clock.clone()));
        let walls = (0..nodes).map(|node| START - 2 * SECOND + node * 4 * SECOND / nodes);
        let mut clocks: Vec<_> = walls
            .map(|wall| Arc::new(ManualClock::at(Timestamp::from_micros(wall))))
            .collect();
        let node = |clock: &Arc<ManualClock>| {
            let builder = TwoTier::builder(strategy.clone(), store.clone());
            builder
                .mode(mode.clone())
                .clock(clock.clone())
                .build()
                .unwrap()
        };
        let nodes = clocks.iter().map(node).collect();
        clocks.push(clock);
        Self {
            nodes,
            clocks,
            store,
        }
    }

    fn advance(&self, micros: u64) {
        for clock in &self.clocks {
            clock.advance(Duration::from_micros(micros));
        }
    }

    /// The store's clock.
    fn now(&self) -> u64 {
        self.clocks.last().unwrap().now().as_micros()
    }

    async fn admits(&self, node: u64, cost: u64) -> bool {
        let check = self.nodes[node as usize].check_n("k", cost).await;
        check.unwrap().allowed
    }

    /// Units admitted of `calls` requests at each node, in turns.
    async fn hammer(&self, calls: u64) -> u64 {
        let mut admitted = 0;
        for _call in 0..calls {
            for node in 0..self.nodes.len() as u64 {
                admitted += u64::from(self.admits(node, 1).await);
            }
        }
        admitted
    }
}

#[expect(clippy::unwrap_used, reason = "a test helper")]
fn per_second(limit: u64) -> FixedWindow {
    FixedWindow::per_second(limit).unwrap()
}

fn modes(batch: u64) -> [Mode; 5] {
    let lease = Lease::batch(batch);
    [
        Mode::Strict,
        Mode::CachedDeny(DenyCache::default()),
        Mode::Leased(lease.clone()),
        Mode::Leased(lease.clone().window_coupled(true)),
        Mode::Leased(
            lease
                .window_coupled(true)
                .cached_denials(DenyCache::default()),
        ),
    ]
}

#[tokio::test]
async fn strict_answers_as_the_store_itself_field_for_field() {
    let mut random = Random::new(1);
    let strategy = Gcra::per_second(7).unwrap().burst(5).unwrap();
    let fleet = Fleet::new(&strategy, &Mode::Strict, 2);
    let clock = Arc::new(ManualClock::at(Timestamp::from_micros(START)));
    let alone = RateLimiter::new(strategy, MemoryStore::with_clock(clock.clone()));
    for _call in 0..2_000 {
        let pause = random.up_to(SECOND);
        fleet.advance(pause);
        clock.advance(Duration::from_micros(pause));
        let (node, cost) = (random.within(0, 1) as usize, random.within(0, 6));
        let fleets = fleet.nodes[node].check_n("k", cost).await;
        let own = alone.check_n("k", cost);
        match (fleets, own) {
            (Ok(fleets), Ok(own)) => assert_eq!(fleets, own),
            (Err(fleets), Err(own)) => assert_eq!(fleets.to_string(), own.to_string()),
            differ => panic!("{differ:?}"),
        }
    }
}

#[tokio::test]
async fn twelve_calls_on_a_limit_of_ten_admit_ten_in_every_mode() {
    for mode in modes(4) {
        let fleet = Fleet::new(&per_second(10), &mode, 1);
        assert_eq!(fleet.hammer(12).await, 10, "{mode:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_concurrent_checks_on_a_limit_of_fifty_admit_fifty_in_every_mode() {
    for mode in modes(7) {
        let fleet = Arc::new(Fleet::new(&per_second(50), &mode, 1));
        let checks = (0..200).map(|_| {
            let fleet = fleet.clone();
            tokio::spawn(async move { fleet.admits(0, 1).await })
        });
        let mut admitted = 0;
        for check in checks.collect::<Vec<_>>() {
            admitted += u64::from(check.await.unwrap());
        }
        assert_eq!(admitted, 50, "{mode:?}");
    }
}

#[tokio::test]
async fn the_last_odd_unit_of_a_limit_is_admitted() {
    let coupled = Mode::Leased(Lease::batch(2).window_coupled(true));
    assert_eq!(Fleet::new(&per_second(5), &coupled, 1).hammer(9).await, 5);
}

#[tokio::test]
async fn credits_pass_an_edge_only_if_they_are_carried_over() {
    for (is_coupled, expected) in [(false, 17), (true, 10)] {
        let mode = Mode::Leased(Lease::batch(4).window_coupled(is_coupled));
        let fleet = Fleet::new(&per_second(10), &mode, 3);
        fleet.advance(900_000);
        // Leases of 4, 4 and 2, of which one unit each is spent: 3, 3 and 1 are left.
        assert_eq!(fleet.hammer(1).await, 3);
        fleet.advance(100_000);
        assert_eq!(fleet.hammer(20).await, expected);
    }
}

#[tokio::test]
async fn a_hot_node_gets_what_the_others_leave() {
    let fixed = Lease::batch(5).window_coupled(true);
    let learned = Lease::adaptive(SizerOptions::new(2.0, 1.0)).window_coupled(true);
    for lease in [fixed, learned] {
        let fleet = Fleet::new(&per_second(100), &Mode::Leased(lease), 2);
        for window in 0..20 {
            let mut hot = 0;
            for _step in 0..10 {
                for _request in 0..9 {
                    hot += u64::from(fleet.admits(0, 1).await);
                }
                let _ = fleet.admits(1, 1).await;
                fleet.advance(SECOND / 10);
            }
            assert!(hot >= 80 || window < 2, "window {window}: {hot}");
        }
    }
}

#[tokio::test]
async fn closing_a_node_leaves_its_credits_to_the_others() {
    let coupled = Mode::Leased(Lease::batch(8).window_coupled(true));
    let fleet = Fleet::new(&per_second(8), &coupled, 2);
    assert!(fleet.admits(0, 1).await);
    assert!(!fleet.admits(1, 1).await);
    assert_eq!(fleet.nodes[0].close().await, 7);
    let mut admitted = 0;
    for _call in 0..10 {
        admitted += u64::from(fleet.admits(1, 1).await);
    }
    assert_eq!(admitted, 7);
}

#[tokio::test]
async fn a_hand_back_from_before_a_reset_is_refused() {
    let coupled = Mode::Leased(Lease::batch(8).window_coupled(true));
    let fleet = Fleet::new(&per_second(8), &coupled, 2);
    assert!(fleet.admits(0, 1).await);
    fleet.nodes[1].reset("k").await.unwrap();
    assert!(fleet.admits(1, 8).await);
    assert_eq!(fleet.nodes[0].close().await, 0);
    assert!(!fleet.admits(1, 1).await);
}

#[tokio::test]
async fn a_hit_needs_nobody_and_a_miss_says_so() {
    let coupled = Mode::Leased(Lease::batch(2).window_coupled(true));
    let fleet = Fleet::new(&per_second(8), &coupled, 1);
    let node = &fleet.nodes[0];
    assert_eq!(node.try_check("k").unwrap(), Local::NeedsL2);
    assert!(fleet.admits(0, 1).await);
    assert!(matches!(node.try_check("k").unwrap(), Local::Decided(decision) if decision.allowed));
    assert_eq!(node.try_check("k").unwrap(), Local::NeedsL2);
    assert_eq!(fleet.store.len(), 1);
}

#[tokio::test]
async fn denials_from_memory_are_counted() {
    let fleet = Fleet::new(&per_second(1), &Mode::CachedDeny(DenyCache::default()), 1);
    assert_eq!(fleet.hammer(100).await, 1);
    let stats = fleet.nodes[0].stats();
    assert_eq!(
        (stats.admitted(), stats.denied(), stats.l2_calls),
        (1, 99, 2)
    );
}

/// What a fleet admits in each window of the store, under random demand of all nodes.
async fn most_in_a_window(seed: u64, mode: &Mode, limit: u64, nodes: u64) -> u64 {
    let mut random = Random::new(seed);
    let fleet = Fleet::new(&per_second(limit), mode, nodes);
    let (mut window, mut admitted, mut most) = (0, 0, 0);
    for _call in 0..400 {
        let is_flood = random.chance(80);
        fleet.advance(random.within(0, if is_flood { 5_000 } else { SECOND }));
        if fleet.now() / SECOND != window {
            (window, admitted) = (fleet.now() / SECOND, 0);
        }
        let node = random.within(0, nodes - 1);
        if random.chance(2) {
            fleet.nodes[node as usize].return_idle().await;
        }
        let cost = if random.chance(10) {
            random.within(1, limit)
        } else {
            1
        };
        if fleet.admits(node, cost).await {
            admitted += cost;
        }
        most = most.max(admitted);
    }
    most
}

#[tokio::test]
async fn random_fleets_keep_their_bounds() {
    let mut random = Random::new(11);
    let mut exceeds = 0;
    for seed in 0..100 {
        let (limit, nodes) = (random.within(4, 30), random.within(1, 6));
        let batch = random.within(1, limit.min(8));
        let carried = Lease::batch(batch).return_idle_after(Duration::from_millis(200));
        let coupled = carried.clone().window_coupled(true);
        let most = most_in_a_window(seed, &Mode::Leased(coupled), limit, nodes).await;
        assert!(most <= limit, "seed {seed}: {most} of {limit}, coupled");
        let most = most_in_a_window(seed, &Mode::Leased(carried), limit, nodes).await;
        let bound = limit + nodes * (batch - 1);
        assert!(
            most <= bound,
            "seed {seed}: {most} of {bound}, carried over"
        );
        exceeds += u64::from(most > limit);
    }
    assert!(exceeds > 0, "no fleet has carried anything over");
}

#[tokio::test]
async fn a_fleet_on_a_log_keeps_the_limit_and_what_its_nodes_may_hold() {
    let strategy = SlidingWindowLog::per_second(20).unwrap();
    let fleet = Fleet::new(&strategy, &Mode::Leased(Lease::batch(5)), 3);
    let mut random = Random::new(5);
    let mut admitted = Vec::new();
    for _call in 0..3_000 {
        fleet.advance(random.within(0, 40_000));
        if fleet.admits(random.within(0, 2), 1).await {
            admitted.push(fleet.now());
        }
        let since = fleet.now() - SECOND;
        let recent = admitted.iter().rev().take_while(|at| **at > since).count();
        assert!(recent <= 20 + 3 * 5, "{recent}");
    }
}
