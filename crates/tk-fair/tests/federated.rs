//! Regions of one budget.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use common::{Down, Random, now};
use tk_core::{ManualClock, Timestamp};
use tk_fair::{
    Draw, FairError, FederatedEscrow, PoolRule, PoolTag, RegionFairPool, RegionGrant, RegionName,
    RegionPool, Want, Weigh, ideal,
};

const WINDOW: Duration = Duration::from_secs(10);

type Pool = Arc<RegionFairPool<Arc<ManualClock>>>;
type Escrow = FederatedEscrow<Pool, Weights, Arc<ManualClock>>;

/// The weight of a tenant is its number modulo 4, plus 1.
struct Weights;

impl Weigh<u64> for Weights {
    fn weight(&self, tenant: &u64) -> u64 {
        weight(*tenant)
    }
}

fn weight(tenant: u64) -> u64 {
    tenant % 4 + 1
}

struct World {
    clock: Arc<ManualClock>,
    pool: Pool,
    regions: Vec<Escrow>,
}

impl World {
    fn new(names: &[&str], limit: u64, quantum: u64) -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_secs(1_000)));
        let rule = PoolRule::new(limit, WINDOW, WINDOW / 10).unwrap();
        let pool = Arc::new(RegionFairPool::with_clock(rule, clock.clone()));
        let region = |name: &&str| {
            FederatedEscrow::builder(name, pool.clone())
                .quantum(quantum)
                .weight_of(Weights)
                .clock(clock.clone())
                .build()
                .unwrap()
        };
        let regions = names.iter().map(region).collect();
        Self {
            clock,
            pool,
            regions,
        }
    }

    fn serves(&self, region: usize, tenant: u64, cost: u64) -> bool {
        now(self.regions[region].check(&tenant, cost))
            .unwrap()
            .allowed
    }

    /// Plays one window in a hundred ticks: everyone asks for what it still wants, in a random order. What each tenant got.
    fn play(&self, tenants: &[(usize, u64, u64)], random: &mut Random) -> Vec<u64> {
        let mut got = vec![0; tenants.len()];
        for _ in 0..100 {
            let mut served = true;
            while served {
                served = false;
                for _ in 0..2 * tenants.len() {
                    let i = random.below(tenants.len() as u64) as usize;
                    let (region, tenant, wants) = tenants[i];
                    if got[i] < wants && self.serves(region, tenant, 1) {
                        got[i] += 1;
                        served = true;
                    }
                }
            }
            self.clock.advance(WINDOW / 100);
        }
        got
    }
}

#[test]
fn totals_over_regions_equal_one_split_over_all_tenants() {
    let (limit, quantum) = (3_000, 5);
    let world = World::new(&["ap", "eu", "us"], limit, quantum);
    // Region, tenant, and what it wants in each window; some want little.
    let tenants: Vec<(usize, u64, u64)> = (0..12)
        .map(|i| (i as usize % 3, i, if i % 5 == 0 { 40 } else { 5_000 }))
        .collect();
    let mut random = Random(1);
    for window in 0..4 {
        let got = world.play(&tenants, &mut random);
        let total: u64 = got.iter().sum();
        assert!(total <= limit);
        if window == 0 {
            continue;
        }
        let wants: Vec<Want> = (tenants.iter())
            .map(|(_, tenant, units)| Want {
                weight: weight(*tenant),
                units: *units,
            })
            .collect();
        let slack = 3 * (quantum + 1);
        assert!(total >= limit - slack, "{total}");
        for (got, ideal) in got.iter().zip(ideal(limit, &wants)) {
            let near = got + slack >= ideal.floor() && *got <= ideal.ceil() + slack;
            println!("window {window}: {got:>4} of {:>7.1}", ideal.approximate());
            assert!(near, "{got} of {ideal:?}");
        }
    }
}

