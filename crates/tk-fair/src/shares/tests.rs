//! The rule against its brute-force twin, and its promises one by one.

use quickcheck::{Arbitrary, Gen, QuickCheck};

use super::{Ask, Shares, Verdict, twin::Twin};

mod promises;

const WINDOW: u64 = 100;

/// A budget, and what a few tenants ask of it.
#[derive(Clone, Debug)]
struct Instance {
    budget: u64,
    idle_after: u64,
    max_tenants: usize,
    /// Fewer than there are tenants: then all that are idle are found only if few are not.
    expiries: usize,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    Ask {
        tenant: u128,
        weight: u32,
        cost: u64,
        times: u64,
    },
    Wait(u64),
    Back(u64),
    Leave(u128),
    /// Asks once with weight 0.
    Flap(u128),
    Reweigh,
}

fn below(g: &mut Gen, most: u64) -> u64 {
    u64::arbitrary(g) % most
}

impl Arbitrary for Instance {
    fn arbitrary(g: &mut Gen) -> Self {
        let tenants = 1 + below(g, 9);
        let (dear, heavy) = (1 + below(g, 9), 1 + below(g, 7));
        let steady = bool::arbitrary(g);
        let weights: Vec<_> = (0..tenants).map(|_| 1 + below(g, heavy) as u32).collect();
        let costs: Vec<_> = (0..tenants).map(|_| 1 + below(g, dear)).collect();
        let budget = 1 + below(g, 120);
        let steps = (0..20 + below(g, 60)).map(|_| match below(g, 20) {
            0..=5 => Step::Wait(1 + below(g, 12)),
            6 => Step::Wait(1 + below(g, 150)),
            7 if !steady => Step::Leave(u128::from(below(g, tenants))),
            8 if !steady => Step::Reweigh,
            9 if !steady => Step::Back(below(g, 30)),
            10 if !steady => Step::Flap(u128::from(below(g, tenants))),
            _ => {
                let tenant = below(g, tenants);
                let cost = if steady {
                    costs[tenant as usize]
                } else {
                    1 + below(g, dear)
                };
                Step::Ask {
                    tenant: u128::from(tenant),
                    weight: weights[tenant as usize],
                    cost: cost.min(budget),
                    times: 1 + below(g, 12),
                }
            }
        });
        let steps = steps.collect();
        Self {
            budget,
            idle_after: 1 + below(g, 20),
            max_tenants: if bool::arbitrary(g) {
                100
            } else {
                1 + below(g, 6) as usize
            },
            expiries: if bool::arbitrary(g) { 100 } else { 5 },
            steps,
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let whole = self.clone();
        Box::new((0..self.steps.len()).map(move |i| {
            let mut less = whole.clone();
            less.steps.remove(i);
            less
        }))
    }
}

/// Both forms of the rule side by side.
struct Pair {
    shares: Shares,
    twin: Twin,
    budget: u64,
    now: u64,
    window: u64,
}

impl Pair {
    fn of(instance: &Instance) -> Self {
        let (idle_after, keep_for) = (instance.idle_after, 2 * WINDOW);
        let max_tenants = instance.max_tenants;
        let mut pair = Self {
            shares: Shares {
                expiries: instance.expiries,
                ..Shares::new(idle_after, keep_for, max_tenants)
            },
            twin: Twin::new(idle_after, keep_for, max_tenants),
            budget: instance.budget,
            now: WINDOW,
            window: 0,
        };
        pair.roll();
        pair
    }

    fn roll(&mut self) {
        let window = self.now / WINDOW;
        if window > self.window {
            self.window = window;
            self.shares.roll(window * WINDOW, self.budget);
            self.twin.roll(window * WINDOW, self.budget);
        }
    }

    fn ask(&mut self, tenant: u128, weight: u32, cost: u64) -> (Verdict, Verdict) {
        self.roll();
        let ask = Ask {
            tenant,
            weight,
            cost,
            now: self.now,
        };
        (self.shares.ask(&ask).0, self.twin.ask(&ask))
    }

    fn agree(&self) -> bool {
        let tenants = self.twin.tenants.iter().all(|(id, twin)| {
            let tenant = self.shares.tenant(*id);
            u128::from(tenant.used) == twin.used && tenant.active == twin.active
        });
        tenants
            && self.shares.iter().count() == self.twin.tenants.len()
            && u128::from(self.shares.used()) == self.twin.used
            && self.shares.used() <= self.budget
            && u128::from(self.shares.weight()) == self.twin.weight()
    }
}

/// How much is missing of what is kept for others may be told too low; it is never too high, nor nothing.
fn same(fast: Verdict, slow: Verdict) -> bool {
    match (fast, slow) {
        (Verdict::Kept { short: a, until: b }, Verdict::Kept { short: c, until: d }) => {
            (1..=c).contains(&a) && b == d
        }
        _ => fast == slow,
    }
}

fn agrees_with_twin(instance: Instance) -> bool {
    let mut pair = Pair::of(&instance);
    let mut heavier = 0;
    instance.steps.iter().all(|step| {
        match *step {
            Step::Wait(span) => pair.now += span,
            Step::Back(span) => pair.now = pair.now.saturating_sub(span).max(WINDOW),
            Step::Leave(tenant) => {
                pair.shares.leave(tenant);
                pair.twin.leave(tenant);
            }
            Step::Reweigh => heavier = (heavier + 1) % 4,
            Step::Flap(tenant) => {
                let (fast, slow) = pair.ask(tenant, 0, 1);
                return fast == slow && pair.agree();
            }
            Step::Ask {
                tenant,
                weight,
                cost,
                times,
            } => {
                return (0..times).all(|_| {
                    let (fast, slow) = pair.ask(tenant, (weight + heavier) % 7, cost);
                    same(fast, slow) && pair.agree()
                });
            }
        }
        true
    })
}

#[test]
fn equals_its_brute_force_twin() {
    QuickCheck::new()
        .tests(20_000)
        .max_tests(20_000)
        .quickcheck(agrees_with_twin as fn(Instance) -> bool);
}
