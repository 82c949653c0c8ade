//! What is promised, on random populations whose costs stay as they are, and whose weights do, or fall to 0 now and then.

use std::collections::BTreeMap;

use quickcheck::{Arbitrary, Gen, QuickCheck};

use super::below;
use crate::shares::{Ask, Shares, Verdict};

/// Short, so that there is time for many populations.
const WINDOW: u64 = 30;

/// Some tenants ask all the time, others when they like.
#[derive(Clone, Debug)]
struct Population {
    budget: u64,
    idle_after: u64,
    tenants: Vec<Member>,
    seed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    weight: u32,
    cost: u64,
    always: bool,
    /// Asks at one instant in so many.
    every: u64,
}

impl Arbitrary for Population {
    fn arbitrary(g: &mut Gen) -> Self {
        let (dear, heavy) = (1 + below(g, 9), 1 + below(g, 7));
        let budget = 1 + below(g, 150);
        let member = |g: &mut Gen| Member {
            weight: 1 + below(g, heavy) as u32,
            cost: (1 + below(g, dear)).min(budget),
            always: below(g, 3) > 0,
            every: 1 + below(g, 9),
        };
        Self {
            budget,
            idle_after: 2 + below(g, 8),
            tenants: (0..1 + below(g, 8)).map(|_| member(g)).collect(),
            seed: u64::arbitrary(g),
        }
    }
}

/// A harness that knows from the outside who was active when.
struct Watch {
    shares: Shares,
    budget: u64,
    idle_after: u64,
    tenants: Vec<Member>,
    now: u64,
    asked: Vec<Option<u64>>,
    used: Vec<u64>,
    /// Active at the window's first instant and, so far, ever since.
    early: Vec<bool>,
    /// Active at some time in the window.
    seen: Vec<bool>,
}

impl Watch {
    fn of(population: &Population) -> Self {
        Self::with_places(population, 1_000)
    }

    fn with_places(population: &Population, places: usize) -> Self {
        let count = population.tenants.len();
        let mut shares = Shares::new(population.idle_after, 2 * WINDOW, places);
        shares.roll(0, population.budget);
        Self {
            shares,
            budget: population.budget,
            idle_after: population.idle_after,
            tenants: population.tenants.clone(),
            now: 0,
            asked: vec![None; count],
            used: vec![0; count],
            early: vec![false; count],
            seen: vec![false; count],
        }
    }

    fn active(&self, tenant: usize) -> bool {
        self.asked[tenant].is_some_and(|asked| self.now - asked < self.idle_after)
    }

    fn advance(&mut self) {
        self.now += 1;
        for tenant in 0..self.tenants.len() {
            self.early[tenant] &= self.active(tenant);
        }
        if self.now.is_multiple_of(WINDOW) {
            self.shares.roll(self.now, self.budget);
            self.used.fill(0);
            self.early = (0..self.tenants.len()).map(|t| self.active(t)).collect();
            self.seen.clone_from(&self.early);
        }
    }

    /// Asks once; whether it was admitted, and whether all promises were kept.
    fn ask(&mut self, tenant: usize) -> (bool, bool) {
        let Member { weight, cost, .. } = self.tenants[tenant];
        let verdict = self.shares.ask(&self.request(tenant, weight)).0;
        let admitted = verdict == Verdict::Admitted;
        if let Verdict::Full { .. } = verdict {
            // It is not known, so it is not active.
            return (false, !self.early[tenant]);
        }
        self.asked[tenant] = Some(self.now);
        self.seen[tenant] = true;
        self.used[tenant] += if admitted { cost } else { 0 };
        let seen = (0..self.tenants.len()).filter(|t| self.seen[*t]);
        let total: u64 = seen.map(|t| u64::from(self.tenants[t].weight)).sum();
        let promised = u64::from(weight) * self.budget / total;
        let owed = self.early[tenant] && !admitted && self.used[tenant] + cost <= promised;
        let within = self.used.iter().sum::<u64>() <= self.budget;
        (admitted, within && !owed)
    }

    fn request(&self, tenant: usize, weight: u32) -> Ask {
        Ask {
            tenant: tenant as u128 + 1,
            weight,
            cost: self.tenants[tenant].cost,
            now: self.now,
        }
    }

