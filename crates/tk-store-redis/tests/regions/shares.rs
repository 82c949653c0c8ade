//! Shares between real processes: the limit holds, and everyone's total is its ideal share to within the slack that is promised.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use tk_core::{Clock, FixedWindow, SystemClock};
use tk_fair::{
    Draw, EscrowBuilder, FederatedEscrow, PoolRule, RegionName, RegionPool, Want,
    WeightedFairEscrow, ideal, split_weight,
};
use tk_store_redis::RedisStore;
use tk_testkit::servers::RedisServer;
use tokio::{task::LocalSet, time::sleep};

use crate::{
    fleet::{
        IDLE_AFTER, Member, PATIENCE, PROCESSES, Tally, WINDOW, report, run, window_now, window_of,
    },
    support::{builder, pool_at},
};

/// Tenants, or regions, weigh that much.
const WEIGHTS: [u64; 4] = [4, 2, 1, 1];

/// What was granted so far in this process.
type Granted = Rc<RefCell<Tally>>;

fn count(granted: &Granted, window: u64, name: &str, units: u64) {
    *granted
        .borrow_mut()
        .entry((window, name.to_owned()))
        .or_insert(0) += units;
}

/// Everyone's total in each window is near its ideal share, and nearly all is granted.
fn assert_shares(
    windows: &[BTreeMap<String, u64>],
    limit: u64,
    slack: u64,
    wants: &[(String, Want)],
) {
    let shares = ideal(
        limit,
        &wants.iter().map(|(_, want)| *want).collect::<Vec<_>>(),
    );
    for got in windows {
        let total: u64 = got.values().sum();
        println!("{total} of {limit}");
        for ((name, _), share) in wants.iter().zip(&shares) {
            let got = got.get(name).copied().unwrap_or(0);
            println!("  {name}: {got}, ideally {:.1}", share.approximate());
        }
        assert!(total <= limit, "{total}");
        assert!(total + slack >= limit, "{total}");
        for ((name, _), share) in wants.iter().zip(&shares) {
            let got = got.get(name).copied().unwrap_or(0);
            assert!(
                got + slack >= share.floor() && got <= share.ceil() + slack,
                "{name}: {got}, ideally {:.1}",
                share.approximate()
            );
        }
    }
}

#[test]
fn tenants_that_ask_in_four_processes_have_their_shares_of_one_counter() {
    const TEST: &str =
        "shares::tenants_that_ask_in_four_processes_have_their_shares_of_one_counter";
    const LIMIT: u64 = 8_000;
    const QUANTUM: u64 = 20;
    if let Some(member) = Member::for_test(TEST) {
        let tenants = WeightedFairEscrow::builder(LIMIT, WINDOW).idle_after(IDLE_AFTER);
        return ask_for_tenants(member, tenants, QUANTUM);
    }
    let server = RedisServer::start();
    let wants: Vec<_> = (WEIGHTS.iter().enumerate())
        .map(|(tenant, weight)| (tenant.to_string(), endless(*weight)))
        .collect();
    let windows = run(&server, TEST);
    assert_shares(&windows, LIMIT, PROCESSES * (QUANTUM + 1), &wants);
    server.assert_all_keys_expire();
}

const fn endless(weight: u64) -> Want {
    Want {
        weight,
        units: u64::MAX >> 16,
    }
}

/// Every tenant asks all the time.
#[tokio::main(flavor = "current_thread")]
async fn ask_for_tenants(member: Member, tenants: EscrowBuilder, quantum: u64) {
    let store: RedisStore<FixedWindow> = builder(member.port).build().unwrap();
    let escrow = tenants
        .weight_of(|tenant: &u64| WEIGHTS[*tenant as usize])
        .leased(store, "budget", quantum)
        .unwrap();
    let escrow = Rc::new(escrow);
    let (granted, tasks) = (Granted::default(), LocalSet::new());
    for tenant in 0..WEIGHTS.len() as u64 {
        let (escrow, granted) = (Rc::clone(&escrow), Rc::clone(&granted));
        tasks.spawn_local(async move {
            while member.goes_on() {
                let decision = escrow.check(&tenant, 1).await.unwrap();
                if decision.allowed {
                    count(&granted, window_of(&decision), &tenant.to_string(), 1);
                    tokio::task::yield_now().await;
                } else {
                    sleep(decision.retry_after.min(PATIENCE)).await;
                }
            }
        });
    }
    tasks.await;
    report(&granted.borrow());
}

#[test]
fn regions_in_four_processes_have_their_shares_of_one_pool() {
    const TEST: &str = "shares::regions_in_four_processes_have_their_shares_of_one_pool";
    const LIMIT: u64 = 8_000;
    const QUANTUM: u64 = 20;
    let rule = PoolRule::new(LIMIT, WINDOW, IDLE_AFTER).unwrap();
    if let Some(member) = Member::for_test(TEST) {
        return draw_for_region(member, rule, QUANTUM);
    }
    let server = RedisServer::start();
    let wants: Vec<_> = (WEIGHTS.iter().enumerate())
        .map(|(region, weight)| (region.to_string(), endless(*weight)))
        .collect();
    let windows = run(&server, TEST);
    assert_shares(&windows, LIMIT, PROCESSES * QUANTUM, &wants);
    server.assert_all_keys_expire();
}

