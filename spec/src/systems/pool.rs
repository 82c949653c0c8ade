//! `RegionPool`, over the shipping pool's rule.
//!
//! The specification reserves for a region what it has drawn and what its weight promises it. The pool that ships does that, and besides
//! fills up by water level and remembers who came late, so that it has states of its own and its counts are not TLC's. What is
//! claimed of it is the same, and one thing more: a hand-back that is delivered again does no harm, since it names its turn.
//!
//! The clock stands at a window's first instant. Whoever rests is dated back by the time after which it counts as idle.

use std::time::Duration;

use tk_fair::{Draw, PoolRule, PoolState, PoolTag};

use crate::explore::{Law, StepLaw, System, Visit};

const WINDOW: u64 = 1_000;
const IDLE: u64 = 100;
const NAMES: [&str; 3] = ["1", "2", "3"];

/// Regions that share one budget. A region's number is its weight.
#[derive(Clone, Debug)]
pub struct Pool {
    /// The rule that it draws by.
    pub rule: PoolRule,
    /// How many regions, at most three.
    pub regions: usize,
    /// Whether the network may deliver a hand-back again.
    pub repeats: bool,
    /// Whether a hand-back counts as the next one, whatever turn it names.
    pub forgets_turns: bool,
}

/// Its state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pool: PoolState,
    regions: Vec<Local>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Local {
    is_active: bool,
    /// Active since the window's first instant.
    is_early: bool,
    /// Active at some time in the window.
    was_active: bool,
    granted: u64,
    spent: u64,
    given: u64,
    tag: PoolTag,
    back: Option<(PoolTag, u64)>,
}

impl Local {
    const fn left(&self) -> u64 {
        self.granted - self.given - self.spent
    }
}

impl State {
    fn drawn(&self, region: usize) -> u64 {
        self.pool
            .regions
            .get(NAMES[region])
            .map_or(0, tk_fair::Region::drawn)
    }

    fn granted(&self, region: usize) -> u64 {
        self.pool
            .regions
            .get(NAMES[region])
            .map_or(0, |region| region.granted)
    }
}

impl Pool {
    /// Regions 1 to `regions`, at most three, that share `limit`.
    ///
    /// # Panics
    ///
    /// If no pool has this limit.
    #[must_use]
    pub fn new(regions: usize, limit: u64) -> Self {
        let (window, idle) = (Duration::from_micros(WINDOW), Duration::from_micros(IDLE));
        let rule = PoolRule::new(limit, window, idle).expect("the catalogue's limits are small");
        Self {
            rule,
            regions,
            repeats: false,
            forgets_turns: false,
        }
    }

    fn draw(&self, state: &mut State, region: usize, want: u64) -> u64 {
        let draw = Draw {
            weight: region as u64 + 1,
            settled: 0,
            want,
        };
        let grant = (self.rule.draw(&mut state.pool, NAMES[region], draw, WINDOW))
            .expect("a pool has room for three regions");
        let local = &mut state.regions[region];
        local.granted += grant.amount;
        local.tag = grant.tag;
        grant.amount
    }

    fn activity(&self, state: &State, region: usize, visit: Visit<'_, State>) {
        let mut next = state.clone();
        let local = &mut next.regions[region];
        if local.is_active {
            (local.is_active, local.is_early) = (false, false);
            if let Some(claim) = next.pool.regions.get_mut(NAMES[region]) {
                claim.asked = WINDOW - IDLE;
            }
            return visit(format_args!("region {} rests", region + 1), next);
        }
        (local.is_active, local.was_active) = (true, true);
        let _ = self.draw(&mut next, region, 0);
        visit(format_args!("region {} wakes", region + 1), next);
    }

    fn spending(&self, state: &State, region: usize, visit: Visit<'_, State>) {
        let local = state.regions[region];
        let mut next = state.clone();
        if local.is_active && self.draw(&mut next, region, 1) > 0 {
            visit(format_args!("region {} draws 1", region + 1), next);
        }
        if local.left() > 0 {
            let mut next = state.clone();
            next.regions[region].spent += 1;
            visit(format_args!("region {} spends 1", region + 1), next);
        }
    }

    fn returning(&self, state: &State, region: usize, visit: Visit<'_, State>) {
        let local = state.regions[region];
        if !local.is_active && local.left() > 0 && local.given == 0 {
            let mut next = state.clone();
            let left = local.left();
            next.regions[region].given = left;
            next.regions[region].back = Some((local.tag, left));
            visit(
                format_args!("region {} hands back {left}", region + 1),
                next,
            );
        }
        let Some((mut tag, amount)) = local.back else {
            return;
        };
        if self.forgets_turns {
            tag.turn = state
                .pool
                .regions
                .get(NAMES[region])
                .map_or(0, |region| region.turn);
        }
        let mut next = state.clone();
        let taken = self
            .rule
            .give_back(&mut next.pool, NAMES[region], tag, amount, WINDOW);
        if self.repeats {
            let again = next.clone();
            visit(
                format_args!(
                    "the pool takes back {taken} of region {}, and may be told again",
                    region + 1
                ),
                again,
            );
        }
        next.regions[region].back = None;
        visit(
            format_args!("the pool takes back {taken} of region {}", region + 1),
            next,
        );
    }

