//! `FederatedLeasing`: leasing twice over, from one budget to regions and from a region to its nodes.
//!
//! A region is a shipping ledger too. It leases chunks from the store that keeps the budget, with rules that end
//! its credits with their window, and its nodes are served from these credits. A region takes a chunk before any of its nodes asks,
//! which to the ledger is a grant whose waiter has left: coupled, it is kept whole.

use tk_core::FixedWindowState;
use tk_twotier::{Ask, LeaseLedger, LeaseRules, Spend};

use crate::explore::{Law, System, Visit};
use crate::world::{self, NOW, Reply, Store, WALL, WINDOW};

/// Regions that share one budget, and the fleets in them.
#[derive(Clone, Debug)]
pub struct Federated {
    /// How many regions.
    pub regions: usize,
    /// How many nodes in each of them.
    pub fleet: usize,
    /// How a region takes its shares: its batch is a chunk.
    pub region_rules: LeaseRules,
    /// Whether a region's share outlives its window, which is the mistake.
    pub shares_carried: bool,
    /// What each node does.
    pub rules: LeaseRules,
    /// Whether nodes' credits end with their window.
    pub is_coupled: bool,
    /// What keeps the budget.
    pub store: Store,
}

/// Its state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    count: FixedWindowState,
    shares: Vec<LeaseLedger>,
    /// Region by region.
    nodes: Vec<LeaseLedger>,
    admitted: u64,
}

impl State {
    fn held(&self) -> u64 {
        let ledgers = self.shares.iter().chain(&self.nodes);
        ledgers.map(LeaseLedger::credits).sum()
    }
}

impl Federated {
    fn carry(&self) -> u64 {
        self.regions as u64 * self.fleet as u64 * (self.rules.batch() - 1)
    }

    /// A region that has nothing left takes a chunk, or what is left of the budget; how much.
    fn take(&self, state: &mut State, region: usize) -> Option<u64> {
        let share = &mut state.shares[region];
        share.join(0, 1);
        let ask = share.begin(&self.region_rules, NOW)?;
        share.leave(0);
        let reply = self.store.grant(&mut state.count, WALL, &ask);
        let grant = self.store.open(&reply);
        let _ = share.granted(&self.region_rules, ask, NOW, WALL, &grant);
        (share.credits() > 0).then(|| share.credits())
    }

    /// A request of one unit at `node`; how it was served, or nothing if it was not.
    fn request(&self, state: &mut State, node: usize) -> Option<&'static str> {
        let ledger = &mut state.nodes[node];
        if let Spend::Served(_) = ledger.spend(NOW, 1) {
            state.admitted += 1;
            return Some("spends");
        }
        ledger.join(0, 1);
        let ask = ledger.begin(&self.rules, NOW)?;
        let reply = lend(&mut state.shares[node / self.fleet], &ask);
        let grant = self.store.open(&reply);
        let settlement = ledger.granted(&self.rules, ask, NOW, WALL, &grant);
        let served = world::served(&settlement, 1);
        state.admitted += served;
        (served > 0).then_some("leases a batch from its region and spends")
    }

    fn roll(&self, state: &mut State) {
        state.count = self.store.rolled(state.count);
        state.admitted = 0;
        for ledger in state.shares.iter_mut().chain(&mut state.nodes) {
            let _ = ledger.expire(NOW + WINDOW);
            world::date_back(ledger);
        }
    }

    /// Nothing is handed back here, so that nobody looks at a tag.
    fn tidy(&self, mut state: State) -> State {
        for share in &mut state.shares {
            untag(share, self.shares_carried);
        }
        for node in &mut state.nodes {
            untag(node, !self.is_coupled);
        }
        state
    }
}

/// What a region's store grants from its share. It keeps the window itself, so the span is the window's.
fn lend(share: &mut LeaseLedger, ask: &Ask) -> Reply {
    let left = share.credits().min(ask.want());
    let amount = if left < ask.at_least() { 0 } else { left };
    let served = share.spend(NOW, amount);
    debug_assert!(matches!(served, Spend::Served(_)), "the share covers it");
    Reply {
        amount,
        span: WINDOW,
        edge: (WALL + WINDOW).as_micros(),
        is_own: [true, true],
    }
}

fn untag(ledger: &mut LeaseLedger, is_carried: bool) {
    if is_carried {
        ledger.forget_origins();
    } else {
        ledger.retag(|_| tk_core::Tag::default());
    }
}

impl System for Federated {
    type State = State;

    fn starts(&self) -> Vec<State> {
        vec![State {
            count: FixedWindowState::default(),
            shares: vec![LeaseLedger::new(); self.regions],
            nodes: vec![LeaseLedger::new(); self.regions * self.fleet],
            admitted: 0,
        }]
    }

    fn steps(&self, state: &State, visit: Visit<'_, State>) {
        for region in 0..self.regions {
            let mut next = state.clone();
            if let Some(chunk) = self.take(&mut next, region) {
                visit(
                    format_args!("region {} takes {chunk}", region + 1),
                    self.tidy(next),
                );
            }
        }
        for node in 0..state.nodes.len() {
            let mut next = state.clone();
            if let Some(how) = self.request(&mut next, node) {
                let (region, number) = (node / self.fleet + 1, node % self.fleet + 1);
                visit(
                    format_args!("node {number} of region {region} {how} 1"),
                    self.tidy(next),
                );
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
        vec![Law {
            name: "SharesAreBackedOrCarried",
            // SPEC: FederatedLeasing!SharesAreBackedOrCarried
            holds: |of, state| {
                let carry = if of.is_coupled { 0 } else { of.carry() };
                state.admitted + state.held() <= state.count.used + carry
            },
        }]
    }

    fn sometimes(&self) -> Vec<Law<Self>> {
        vec![
            Law {
                name: "the budget is taken and nobody holds any of it",
                holds: |of, state| state.count.used == of.store.limit() && state.held() == 0,
            },
            Law {
                name: "a region has a share when there is nothing left for another",
                holds: |of, state| {
                    let shares = state.shares.iter().map(LeaseLedger::credits);
                    of.regions == 1
                        || (state.count.used == of.store.limit()
                            && shares.clone().any(|share| share > 0)
                            && shares.clone().any(|share| share == 0))
                },
            },
        ]
    }
}
