//! `CreditReturn` and `Amnesia`: handing back, resets, and a store that forgets.

use tk_core::{FixedWindowState, Tag};
use tk_twotier::{LeaseLedger, LeaseRules, Spend};

use crate::explore::{Law, System, Visit};
use crate::world::{self, NOW, Store, WALL, WINDOW};

/// A fleet that hands back what it will not spend. Its leases take no time, its hand-backs do.
#[derive(Clone, Debug)]
pub struct Returning {
    /// How many nodes.
    pub nodes: usize,
    /// What each of them does.
    pub rules: LeaseRules,
    /// Whether credits end with their window.
    pub is_coupled: bool,
    /// What they share, and which tags it heeds.
    pub store: Store,
    /// Whether the network may deliver a hand-back again.
    pub repeats: bool,
    /// Whether nodes reset the key.
    pub resets: bool,
    /// How often the store may forget in one window.
    pub restarts: u64,
    /// Whether it may also forget just its last writes, and not know it.
    pub fails_over: bool,
    /// What the bound is about.
    pub about: Bounded,
}

/// What a bound is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the specification has these")]
pub enum Bounded {
    /// All that a window admitted.
    Window,
    /// The same beyond what the store forgot in it.
    BeyondForgotten,
    /// What was admitted since the store last forgot.
    SinceRestart,
}

