//! Regions of one budget.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::{sync::Arc, time::Duration};

use common::{Random, now};
use tk_core::{ManualClock, Timestamp};
use tk_fair::{FederatedEscrow, PoolRule, RegionFairPool, Want, Weigh, ideal};

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
    let refused = PoolRule::new(10, WINDOW, WINDOW / 4).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`idle_after` is 2500000; allowed is 1 to 2000000"
    );
}
