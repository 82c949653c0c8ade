//! `AsyncLeasing`, `LowWater` and `Reset`: ask, grant and reply as separate steps.
//!
//! The clock stands still within a window, so that a grant is late exactly if a window has ended meanwhile: since the node
//! asked ([`LateBy::Send`], what the ledger does with such a clock), or since the store granted ([`LateBy::Grant`]). The latter stands for
//! requests that were sent an instant before the edge; no clock could give a node more than that, and the
//! ledger must hold its bound even so.

use tk_core::{FixedWindowState, Tag};
use tk_twotier::{Ask, LeaseLedger, LeaseRules, Spend, Verdict};

use crate::explore::{Law, System, Visit};
use crate::world::{self, NOW, Reply, Store, WALL, WINDOW};

/// From when on a window's end makes a grant late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the specification has these two")]
pub enum LateBy {
    /// From the request on.
    Send,
    /// From the grant on.
    Grant,
}

/// What is said of resets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the specification has these")]
pub enum Resets {
    /// There are none.
    Never,
    /// The node gives up what it has when the store has confirmed, as it should.
    ClearWhenConfirmed,
    /// It does so when it sends the reset.
    ClearWhenSent,
}

/// A fleet whose messages take their time.
#[derive(Clone, Debug)]
pub struct Apart {
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
    /// When a grant is late.
    pub late_by: LateBy,
    /// Whether what is trimmed off a grant reaches the store, or is lost on the way.
    pub hands_back: bool,
    /// Whether the key is reset.
    pub resets: Resets,
    /// The low-water mark.
    pub low_water: u64,
    /// Leases that a node may have in flight if its ledger lets it.
    pub flights: usize,
    /// Whether the rules are broken on purpose, so that only the bound is claimed.
    pub is_broken: bool,
    /// Whether the bound is about what was admitted since the last reset.
    pub counts_since: bool,
}

/// Its state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    nodes: Vec<Node>,
    count: FixedWindowState,
    admitted: u64,
    /// What was admitted since the last reset was confirmed or the window began; 0 while the next is going on.
    since: u64,
    reset: Option<(usize, Stage)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stage {
    Sent,
    Done,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Node {
    ledger: LeaseLedger,
    mail: Vec<Mail>,
}

/// A lease on its way, and its answer once there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Mail {
    ask: Ask,
    reply: Option<Reply>,
}

impl Node {
    /// What is held, and granted on the way.
    fn outstanding(&self) -> u64 {
        let granted = self.mail.iter().filter_map(|mail| mail.reply);
        self.ledger.credits() + granted.map(|reply| reply.amount).sum::<u64>()
    }

    /// What was granted in this window and will be in time.
    fn on_its_way(&self) -> u64 {
        let timely = self.mail.iter().filter(|mail| mail.ask.sent() == NOW);
        let replies = timely.filter_map(|mail| mail.reply);
        replies
            .filter(|reply| reply.is_own == [true, true])
            .map(|reply| reply.amount)
            .sum()
    }

    fn has_late_grant(&self) -> bool {
        (self.mail.iter()).any(|mail| mail.reply.is_some() && mail.ask.sent() != NOW)
    }
}

impl State {
    fn admit(&mut self, units: u64) {
        self.admitted += units;
        if self.reset.is_none() {
            self.since += units;
        }
    }

    fn is_full(&self, of: &Apart) -> bool {
        self.count.used + of.rules.batch() > of.store.limit()
    }
}

impl Apart {
    /// Requests come, are served from credits or wait, and lose patience.
    fn requests(&self, state: &State, node: usize, visit: Visit<'_, State>) {
        let name = node + 1;
        let mut next = state.clone();
        match next.nodes[node].ledger.spend(NOW, 1) {
            Spend::Served(_) => {
                next.admit(1);
                visit(format_args!("node {name} spends 1"), self.tidy(next));
            }
            _ if next.nodes[node].ledger.waiting() == 0 => {
                next.nodes[node].ledger.join(0, 1);
                visit(
                    format_args!("a request waits at node {name}"),
                    self.tidy(next),
                );
            }
            _ => {}
        }
        let mut next = state.clone();
        if next.nodes[node].ledger.leave(0) {
            visit(
                format_args!("the request at node {name} gives up"),
                self.tidy(next),
            );
        }
        let mut next = state.clone();
        if let Some(Verdict::Served(_)) = next.nodes[node].ledger.wake(NOW, 0)
            && state.nodes[node].ledger.credits() > 0
        {
            next.admit(1);
            visit(
                format_args!("the request at node {name} wakes and spends 1"),
                self.tidy(next),
            );
        }
    }