#[tokio::main(flavor = "current_thread")]
async fn draw_for_region(member: Member, rule: PoolRule, quantum: u64) {
    let pool = pool_at(member.port, rule);
    let name = member.number.to_string();
    let region = RegionName::new(&name).unwrap();
    let draw = Draw {
        weight: WEIGHTS[member.number as usize],
        settled: 0,
        want: quantum,
    };
    let granted = Granted::default();
    while member.goes_on() {
        let grant = pool.draw(&region, draw).await.unwrap();
        let window = grant.tag.start / WINDOW.as_micros() as u64;
        count(&granted, window, &name, grant.amount);
        if grant.amount == 0 {
            sleep(grant.retry_after.min(PATIENCE)).await;
        }
    }
    report(&granted.borrow());
}

/// A tenant of one region, and of all of them the one that is called `everywhere`.
#[derive(Clone, Copy)]
struct Tenant {
    name: &'static str,
    weight: u64,
    /// Units it wants in a window, beside one before the next begins.
    wants: Option<u64>,
}

const fn tenant(name: &'static str, weight: u64, wants: Option<u64>) -> Tenant {
    Tenant {
        name,
        weight,
        wants,
    }
}

const EVERYWHERE: u64 = 6;

/// The tenants of each region but `everywhere`.
const REGIONS: [&[Tenant]; 4] = [
    &[
        tenant("a", 4, None),
        tenant("b", 2, None),
        tenant("c", 1, None),
    ],
    &[tenant("d", 4, None), tenant("e", 2, Some(60))],
    &[tenant("f", 1, None)],
    &[tenant("g", 2, Some(90)), tenant("h", 1, None)],
];

#[test]
fn tenants_in_four_regions_have_the_shares_of_one_split_over_all() {
    const TEST: &str = "shares::tenants_in_four_regions_have_the_shares_of_one_split_over_all";
    const LIMIT: u64 = 6_000;
    const QUANTUM: u64 = 10;
    let rule = PoolRule::new(LIMIT, WINDOW, IDLE_AFTER).unwrap();
    if let Some(member) = Member::for_test(TEST) {
        return ask_in_region(member, rule, QUANTUM);
    }
    let server = RedisServer::start();
    let mut wants: Vec<_> = (REGIONS.iter().copied().flatten())
        .map(|tenant| {
            let units = tenant.wants.map_or(u64::MAX >> 16, |units| units + 1);
            let weight = tenant.weight;
            (tenant.name.to_owned(), Want { weight, units })
        })
        .collect();
    wants.push(("everywhere".to_owned(), endless(EVERYWHERE)));
    let windows = run(&server, TEST);
    assert_shares(&windows, LIMIT, PROCESSES * (QUANTUM + 1), &wants);
    server.assert_all_keys_expire();
}

#[tokio::main(flavor = "current_thread")]
async fn ask_in_region(member: Member, rule: PoolRule, quantum: u64) {
    let region = member.number as usize;
    let here = split_weight(EVERYWHERE, &[3, 1, 1, 1])[region];
    let mut tenants = REGIONS[region].to_vec();
    tenants.push(tenant("everywhere", here, None));
    let weights: BTreeMap<_, _> = tenants.iter().map(|t| (t.name, t.weight)).collect();
    let escrow = FederatedEscrow::builder(&format!("region {region}"), pool_at(member.port, rule))
        .quantum(quantum)
        .weight_of(move |tenant: &str| weights[tenant])
        .build()
        .unwrap();
    let (escrow, granted, tasks) = (Rc::new(escrow), Granted::default(), LocalSet::new());
    for tenant in tenants {
        let (escrow, granted) = (Rc::clone(&escrow), Rc::clone(&granted));
        tasks.spawn_local(async move {
            let mut woke = 0;
            while member.goes_on() {
                if tenant.is_content(&granted.borrow(), &mut woke) {
                    sleep(PATIENCE).await;
                    continue;
                }
                let decision = escrow.check(tenant.name, 1).await.unwrap();
                if decision.allowed {
                    count(&granted, window_of(&decision), tenant.name, 1);
                    tokio::task::yield_now().await;
                } else {
                    sleep(decision.retry_after.min(PATIENCE)).await;
                }
            }
        });
    }
    tasks.await;
    report(&granted.borrow());
}

impl Tenant {
    /// Whether it does not ask now: it has what it wants in this window, and has asked once more before the next, so as to be known there.
    fn is_content(&self, granted: &Tally, woke: &mut u64) -> bool {
        let Some(wants) = self.wants else {
            return false;
        };
        let window = window_now();
        let got = granted.get(&(window, self.name.to_owned()));
        if got.copied().unwrap_or(0) < wants {
            return false;
        }
        let length = WINDOW.as_micros() as u64;
        let left = length - SystemClock.now().as_micros() % length;
        let wakes = left < IDLE_AFTER.as_micros() as u64 / 2 && *woke < window;
        if wakes {
            *woke = window;
        }
        !wakes
    }
}
