//! The days that a fair split must survive.

use super::{Demand, Profile, Trace, random::Random};

const ALWAYS: Demand = Demand::Always { from: 0 };

/// A tenant whose requests cost 1, with nothing to slow it down.
const fn tenant(weight: u64, demand: Demand) -> Profile {
    Profile {
        weight,
        cost: 1,
        demand,
        pace: u64::MAX,
    }
}

impl Trace {
    fn of(name: &'static str, limit: u64, tenants: Vec<Profile>) -> Self {
        Self {
            name,
            limit,
            windows: 4,
            tenants,
            seed: 1,
        }
    }

    /// The same trace with other chances.
    #[must_use]
    pub const fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Everyone sends one request; `busy` of them want more than there is.
    #[must_use]
    pub fn idle_after_one(tenants: usize, busy: usize) -> Self {
        let demand = |i| {
            if i < busy {
                ALWAYS
            } else {
                Demand::Once { requests: 1 }
            }
        };
        let tenants = (0..tenants).map(|i| tenant(1, demand(i))).collect();
        Self::of("idle after one", 1_000, tenants)
    }

    /// Demand falls with rank, as in Zipf's law; the first tenants want far more than their share.
    #[must_use]
    pub fn skewed(tenants: usize) -> Self {
        let limit = 33 * tenants as u64;
        let demand = |i: usize| Demand::Steady {
            requests: (limit / 25 / (i as u64 + 1)).max(1),
            every: 1 + i as u64 % 7,
        };
        let tenants = (0..tenants)
            .map(|i| tenant(1 + i as u64 % 4, demand(i)))
            .collect();
        Self::of("skewed", limit, tenants)
    }

    /// Long silences and short floods.
    #[must_use]
    pub fn bursty(tenants: usize) -> Self {
        let demand = Demand::Bursts {
            most: 90,
            every: 50,
        };
        let tenants = (0..tenants as u64)
            .map(|i| tenant(1 + i % 4, demand))
            .collect::<Vec<_>>();
        Self::of("bursty", 50 * tenants.len() as u64, tenants)
    }

    /// Who is busy changes from window to window.
    #[must_use]
    pub fn shifting(tenants: usize) -> Self {
        let demand = |turn| Demand::Shifting { turn, of: 3 };
        let tenants = (0..tenants as u64).map(|i| tenant(1 + i % 2, demand(i % 3)));
        Self::of("shifting", 1_000, tenants.collect())
    }

    /// Half of the tenants appear in the middle of the first window.
    #[must_use]
    pub fn late_joiners(tenants: usize) -> Self {
        let demand = |i| Demand::Always {
            from: if i < tenants / 2 { 0 } else { 50 },
        };
        let tenants = (0..tenants).map(|i| tenant(1, demand(i))).collect();
        Self::of("late joiners", 1_000, tenants)
    }

    /// Some ask for half of the budget at once, again and again, beside those who ask for little.
    #[must_use]
    pub fn over_asking(tenants: usize) -> Self {
        let limit = 1_000;
        let greedy = Profile {
            cost: limit / 2,
            ..tenant(1, ALWAYS)
        };
        let tenants = (0..tenants).map(|i| {
            if i % 4 == 0 {
                greedy
            } else {
                tenant(1, ALWAYS)
            }
        });
        Self::of("over-asking", limit, tenants.collect())
    }

    /// Weights from 1 to 1,000, and everybody wants more.
    #[must_use]
    pub fn weights(tenants: usize) -> Self {
        let mut random = Random::new(7);
        let weights: Vec<u64> = (0..tenants)
            .map(|i| {
                if i % 3 == 0 {
                    1 + random.below(9)
                } else {
                    1 + random.below(1_000)
                }
            })
            .collect();
        let limit = weights.iter().sum::<u64>() * 4 + 7;
        Self::of(
            "weights 1 to 1,000",
            limit,
            weights.into_iter().map(|w| tenant(w, ALWAYS)).collect(),
        )
    }

    /// Costs from 1 to 20.
    #[must_use]
    pub fn costs(tenants: usize) -> Self {
        let profile = |i: u64| Profile {
            cost: 1 + i * 7 % 20,
            ..tenant(1 + i % 3, ALWAYS)
        };
        let tenants = (0..tenants as u64).map(profile).collect::<Vec<_>>();
        Self::of("costs 1 to 20", 83 * tenants.len() as u64, tenants)
    }

    /// A few want more than there is, the others trickle.
    #[must_use]
    pub fn trickle(tenants: usize, busy: usize) -> Self {
        let steady = Demand::Steady {
            requests: 1,
            every: 8,
        };
        let demand = |i| if i < busy { ALWAYS } else { steady };
        let tenants = (0..tenants).map(|i| tenant(1, demand(i))).collect();
        Self::of("trickle", 1_000, tenants)
    }

    /// Nobody can take its share at once.
    #[must_use]
    pub fn paced(tenants: usize) -> Self {
        let profile = |i| Profile {
            pace: 4 + i % 3,
            ..tenant(1, ALWAYS)
        };
        let tenants = (0..tenants as u64).map(profile).collect();
        Self::of("paced", 1_000, tenants)
    }

    /// A unit and a half for each.
    #[must_use]
    pub fn scarce(tenants: usize) -> Self {
        let limit = (tenants as u64 * 3).div_ceil(2);
        let tenants = (0..tenants).map(|_| tenant(1, ALWAYS)).collect();
        Self::of("one and a half each", limit, tenants)
    }

    /// One of each kind, from 2 to 1,000 tenants.
    #[must_use]
    pub fn all() -> Vec<Self> {
        vec![
            Self::idle_after_one(10, 2),
            Self::idle_after_one(1_000, 2),
            Self::skewed(30),
            Self::skewed(1_000),
            Self::bursty(20),
            Self::shifting(9),
            Self::late_joiners(10),
            Self::over_asking(8),
            Self::weights(2),
            Self::weights(12),
            Self::weights(300),
            Self::costs(12),
            Self::paced(10),
            Self::scarce(60),
        ]
    }
}