    /// Asks with weight 0, or is forgotten; active it is no more.
    fn drop_out(&mut self, tenant: usize, reset: bool) {
        if reset {
            self.shares.leave(tenant as u128 + 1);
        } else {
            let _ = self.shares.ask(&self.request(tenant, 0));
        }
        self.asked[tenant] = None;
        self.early[tenant] = false;
    }

    /// Lets tenants ask in turn until none of them gets anything; whether all promises were kept.
    fn satisfy(&mut self, tenants: &[usize]) -> bool {
        let mut served = true;
        while served {
            served = false;
            for &tenant in tenants {
                loop {
                    match self.ask(tenant) {
                        (_, false) => return false,
                        (true, true) => served = true,
                        (false, true) => break,
                    }
                }
            }
        }
        true
    }

    /// What is left would serve none of those who always ask, unless somebody else has a claim.
    fn leaves_nothing(&self) -> bool {
        let left = self.budget - self.used.iter().sum::<u64>();
        let claimed = |t: usize| !self.tenants[t].always && self.active(t);
        let idle = |t: usize| !self.tenants[t].always || self.tenants[t].cost > left;
        (0..self.tenants.len()).any(claimed) || (0..self.tenants.len()).all(idle)
    }

    /// Those who always ask, and can still be served, are within one cost per unit of weight of each other.
    fn is_level(&self) -> bool {
        let left = self.budget - self.used.iter().sum::<u64>();
        let busy = |t: &usize| self.tenants[*t].always && self.tenants[*t].cost <= left;
        let levels = |t: usize| {
            let Member { weight, cost, .. } = self.tenants[t];
            (self.used[t], cost, u64::from(weight))
        };
        let busy: BTreeMap<_, _> = (0..self.tenants.len())
            .filter(busy)
            .map(|t| (t, levels(t)))
            .collect();
        busy.values().all(|&(a, c, v)| {
            busy.values().all(|&(b, d, w)| {
                // a/v - b/w <= max(c/v, d/w)
                let gap = (a * w).saturating_sub(b * v);
                gap <= (c * w).max(d * v)
            })
        })
    }
}

fn shuffled(count: usize, seed: &mut u64) -> Vec<usize> {
    let mut order: Vec<_> = (0..count).collect();
    for i in (1..count).rev() {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        order.swap(i, (*seed >> 33) as usize % (i + 1));
    }
    order
}

fn keeps_promises(population: Population) -> bool {
    let mut watch = Watch::of(&population);
    let mut seed = population.seed;
    for _ in 0..4 * WINDOW {
        let order = shuffled(population.tenants.len(), &mut seed);
        let (busy, others): (Vec<usize>, Vec<usize>) = order
            .into_iter()
            .partition(|t| population.tenants[*t].always);
        if !watch.satisfy(&busy) || !watch.leaves_nothing() {
            return false;
        }
        if watch.now >= WINDOW && !watch.is_level() {
            return false;
        }
        for &tenant in &others {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if (seed >> 33).is_multiple_of(watch.tenants[tenant].every) && !watch.ask(tenant).1 {
                return false;
            }
        }
        watch.advance();
    }
    true
}

#[test]
fn limit_guarantee_and_level_hold_on_random_populations_and_nothing_is_left() {
    QuickCheck::new()
        .tests(20_000)
        .max_tests(20_000)
        .quickcheck(keeps_promises as fn(Population) -> bool);
}

fn keeps_guarantee(population: Population, places: u8) -> bool {
    let places = 1 + usize::from(places) % (population.tenants.len() + 1);
    let mut watch = Watch::with_places(&population, places);
    let mut seed = population.seed;
    let mut chance = |of: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33).is_multiple_of(of)
    };
    for _ in 0..4 * WINDOW {
        for (tenant, member) in population.tenants.iter().enumerate() {
            if !member.always && chance(8) {
                watch.drop_out(tenant, chance(3));
            }
            let asks = member.always || chance(member.every);
            if asks && !(0..=member.every).all(|_| watch.ask(tenant).1) {
                return false;
            }
        }
        watch.advance();
    }
    true
}

#[test]
fn guarantee_holds_whoever_is_evicted_or_reset_or_loses_its_weight_for_a_while() {
    QuickCheck::new()
        .tests(20_000)
        .max_tests(20_000)
        .quickcheck(keeps_guarantee as fn(Population, u8) -> bool);
}