/// Its state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    nodes: Vec<Node>,
    count: FixedWindowState,
    admitted: u64,
    restarts: u64,
    forgotten: u64,
    since: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Node {
    ledger: LeaseLedger,
    /// Hand-backs under way: one, or two if the ledger sends each twice.
    back: Vec<Back>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Back {
    tag: Tag,
    amount: u64,
}

impl State {
    fn admit(&mut self, units: u64) {
        self.admitted += units;
        self.since += units;
    }
}

impl Returning {
    fn request(&self, state: &State, node: usize, visit: Visit<'_, State>) {
        let name = node + 1;
        let mut next = state.clone();
        let ledger = &mut next.nodes[node].ledger;
        if let Spend::Served(_) = ledger.spend(NOW, 1) {
            next.admit(1);
            return visit(format_args!("node {name} spends 1"), self.tidy(next));
        }
        ledger.join(0, 1);
        let Some(ask) = ledger.begin(&self.rules, NOW) else {
            return;
        };
        let reply = self.store.grant(&mut next.count, WALL, &ask);
        let grant = self.store.open(&reply);
        let settlement = ledger.granted(&self.rules, ask, NOW, WALL, &grant);
        let served = world::served(&settlement, 1);
        if served > 0 {
            next.admit(served);
            visit(
                format_args!("node {name} leases {} and spends 1", reply.amount),
                self.tidy(next),
            );
        }
    }

    fn send(&self, state: &State, node: usize, visit: Visit<'_, State>) {
        let mut next = state.clone();
        let Node { ledger, back } = &mut next.nodes[node];
        if ledger.credits() == 0 || !back.is_empty() {
            return;
        }
        let backs = ledger.hand_back(&self.rules, NOW);
        back.extend(backs.iter().map(|back| Back {
            tag: back.tag,
            amount: back.amount,
        }));
        visit(
            format_args!("node {} hands back what it holds", node + 1),
            self.tidy(next),
        );
    }

    fn arrive(&self, state: &State, node: usize, visit: Visit<'_, State>) {
        let name = node + 1;
        let Some(Back { tag, amount }) = state.nodes[node].back.last().copied() else {
            return;
        };
        let mut next = state.clone();
        let taken = self.store.take_back(&mut next.count, tag, amount);
        if self.repeats {
            visit(
                format_args!(
                    "the store takes back {taken} of {amount} of node {name}, and may be told again"
                ),
                self.tidy(next.clone()),
            );
        }
        next.nodes[node].back.pop();
        visit(
            format_args!("the store takes back {taken} of {amount} of node {name}"),
            self.tidy(next),
        );
        let mut next = state.clone();
        next.nodes[node].back.pop();
        visit(
            format_args!("{amount} handed back by node {name} are lost"),
            self.tidy(next),
        );
    }

    fn reset(&self, state: &State, node: usize, visit: Visit<'_, State>) {
        let mut next = state.clone();
        next.count = FixedWindowState::default();
        next.admitted = 0;
        self.disown(&mut next, 1);
        next.nodes[node].ledger.reset(&self.rules);
        visit(
            format_args!("node {} resets the key", node + 1),
            self.tidy(next),
        );
    }

    fn forget(&self, state: &State, visit: Visit<'_, State>) {
        if state.restarts == self.restarts {
            return;
        }
        let mut next = state.clone();
        next.restarts += 1;
        next.since = 0;
        if self.fails_over {
            for older in 0..=state.count.used {
                let mut next = next.clone();
                next.count.used = older;
                next.forgotten += state.count.used - older;
                visit(
                    format_args!("the store falls back to a count of {older}"),
                    self.tidy(next),
                );
            }
        }
        next.forgotten += state.count.used;
        next.count = FixedWindowState::default();
        self.disown(&mut next, 1);
        visit(format_args!("the store restarts empty"), self.tidy(next));
    }

    fn roll(&self, state: &mut State) {
        state.count = self.store.rolled(state.count);
        (state.admitted, state.since) = (0, 0);
        (state.restarts, state.forgotten) = (0, 0);
        for node in &mut state.nodes {
            let _ = node.ledger.expire(NOW + WINDOW);
            world::date_back(&mut node.ledger);
        }
        self.disown(state, 0);
    }

    /// Tags that were the store's own are of another window, 0, or of another incarnation, 1.
    fn disown(&self, state: &mut State, which: usize) {
        let disowned = |tag: Tag| {
            let mut is_own = self.store.owns(tag);
            is_own[which] = false;
            self.store.tag(is_own, tag.amount())
        };
        for node in &mut state.nodes {
            node.ledger.retag(disowned);
            for back in &mut node.back {
                back.tag = disowned(back.tag);
            }
        }
    }

    /// A tag's amount is never below what is left of the grant, so that it makes no difference how far above it is.
    fn tidy(&self, mut state: State) -> State {
        let batch = |tag: Tag| self.store.tag(self.store.owns(tag), self.rules.batch());
        for node in &mut state.nodes {
            node.ledger.retag(batch);
            for back in &mut node.back {
                back.tag = batch(back.tag);
            }
        }
        state.count = self.store.tidied(state.count, WALL);
        state
    }

    fn outstanding(&self, node: &Node) -> u64 {
        let mut ledger = node.ledger.clone();
        let held = ledger.hand_back(&self.rules, NOW);
        let held = held
            .iter()
            .filter(|back| self.store.owns(back.tag) == [true, true]);
        let back = node
            .back
            .iter()
            .filter(|back| self.store.owns(back.tag) == [true, true]);
        held.map(|back| back.amount).sum::<u64>() + back.map(|back| back.amount).sum::<u64>()
    }
}

impl System for Returning {
    type State = State;

    fn starts(&self) -> Vec<State> {
        vec![State {
            nodes: vec![Node::default(); self.nodes],
            count: FixedWindowState::default(),
            admitted: 0,
            restarts: 0,
            forgotten: 0,
            since: 0,
        }]
    }

    fn steps(&self, state: &State, visit: Visit<'_, State>) {
        // Who does not count since the last restart need not tell states apart by it.
        let counts = self.restarts > 0;
        let visit = &mut |step: std::fmt::Arguments<'_>, mut next: State| {
            next.since *= u64::from(counts);
            visit(step, next);
        };
        for node in 0..self.nodes {
            self.request(state, node, visit);
            self.send(state, node, visit);
            self.arrive(state, node, visit);
            if self.resets {
                self.reset(state, node, visit);
            }
        }
        self.forget(state, visit);
        let mut next = state.clone();
        self.roll(&mut next);
        visit(format_args!("the window ends"), self.tidy(next));
    }

    fn measure(&self, state: &State) -> u64 {
        match self.about {
            Bounded::Window => state.admitted,
            Bounded::BeyondForgotten => state.admitted.saturating_sub(state.forgotten),
            Bounded::SinceRestart => state.since,
        }
    }

    fn always(&self) -> Vec<Law<Self>> {
        if self.restarts > 0 {
            return vec![Law {
                name: "OvershootWithinForgotten",
                // SPEC: Amnesia!OvershootWithinForgotten, Amnesia!OvershootWithinCarryAndForgotten
                holds: |of, state| {
                    let carried = of.nodes as u64 * (of.rules.batch() - 1);
                    let carried = if of.is_coupled { 0 } else { carried };
                    state.admitted <= of.store.limit() + carried + state.forgotten
                },
            }];
        }
        vec![Law {
            name: "OutstandingIsDeducted",
            holds: |of, state| {
                let outstanding = state.nodes.iter().map(|node| of.outstanding(node));
                outstanding.sum::<u64>() <= state.count.used
            },
        }]
    }

    fn sometimes(&self) -> Vec<Law<Self>> {
        vec![
            Law {
                name: "a hand-back that will be taken",
                holds: |of, state| {
                    let mut backs = state.nodes.iter().flat_map(|node| &node.back);
                    backs.any(|back| of.store.owns(back.tag) == [true, true])
                },
            },
            Law {
                name: "a hand-back of another window",
                holds: |of, state| {
                    let mut backs = state.nodes.iter().flat_map(|node| &node.back);
                    backs.any(|back| !of.store.owns(back.tag)[0])
                },
            },
        ]
    }
}