    /// The next window begins, and the pool hears of it before anybody draws.
    fn roll(&self, state: &mut State) {
        let pool = &mut state.pool;
        let end = 2 * WINDOW;
        for (local, name) in state.regions.iter_mut().zip(NAMES) {
            if let (true, Some(claim)) = (local.is_active, pool.regions.get_mut(name)) {
                claim.asked = end - 1;
            }
            let back = local.back.map(|(tag, amount)| (past(tag), amount));
            let is_active = local.is_active;
            *local = Local {
                is_active,
                is_early: is_active,
                was_active: is_active,
                back,
                ..Local::default()
            };
        }
        let _ = self
            .rule
            .draw(pool, "who asks how things stand", Draw::default(), end);
        pool.regions.remove("who asks how things stand");
        (pool.start, pool.begun, pool.latest) = (pool.start - WINDOW, pool.begun - WINDOW, WINDOW);
        for claim in pool.regions.values_mut() {
            claim.asked = WINDOW;
        }
    }

    fn promised(&self, state: &State, region: usize) -> u64 {
        let weight =
            |(place, local): (usize, &Local)| (place as u64 + 1) * u64::from(local.was_active);
        let weights: u64 = state.regions.iter().enumerate().map(weight).sum();
        (region as u64 + 1) * self.rule.limit() / weights.max(1)
    }
}

/// The tag of a window that is over, however long.
fn past(tag: PoolTag) -> PoolTag {
    PoolTag {
        start: 0,
        begun: 0,
        ..tag
    }
}

impl System for Pool {
    type State = State;

    fn starts(&self) -> Vec<State> {
        let mut pool = PoolState::new();
        (pool.start, pool.begun, pool.latest) = (WINDOW, WINDOW, WINDOW);
        vec![State {
            pool,
            regions: vec![Local::default(); self.regions],
        }]
    }

    fn steps(&self, state: &State, visit: Visit<'_, State>) {
        for region in 0..self.regions {
            self.activity(state, region, visit);
            self.spending(state, region, visit);
            self.returning(state, region, visit);
        }
        let mut next = state.clone();
        self.roll(&mut next);
        visit(format_args!("the window ends"), next);
    }

    // SPEC: RegionPool!NeverOverAdmits
    fn measure(&self, state: &State) -> u64 {
        state.regions.iter().map(|region| region.spent).sum()
    }

    fn always(&self) -> Vec<Law<Self>> {
        vec![
            Law {
                name: "DrawnWithinLimit",
                holds: |of, state| state.pool.drawn() <= of.rule.limit(),
            },
            Law {
                name: "PoolNeverForgets",
                holds: |_, state| {
                    let own = |local: &Local| local.spent + local.left();
                    (state.regions.iter().enumerate())
                        .all(|(r, local)| own(local) <= state.drawn(r))
                },
            },
            Law {
                name: "PromisesAreKept",
                holds: |of, state| {
                    (0..of.regions)
                        .filter(|r| state.regions[*r].is_early)
                        .all(|r| {
                            let others = state.pool.drawn() - state.drawn(r);
                            of.rule.limit() - others >= of.promised(state, r)
                        })
                },
            },
        ]
    }

    fn each_step(&self) -> Vec<StepLaw<Self>> {
        vec![StepLaw {
            name: "GrantsOnlyGrow",
            holds: |of, before, after| {
                let is_new = after.pool.drawn() == 0 && of.measure(after) == 0;
                is_new || (0..of.regions).all(|r| before.granted(r) <= after.granted(r))
            },
        }]
    }

    fn sometimes(&self) -> Vec<Law<Self>> {
        vec![
            Law {
                name: "a hand-back that was applied",
                holds: |_, state| {
                    state
                        .pool
                        .regions
                        .values()
                        .any(|region| region.returned > 0)
                },
            },
            Law {
                name: "all regions active since the first instant",
                holds: |_, state| state.regions.iter().all(|region| region.is_early),
            },
            Law {
                name: "a hand-back from another window",
                holds: |_, state| {
                    let mut backs = state.regions.iter().filter_map(|region| region.back);
                    backs.any(|(tag, _)| tag.start != state.pool.start)
                },
            },
        ]
    }
}
