//! `SkewedLeasing`: when does a credit end?
//!
//! Here the clocks move, a tick of a second at a time. The margin of the ledger, a thousandth of the span and a microsecond, is less than a tick, so
//! that it is the specification's `Margin = 0`. Where a node's clock runs slow it loses a quarter of a tick at a time: its rate
//! is off by at most a quarter, which is what the ledger's margin is about. (The specification lets it lose one whole tick, at any time.)

use std::time::Duration;

use tk_core::{FixedWindowState, Monotonic, Tag, Timestamp};
use tk_twotier::{Ask, LeaseLedger, LeaseRules, Spend};

use crate::explore::{Law, System, Visit};
use crate::world::{self, Reply, Store};

/// A tick, and the share of it that a slow clock may lose.
pub const TICK: Duration = Duration::from_secs(1);
const QUARTER: Duration = Duration::from_millis(250);

/// A fleet whose clocks differ.
#[derive(Clone, Debug)]
pub struct Skewed {
    /// How many nodes.
    pub nodes: usize,
    /// What each of them does.
    pub rules: LeaseRules,
    /// Whether credits end with their span.
    pub is_coupled: bool,
    /// What they share.
    pub store: Store,
    /// By how many ticks a wall clock may differ from the store's.
    pub skew: u64,
    /// How many quarters of a tick a monotonic clock may lose in all, at most one in a tick.
    pub drift: u64,
    /// Ticks in a window.
    pub window: u64,
    /// The last tick.
    pub horizon: u64,
}

/// Its state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    now: u64,
    nodes: Vec<Node>,
    count: FixedWindowState,
    admitted: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    /// What its wall clock is ahead of one that is `MaxSkew` behind the store's.
    ahead: u64,
    /// Quarters of a tick that its monotonic clock has lost.
    lost: u64,
    ledger: LeaseLedger,
    mail: Option<(Ask, Option<Reply>)>,
}

impl Skewed {
    /// The store's clock. It starts some windows after the epoch.
    fn time(&self, now: u64) -> Timestamp {
        Timestamp::EPOCH + TICK * (10 * self.window + now) as u32
    }

    fn wall(&self, now: u64, node: &Node) -> Timestamp {
        self.time(now) + TICK * node.ahead as u32 - TICK * self.skew as u32
    }

    fn monotonic(&self, now: u64, node: &Node) -> Monotonic {
        Monotonic::ORIGIN + TICK * (100 + now) as u32 - QUARTER * node.lost as u32
    }

    fn requests(&self, state: &State, place: usize, visit: Visit<'_, State>) {
        let name = place + 1;
        let at = self.monotonic(state.now, &state.nodes[place]);
        let mut next = state.clone();
        let node = &mut next.nodes[place];
        if let Spend::Served(_) = node.ledger.spend(at, 1) {
            next.admitted += 1;
            return visit(
                format_args!("node {name} spends 1 at t={}", state.now),
                self.tidy(next),
            );
        }
        node.ledger.join(0, 1);
        if let Some(ask) = node.ledger.begin(&self.rules, at) {
            node.mail = Some((ask, None));
            visit(
                format_args!("node {name} asks for {} at t={}", ask.want(), state.now),
                self.tidy(next),
            );
        }
    }

    fn mail(&self, state: &State, place: usize, visit: Visit<'_, State>) {
        let (name, now) = (place + 1, state.now);
        let mut next = state.clone();
        match state.nodes[place].mail {
            Some((ask, None)) => {
                let reply = self.store.grant(&mut next.count, self.time(now), &ask);
                if reply.amount == 0 {
                    self.receive(&mut next, place, ask, reply);
                    return visit(
                        format_args!("the store denies node {name} at t={now}"),
                        self.tidy(next),
                    );
                }
                next.nodes[place].mail = Some((ask, Some(reply)));
                let (amount, span) = (reply.amount, reply.span.as_secs());
                visit(
                    format_args!("the store grants {amount} to node {name} at t={now}, for {span}"),
                    self.tidy(next),
                );
            }
            Some((ask, Some(reply))) => {
                self.receive(&mut next, place, ask, reply);
                let kept = if next.admitted > state.admitted {
                    "is used"
                } else {
                    "is dropped"
                };
                visit(
                    format_args!("{} reaches node {name} at t={now} and {kept}", reply.amount),
                    self.tidy(next),
                );
            }
            None => {}
        }
    }

