//! `DistributedLeasing` and `WindowCoupledLeasing`: a lease as one step.

use tk_core::{FixedWindowState, Tag};
use tk_twotier::{LeaseLedger, LeaseRules, Spend};

use crate::explore::{Law, System, Visit};
use crate::world::{self, NOW, Store, WALL, WINDOW};

/// A fleet whose leases take no time.
#[derive(Clone, Debug)]
pub struct Atomic {
    /// How many nodes.
    pub nodes: usize,
    /// What each of them does.
    pub rules: LeaseRules,
    /// Whether credits end with their window, as far as the claims go.
    pub is_coupled: bool,
    /// Whether credits really outlive it.
    pub carries_over: bool,
    /// What they share.
    pub store: Store,
    /// What requests cost.
    pub costs: &'static [u64],
}

/// Its state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    nodes: Vec<LeaseLedger>,
    count: FixedWindowState,
    admitted: u64,
}

impl State {
    fn held(&self) -> u64 {
        self.nodes.iter().map(LeaseLedger::credits).sum()
    }
}

impl Atomic {
    fn carry(&self) -> u64 {
        self.nodes as u64 * (self.rules.batch() - 1)
    }

    /// A request of `cost` at `node`; how it was served, or nothing if it was not.
    fn request(&self, state: &mut State, node: usize, cost: u64) -> Option<&'static str> {
        let ledger = &mut state.nodes[node];
        if let Spend::Served(_) = ledger.spend(NOW, cost) {
            state.admitted += cost;
            return Some("spends");
        }
        ledger.join(0, cost);
        let ask = ledger.begin(&self.rules, NOW)?;
        let reply = self.store.grant(&mut state.count, WALL, &ask);
        let grant = self.store.open(&reply);
        let settlement = ledger.granted(&self.rules, ask, NOW, WALL, &grant);
        let served = world::served(&settlement, cost);
        state.admitted += served;
        (served > 0).then_some("leases a batch and spends")
    }

    fn roll(&self, state: &mut State) {
        state.count = self.store.rolled(state.count);
        state.admitted = 0;
        for ledger in &mut state.nodes {
            let _ = ledger.expire(NOW + WINDOW);
            world::date_back(ledger);
        }
    }

    fn tidy(&self, mut state: State) -> State {
        for ledger in &mut state.nodes {
            if self.carries_over {
                ledger.forget_origins();
            } else {
                ledger.retag(|_| Tag::default());
            }
        }
        state
    }
}

impl System for Atomic {
    type State = State;

    fn starts(&self) -> Vec<State> {
        vec![State {
            nodes: vec![LeaseLedger::new(); self.nodes],
            count: FixedWindowState::default(),
            admitted: 0,
        }]
    }

    fn steps(&self, state: &State, visit: Visit<'_, State>) {
        for node in 0..self.nodes {
            for cost in self.costs {
                let mut next = state.clone();
                if let Some(how) = self.request(&mut next, node, *cost) {
                    visit(
                        format_args!("node {} {how} {cost}", node + 1),
                        self.tidy(next),
                    );
                }
            }
        }
        let mut next = state.clone();
        self.roll(&mut next);
        visit(format_args!("the window ends"), self.tidy(next));
    }

    fn measure(&self, state: &State) -> u64 {
        state.admitted
    }

    fn always(&self) -> Vec<Law<Self>> {
        if self.is_coupled {
            return vec![Law {
                name: "CreditsAreBacked",
                // SPEC: WindowCoupledLeasing!CreditsAreBacked
                holds: |_, state| state.admitted + state.held() == state.count.used,
            }];
        }
        vec![
            Law {
                name: "HoldingsStayBelowBatch",
                holds: |of, state| {
                    state
                        .nodes
                        .iter()
                        .all(|ledger| ledger.credits() < of.rules.batch())
                },
            },
            Law {
                name: "CreditsAreBackedOrCarried",
                // SPEC: DistributedLeasing!CreditsAreBackedOrCarried
                holds: |of, state| state.admitted + state.held() <= state.count.used + of.carry(),
            },
        ]
    }

    fn sometimes(&self) -> Vec<Law<Self>> {
        vec![
            Law {
                name: "everybody is denied",
                holds: |of, state| {
                    state.held() == 0
                        && !of
                            .costs
                            .iter()
                            .any(|cost| of.request(&mut state.clone(), 0, *cost).is_some())
                },
            },
            Law {
                name: "a node holds credits that it leased",
                holds: |of, state| of.rules.batch() == 1 || state.held() > 0,
            },
        ]
    }
}