#[test]
fn the_share_of_a_tenant_that_falls_silent_goes_to_all_regions() {
    let world = World::new(&["a", "b"], 90, 1);
    // Tenants 0, 4 and 8 all weigh 1. The first window makes them known.
    for tenant in [0, 4] {
        assert!(world.serves(0, tenant, 1));
    }
    assert!(world.serves(1, 8, 1));
    world.clock.advance(Duration::from_millis(9_500));
    for (region, tenant) in [(0, 0), (0, 4), (1, 8)] {
        let _ = world.serves(region, tenant, 1);
    }
    world.clock.advance(Duration::from_millis(500));
    let drain = |region, tenant| (0..100).filter(|_| world.serves(region, tenant, 1)).count();
    for _ in 0..5 {
        assert!(world.serves(0, 0, 1));
    }
    let (mut busy, mut other) = (drain(0, 4), drain(1, 8));
    assert_eq!((busy, other), (30, 30));
    for _ in 0..20 {
        world.clock.advance(Duration::from_millis(300));
        busy += drain(0, 4);
        other += drain(1, 8);
    }
    assert_eq!(busy + other, 85);
    assert!(busy.abs_diff(other) <= 2, "{busy} and {other}");
}

/// Several processes of one region ask for it; grants are what is added, so none is counted twice.
#[test]
fn processes_of_one_region_never_exceed_the_limit() {
    let world = World::new(&["eu"; 4], 20, 8);
    let mut random = Random(3);
    let (mut admitted, mut left, mut fullest) = (0, 10_000, 0);
    for _ in 0..20_000 {
        admitted += u64::from(world.serves(random.below(4) as usize, random.below(4), 1));
        assert!(admitted <= 20);
        fullest = fullest.max(admitted);
        let step = random.below(40).min(left);
        world.clock.advance(Duration::from_millis(step));
        left -= step;
        if left == 0 {
            (admitted, left) = (0, 10_000);
        }
    }
    assert_eq!(fullest, 20);
}

#[test]
fn a_quiet_region_hands_back_once() {
    let world = World::new(&["a", "b"], 20, 20);
    assert!(world.serves(0, 0, 5));
    assert!(!world.serves(1, 0, 1));
    assert_eq!(now(world.regions[0].give_back()), Ok(0));
    world.clock.advance(Duration::from_millis(1_500));
    assert_eq!(now(world.regions[0].give_back()), Ok(15));
    assert_eq!(now(world.regions[0].give_back()), Ok(0));
    assert_eq!(world.pool.state().drawn(), 5);
    assert!(world.serves(1, 0, 15));
    assert!(!world.serves(1, 0, 1));
}

#[test]
fn settings_are_checked() {
    let rule = PoolRule::new(10, WINDOW, WINDOW / 10).unwrap();
    let pool = || RegionFairPool::new(rule);
    let refused = FederatedEscrow::builder("", pool()).build().unwrap_err();
    assert!(refused.to_string().starts_with("`region` is empty"));
    let refused = FederatedEscrow::builder("eu", pool())
        .quantum(11)
        .build()
        .unwrap_err();
    assert_eq!(refused.to_string(), "`quantum` is 11; allowed is 1 to 10");
    let refused = PoolRule::new(10, Duration::ZERO, Duration::from_micros(1)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`window` is 0ns; allowed is 1µs to 35184372.088832s"
    );
    let refused = PoolRule::new(10, WINDOW, WINDOW / 4).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`idle_after` is 2.5s; allowed is 1µs to 2s"
    );
}

/// A pool that cannot be reached now and then.
struct Remote {
    pool: Pool,
    down: AtomicBool,
}

impl RegionPool for Remote {
    type Error = Down;

    fn rule(&self) -> &PoolRule {
        self.pool.rule()
    }

    async fn draw(&self, region: &RegionName, draw: Draw) -> Result<RegionGrant, Down> {
        if self.down.load(Ordering::Relaxed) {
            return Err(Down);
        }
        self.pool.draw(region, draw).await.map_err(|_| Down)
    }

    async fn give_back(&self, region: &RegionName, tag: PoolTag, amount: u64) -> Result<u64, Down> {
        if self.down.load(Ordering::Relaxed) {
            return Err(Down);
        }
        self.pool
            .give_back(region, tag, amount)
            .await
            .map_err(|_| Down)
    }
}

