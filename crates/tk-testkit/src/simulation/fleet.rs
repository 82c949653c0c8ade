//! The fleet, and what happens to it.

mod asking;
mod mishaps;
mod serving;

use tk_core::{ConfigError, Grant, Tag};
use tk_twotier::{Ask, LeaseRules, Waiter};

use super::{
    counts::Counts,
    judge::Judge,
    node::Node,
    plan::Plan,
    store::{L2, SharedStore},
    timeline::Timeline,
    trace::{Trace, Violation},
};
use crate::Random;

/// One run in progress.
pub(super) struct Fleet<'a, T> {
    plan: &'a Plan,
    rules: LeaseRules,
    random: Random,
    /// The reading of the store's clock, in microseconds.
    now: u64,
    timeline: Timeline<Event>,
    store: SharedStore<T>,
    nodes: Vec<Node>,
    judge: Judge,
    trace: Trace,
    counts: Counts,
}

/// A life of a node.
#[derive(Clone, Copy, Debug)]
struct Caller {
    who: usize,
    life: u64,
}

/// A lease that a node has asked for.
#[derive(Clone, Copy, Debug)]
struct Call {
    caller: Caller,
    number: u64,
    ask: Ask,
}

#[derive(Debug)]
enum Event {
    /// A node's demand changes.
    Shift {
        who: usize,
    },
    Request {
        who: usize,
        phase: u64,
    },
    Leave {
        caller: Caller,
        waiter: Waiter,
    },
    /// A request for a lease reaches the store.
    Lease(Call),
    /// The store's answer reaches the node; `None` if it would not answer.
    Reply(Call, Option<Grant>),
    Deadline(Call),
    /// A waiter wakes; only a broken ledger waits for that.
    Wake {
        caller: Caller,
        waiter: Waiter,
    },
    /// A node hands its credits back.
    Idle {
        who: usize,
    },
    /// A hand-back reaches the store.
    Back {
        tag: Tag,
        amount: u64,
    },
    Crash {
        who: usize,
    },
    Start {
        who: usize,
    },
    /// The rate of a node's monotonic clock changes.
    Drift {
        who: usize,
    },
    /// A node's wall is set.
    Step {
        who: usize,
    },
    Down,
    Up,
    /// The store starts without its data.
    Forget,
    /// A node's reset of the key reaches the store.
    Reset {
        caller: Caller,
    },
    /// The confirmation reaches the node.
    HasReset {
        caller: Caller,
    },
}

/// More events than any run of a sound fleet comes near.
const EVENTS_MAX: u64 = 300_000;

/// Why a run must stop: a bound or a promise that was broken.
type Step = Result<(), String>;

impl<'a, T: L2> Fleet<'a, T> {
    /// `has_edges` says whether the strategy's budget begins anew at instants that all nodes share.
    pub(super) fn new(
        plan: &'a Plan,
        has_edges: bool,
        key: T,
        trace: Trace,
    ) -> Result<Self, ConfigError> {
        // Another stream of numbers than the one that drew the plan.
        let mut random = Random::new(plan.seed ^ 0x5eed);
        let nodes = (0..plan.nodes).map(|_| Node::new(plan, &mut random));
        Ok(Self {
            plan,
            rules: plan.rules()?.drops_late(has_edges),
            now: plan.start,
            timeline: Timeline::new(),
            store: SharedStore::new(key),
            nodes: nodes.collect::<Result<_, _>>()?,
            random,
            judge: Judge::new(plan),
            trace,
            counts: Counts::default(),
        })
    }

    pub(super) fn live(mut self) -> Result<Counts, Box<Violation>> {
        self.plan_mishaps();
        for who in 0..self.nodes.len() {
            self.timeline.plan(self.now, Event::Shift { who });
        }
        while let Some((now, event)) = self.timeline.next() {
            if now > self.plan.end {
                break;
            }
            self.now = now;
            self.counts.events += 1;
            let happened = if self.counts.events < EVENTS_MAX {
                self.happen(event)
            } else {
                Err("the fleet does not come to rest".into())
            };
            if let Err(what) = happened {
                self.trace.note(now, || what.clone());
                return Err(Violation::new(self.plan, what, self.trace));
            }
        }
        Ok(self.counted())
    }

    fn happen(&mut self, event: Event) -> Step {
        match event {
            Event::Shift { who } => self.shift(who),
            Event::Request { who, phase } => return self.request(who, phase),
            Event::Leave { caller, waiter } => self.leave(caller, waiter),
            Event::Lease(call) => return self.lease(call),
            Event::Reply(call, grant) => return self.reply(call, grant),
            Event::Deadline(call) => return self.deadline(call),
            Event::Wake { caller, waiter } => return self.wake(caller, waiter),
            Event::Idle { who } => self.idle(who),
            Event::Back { tag, amount } => return self.back(tag, amount),
            Event::Crash { who } => self.crash(who),
            Event::Start { who } => self.start(who),
            Event::Drift { who } => self.drift(who),
            Event::Step { who } => self.step(who),
            Event::Down => self.down(),
            Event::Up => self.up(),
            Event::Forget => return self.forget(),
            Event::Reset { caller } => return self.reset(caller),
            Event::HasReset { caller } => return self.has_reset(caller),
        }
        Ok(())
    }

    /// Whether nobody is left to receive what was meant for `caller`.
    fn is_gone(&self, caller: Caller) -> bool {
        self.nodes[caller.who].life != caller.life
    }

    fn caller(&self, who: usize) -> Caller {
        let life = self.nodes[who].life;
        Caller { who, life }
    }

    fn counted(mut self) -> Counts {
        let stranded = |node: &mut Node| node.ledger.take_stranded();
        self.counts.stranded += self.nodes.iter_mut().map(stranded).sum::<u64>();
        let (above, at) = self.judge.reached();
        self.counts.runs = 1;
        self.counts.above_limit = u64::from(above);
        self.counts.at_bound = u64::from(at);
        if self.plan.is_hungry {
            // The first window began before the run.
            let whole = self.judge.windows.iter().skip(1);
            self.counts.scarcest = whole.map(|sum| sum * 1_000 / self.plan.limit).min();
        }
        self.counts
    }
}
