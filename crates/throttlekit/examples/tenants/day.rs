//! Who the tenants are, and what they want when.

use throttlekit::fair::traces::{Demand, Profile, Trace};

/// What a tenant pays for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) name: &'static str,
    pub(crate) weight: u64,
    /// How many tenants have it.
    pub(crate) tenants: usize,
}

pub(crate) const PLANS: [Plan; 3] = [
    Plan {
        name: "enterprise",
        weight: 4,
        tenants: 3,
    },
    Plan {
        name: "pro",
        weight: 2,
        tenants: 6,
    },
    Plan {
        name: "free",
        weight: 1,
        tenants: 12,
    },
];

/// The plan of tenant number `tenant`.
pub(crate) fn plan_of(tenant: usize) -> usize {
    let mut end = 0;
    let last = PLANS.len() - 1;
    PLANS
        .iter()
        .position(|plan| {
            end += plan.tenants;
            tenant < end
        })
        .unwrap_or(last)
}

/// A day on which the smallest tenants are the greediest.
pub(crate) fn skewed(limit: u64, windows: u64, seed: u64) -> Trace {
    let count = PLANS.iter().map(|plan| plan.tenants).sum();
    let tenants = (0..count).map(|tenant| Profile {
        weight: PLANS[plan_of(tenant)].weight,
        cost: 10,
        demand: demand(tenant, limit / 10),
        pace: u64::MAX,
    });
    Trace {
        name: "a skewed day",
        limit,
        windows,
        tenants: tenants.collect(),
        seed,
    }
}

/// In requests; `all` of them use up the budget.
fn demand(tenant: usize, all: u64) -> Demand {
    let turn = tenant as u64 % 3;
    match (PLANS[plan_of(tenant)].name, tenant % 3) {
        // One works in shifts, one steadily and below its share, one in bursts.
        ("enterprise", 0) => Demand::Shifting { turn, of: 3 },
        ("enterprise", 1) => Demand::Steady {
            requests: (all / 1_000).max(1),
            every: 2,
        },
        ("enterprise", _) => Demand::Bursts {
            most: all / 20,
            every: 10,
        },
        ("pro", 0) => Demand::Always { from: 0 },
        ("pro", _) => Demand::Bursts {
            most: all / 50,
            every: 15,
        },
        (_, 0 | 1) => Demand::Always { from: 0 },
        (_, _) => Demand::Once { requests: 1 },
    }
}