    fn receive(&self, state: &mut State, place: usize, ask: Ask, reply: Reply) {
        let node = &mut state.nodes[place];
        let (at, wall) = (self.monotonic(state.now, node), self.wall(state.now, node));
        let settlement = node
            .ledger
            .granted(&self.rules, ask, at, wall, &self.store.open(&reply));
        node.mail = None;
        // Whoever waited for a late grant gives up here, and may come again.
        let _ = node.ledger.leave(0);
        state.admitted += world::served(&settlement, 1);
    }

    fn tick(&self, state: &State, visit: Visit<'_, State>) {
        if state.now == self.horizon {
            return;
        }
        for slow in 0..1_u32 << self.nodes {
            let mut next = state.clone();
            next.now += 1;
            let is_slow = |place: usize| slow >> place & 1 == 1;
            if (0..self.nodes).any(|place| is_slow(place) && state.nodes[place].lost == self.drift)
            {
                continue;
            }
            for (place, node) in next.nodes.iter_mut().enumerate() {
                node.lost += u64::from(is_slow(place));
            }
            if next.now.is_multiple_of(self.window) {
                next.admitted = 0;
            }
            let edge = if next.now.is_multiple_of(self.window) {
                "the window ends, "
            } else {
                ""
            };
            let slow = if slow == 0 {
                ""
            } else {
                ", and a clock runs slow"
            };
            let now = next.now;
            visit(format_args!("{edge}t={now}{slow}"), self.tidy(next));
        }
    }

    fn tidy(&self, mut state: State) -> State {
        state.count = self.store.tidied(state.count, self.time(state.now));
        for place in 0..self.nodes {
            let at = self.monotonic(state.now, &state.nodes[place]);
            let ledger = &mut state.nodes[place].ledger;
            let _ = ledger.expire(at);
            if self.is_coupled {
                ledger.retag(|_| Tag::default());
            } else {
                ledger.forget_origins();
            }
        }
        state
    }

    /// Whether what a node would still use was granted in the window that the store is in.
    fn ends_in_time(&self, state: &State) -> bool {
        let edge = state.now + self.window - state.now % self.window;
        (0..self.nodes).all(|place| {
            let Some((ask, Some(reply))) = state.nodes[place].mail else {
                return true;
            };
            let mut next = state.clone();
            self.receive(&mut next, place, ask, reply);
            let is_used = next.admitted > state.admitted;
            !is_used || Timestamp::from_micros(reply.edge) == self.time(edge)
        })
    }
}

impl System for Skewed {
    type State = State;

    fn starts(&self) -> Vec<State> {
        let choices = 2 * self.skew + 1;
        let node = |ahead| Node {
            ahead,
            lost: 0,
            ledger: LeaseLedger::new(),
            mail: None,
        };
        (0..choices.pow(self.nodes as u32))
            .map(|choice| State {
                now: 0,
                nodes: (0..self.nodes)
                    .map(|n| node(choice / choices.pow(n as u32) % choices))
                    .collect(),
                count: FixedWindowState::default(),
                admitted: 0,
            })
            .collect()
    }

    fn steps(&self, state: &State, visit: Visit<'_, State>) {
        for place in 0..self.nodes {
            self.requests(state, place, visit);
            self.mail(state, place, visit);
        }
        self.tick(state, visit);
    }

    fn measure(&self, state: &State) -> u64 {
        state.admitted
    }

    fn always(&self) -> Vec<Law<Self>> {
        vec![Law {
            name: "GrantsEndInTime",
            holds: |of, state| of.ends_in_time(state),
        }]
    }

    fn sometimes(&self) -> Vec<Law<Self>> {
        vec![
            Law {
                name: "a grant that arrives in another window",
                holds: |of, state| {
                    let time = of.time(state.now).as_micros();
                    let replies = state.nodes.iter().filter_map(|node| node.mail);
                    replies
                        .filter_map(|(_, reply)| reply)
                        .any(|reply| reply.edge <= time)
                },
            },
            Law {
                name: "a node holds credits in its last tick",
                holds: |of, state| {
                    of.rules.batch() == 1
                        || (state.now % of.window == of.window - 1
                            && state.nodes.iter().any(|node| node.ledger.credits() > 0))
                },
            },
        ]
    }
}