#[test]
fn an_error_of_the_pool_charges_nothing_and_is_not_for_good() {
    let clock = Arc::new(ManualClock::at(Timestamp::from_secs(1_000)));
    let rule = PoolRule::new(20, WINDOW, WINDOW / 10).unwrap();
    let remote = Arc::new(Remote {
        pool: Arc::new(RegionFairPool::with_clock(rule, clock.clone())),
        down: AtomicBool::new(true),
    });
    let escrow = FederatedEscrow::builder("eu", remote.clone())
        .quantum(5)
        .clock(clock)
        .build()
        .unwrap();
    for _ in 0..3 {
        let refused = now(escrow.check(&0_u64, 1)).unwrap_err();
        assert!(matches!(&refused, FairError::Store(error) if **error == Down));
        assert_eq!(escrow.stats_of(&0_u64).used, 0);
    }
    remote.down.store(false, Ordering::Relaxed);
    let served = (0..30).filter(|_| now(escrow.check(&0_u64, 1)).unwrap().allowed);
    assert_eq!(served.count(), 20);
    assert_eq!(escrow.stats_of(&0_u64).used, 20);
}

/// A pool of which every number is as large as it can be.
struct Boundless(PoolRule);

impl RegionPool for Boundless {
    type Error = Down;

    fn rule(&self) -> &PoolRule {
        &self.0
    }

    async fn draw(&self, _: &RegionName, _: Draw) -> Result<RegionGrant, Down> {
        Ok(RegionGrant {
            amount: u64::MAX,
            spare: u64::MAX,
            span: Duration::MAX,
            retry_after: Duration::MAX,
            tag: PoolTag::default(),
        })
    }

    async fn give_back(&self, _: &RegionName, _: PoolTag, amount: u64) -> Result<u64, Down> {
        Ok(amount)
    }
}

#[test]
fn a_pool_that_grants_more_than_there_is_lends_the_limit() {
    let clock = Arc::new(ManualClock::at(Timestamp::from_secs(1_000)));
    let pool = Boundless(PoolRule::new(20, WINDOW, WINDOW / 10).unwrap());
    let escrow = FederatedEscrow::builder("eu", pool)
        .clock(clock)
        .build()
        .unwrap();
    let served = (0..50).filter(|_| now(escrow.check(&0_u64, 1)).unwrap().allowed);
    assert_eq!(served.count(), 20);
    assert_eq!(escrow.stats().effective_limit, 20);
}

#[test]
fn a_hundred_tenants_in_two_regions_on_ten_units_are_each_served_within_ten_windows() {
    let clock = Arc::new(ManualClock::at(Timestamp::from_secs(1_000)));
    let rule = PoolRule::new(10, WINDOW, WINDOW / 10).unwrap();
    let pool: Pool = Arc::new(RegionFairPool::with_clock(rule, clock.clone()));
    let region = |name| {
        let builder = FederatedEscrow::builder(name, pool.clone()).quantum(1);
        builder.clock(clock.clone()).build().unwrap()
    };
    let regions = [region("eu"), region("us")];
    let ask = |tenant: u64| now(regions[tenant as usize % 2].check(&tenant, 1)).unwrap();
    // All of them are known when the first window begins.
    clock.advance(WINDOW - WINDOW / 20);
    for tenant in 0..100 {
        let _ = ask(tenant);
    }
    clock.advance(WINDOW / 20);
    let mut served: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for round in 0..10 * 20 {
        for tenant in 0..100 {
            if ask(tenant).allowed {
                served.entry(tenant).or_default().push(round / 20);
            }
        }
        clock.advance(WINDOW / 20);
    }
    assert_eq!(served.len(), 100, "{served:?}");
}

#[test]
fn weight_zero_draws_nothing_from_the_pool() {
    let clock = Arc::new(ManualClock::at(Timestamp::from_secs(1_000)));
    let rule = PoolRule::new(10, WINDOW, WINDOW / 10).unwrap();
    let pool: Pool = Arc::new(RegionFairPool::with_clock(rule, clock.clone()));
    let escrow = FederatedEscrow::builder("eu", pool.clone())
        .weight_of(|tenant: &u64| *tenant)
        .clock(clock.clone())
        .build()
        .unwrap();
    for _ in 0..30 {
        assert!(now(escrow.check(&0, 1)).unwrap().is_denied());
        clock.advance(Duration::from_millis(700));
    }
    assert_eq!(pool.state().drawn(), 0);
    assert!(now(escrow.check(&1, 10)).unwrap().allowed);
    assert!(now(escrow.check(&0, 1)).unwrap().is_denied());
}