    fn ask(&self, state: &State, node: usize, visit: Visit<'_, State>) {
        let mut next = state.clone();
        let Node { ledger, mail } = &mut next.nodes[node];
        if mail.len() >= self.flights {
            return;
        }
        if let Some(ask) = ledger.begin(&self.rules, NOW) {
            mail.push(Mail { ask, reply: None });
            visit(
                format_args!("node {} asks for {}", node + 1, ask.want()),
                self.tidy(next),
            );
        }
    }

    /// The store answers. A denial arrives in the same step.
    fn answer(&self, state: &State, node: usize, place: usize, visit: Visit<'_, State>) {
        let mut next = state.clone();
        let ask = next.nodes[node].mail[place].ask;
        let reply = self.store.grant(&mut next.count, WALL, &ask);
        next.nodes[node].mail[place].reply = Some(Reply { edge: 0, ..reply });
        if reply.amount > 0 {
            let amount = reply.amount;
            visit(
                format_args!("the store grants {amount} to node {}", node + 1),
                self.tidy(next),
            );
        } else {
            self.receive(&mut next, node, place, reply);
            visit(
                format_args!("the store denies node {}", node + 1),
                self.tidy(next),
            );
        }
    }

    fn receive(&self, state: &mut State, node: usize, place: usize, reply: Reply) {
        let Node { ledger, mail } = &mut state.nodes[node];
        let ask = mail.remove(place).ask;
        let grant = self.store.open(&reply);
        let settlement = ledger.granted(&self.rules, ask, NOW, WALL, &grant);
        let served = world::served(&settlement, 1);
        if let Some(back) = settlement.hand_back
            && (self.hands_back || back.amount == reply.amount)
        {
            let _ = self
                .store
                .take_back(&mut state.count, back.tag, back.amount);
        }
        state.admit(served);
    }

    fn mail(&self, state: &State, node: usize, visit: Visit<'_, State>) {
        for (place, mail) in state.nodes[node].mail.iter().enumerate() {
            let Some(reply) = mail.reply else {
                self.answer(state, node, place, visit);
                continue;
            };
            let mut next = state.clone();
            self.receive(&mut next, node, place, reply);
            let units = next.admitted - state.admitted;
            let late = if mail.ask.sent() == NOW {
                ""
            } else {
                ", late,"
            };
            visit(
                format_args!(
                    "{}{late} reaches node {} and serves {units}",
                    reply.amount,
                    node + 1
                ),
                self.tidy(next),
            );
        }
    }

    fn clear(&self, state: &mut State, node: usize) {
        state.nodes[node].ledger.reset(&self.rules);
    }

    fn reset(&self, state: &State, visit: Visit<'_, State>) {
        let mut next = state.clone();
        match state.reset {
            None => {
                for node in 0..self.nodes {
                    let mut next = state.clone();
                    next.reset = Some((node, Stage::Sent));
                    next.since = 0;
                    if self.resets == Resets::ClearWhenSent {
                        self.clear(&mut next, node);
                    }
                    visit(
                        format_args!("node {} sends a reset", node + 1),
                        self.tidy(next),
                    );
                }
            }
            Some((node, Stage::Sent)) => {
                next.reset = Some((node, Stage::Done));
                next.admitted = 0;
                next.count = FixedWindowState::default();
                for reply in replies(&mut next) {
                    reply.is_own[1] = false;
                }
                visit(format_args!("the store resets the key"), self.tidy(next));
            }
            Some((node, Stage::Done)) => {
                next.reset = None;
                next.since = 0;
                if self.resets == Resets::ClearWhenConfirmed {
                    self.clear(&mut next, node);
                }
                visit(
                    format_args!("node {} learns that the key is reset", node + 1),
                    self.tidy(next),
                );
            }
        }
    }

    fn roll(&self, state: &mut State) {
        state.count = self.store.rolled(state.count);
        state.admitted = 0;
        state.since = 0;
        for node in &mut state.nodes {
            let _ = node.ledger.expire(NOW + WINDOW);
            let stays = |mail: &Mail| self.late_by == LateBy::Grant && mail.reply.is_none();
            // Rule 1 lets one lease be in flight, so what is said of it is said of the ledger.
            if !node.mail.iter().any(stays) {
                world::date_back(&mut node.ledger);
            }
            for mail in &mut node.mail {
                if !stays(mail) {
                    mail.ask = world::dated_back(mail.ask);
                }
                if let Some(reply) = &mut mail.reply {
                    reply.is_own[0] = false;
                }
            }
        }
    }

    fn tidy(&self, mut state: State) -> State {
        state.count = self.store.tidied(state.count, WALL);
        for node in &mut state.nodes {
            // A grant that is late by its request is dropped, whatever its tag says.
            let drops = self.late_by == LateBy::Send && self.resets == Resets::Never;
            for mail in node
                .mail
                .iter_mut()
                .filter(|mail| drops && mail.ask.sent() != NOW)
            {
                if let Some(reply) = &mut mail.reply {
                    reply.is_own[0] = false;
                }
            }
            let _ = node.ledger.expire(NOW);
            if self.carries_over {
                node.ledger.forget_origins();
            } else {
                node.ledger.retag(|_| Tag::default());
            }
        }
        state
    }
}

fn replies(state: &mut State) -> impl Iterator<Item = &mut Reply> {
    let mail = state.nodes.iter_mut().flat_map(|node| &mut node.mail);
    mail.filter_map(|mail| mail.reply.as_mut())
}

impl System for Apart {
    type State = State;

    fn starts(&self) -> Vec<State> {
        vec![State {
            nodes: vec![Node::default(); self.nodes],
            count: FixedWindowState::default(),
            admitted: 0,
            since: 0,
            reset: None,
        }]
    }

    fn steps(&self, state: &State, visit: Visit<'_, State>) {
        for node in 0..self.nodes {
            self.requests(state, node, visit);
            self.ask(state, node, visit);
            self.mail(state, node, visit);
        }
        if self.resets != Resets::Never {
            self.reset(state, visit);
        }
        let mut next = state.clone();
        self.roll(&mut next);
        visit(format_args!("the window ends"), self.tidy(next));
    }

    fn measure(&self, state: &State) -> u64 {
        if self.counts_since {
            state.since
        } else {
            state.admitted
        }
    }

    fn always(&self) -> Vec<Law<Self>> {
        let mut laws = Vec::new();
        if self.is_broken {
            return laws;
        }
        if self.is_coupled && self.resets == Resets::Never {
            laws.push(Law {
                name: "CreditsAreBacked",
                holds: |_, state| {
                    let held = |node: &Node| node.ledger.credits() + node.on_its_way();
                    state.admitted + state.nodes.iter().map(held).sum::<u64>() <= state.count.used
                },
            });
        } else if self.low_water > 0 {
            laws.push(Law {
                name: "HoldingsStayWithinBatchAndLowWater",
                holds: |of, state| {
                    let most = of.rules.batch() + of.low_water;
                    state.nodes.iter().all(|node| node.ledger.credits() <= most)
                },
            });
        }
        if self.low_water == 0 && self.resets == Resets::Never {
            laws.push(Law {
                name: "OutstandingWithinBatch",
                holds: |of, state| {
                    state
                        .nodes
                        .iter()
                        .all(|node| node.outstanding() <= of.rules.batch())
                },
            });
            if !self.is_coupled {
                laws.push(Law {
                    name: "HoldingsStayBelowBatch",
                    holds: |of, state| {
                        state
                            .nodes
                            .iter()
                            .all(|node| node.ledger.credits() < of.rules.batch())
                    },
                });
            }
        }
        laws
    }

    fn sometimes(&self) -> Vec<Law<Self>> {
        vec![
            Law {
                name: "a request waits at every node",
                holds: |_, state| state.nodes.iter().all(|node| node.ledger.waiting() > 0),
            },
            Law {
                name: "a grant that is late",
                holds: |_, state| state.nodes.iter().any(Node::has_late_grant),
            },
            Law {
                name: "a lease that will be denied",
                holds: |of, state| {
                    state.is_full(of)
                        && state
                            .nodes
                            .iter()
                            .any(|node| node.mail.iter().any(|mail| mail.reply.is_none()))
                },
            },
        ]
    }
}
