//! One node: the shipping ledger, its clocks, and who waits.

use tk_core::{ConfigError, Monotonic, Timestamp};
use tk_twotier::{LeaseLedger, LeaseRules, LeaseSizer, Sizer, SizerOptions, Waiter};

use super::{clocks::Clocks, demand::Phase, plan::Plan};
use crate::Random;

#[derive(Debug)]
pub(super) struct Node {
    pub(super) ledger: LeaseLedger,
    pub(super) clocks: Clocks,
    sizer: Option<LeaseSizer>,
    /// Counts crashes; what was meant for an earlier life finds nobody.
    pub(super) life: u64,
    pub(super) is_up: bool,
    pub(super) phase: Phase,
    /// Requests of an earlier phase no longer come.
    pub(super) phases: u64,
    /// Who waits in the ledger, and for how much.
    waiting: Vec<(Waiter, u64)>,
    waiters: Waiter,
    /// The number of the newest call to the store.
    pub(super) calls: u64,
    /// Calls up to this one were sent before the key was reset.
    pub(super) void: u64,
}

impl Node {
    pub(super) fn new(plan: &Plan, random: &mut Random) -> Result<Self, ConfigError> {
        let origin = random.within(0, 1 << 30);
        let (skew, rate) = (plan.skew(random), plan.rate(random));
        let options = SizerOptions::new(2.0, 1.0).max_size(plan.batch);
        let sizer = LeaseSizer::new(options, plan.limit)?;
        Ok(Self {
            ledger: LeaseLedger::new(),
            clocks: Clocks::new(plan.start, origin, skew, rate),
            sizer: plan.is_adaptive.then_some(sizer),
            life: 0,
            is_up: true,
            phase: Phase::Idle,
            phases: 0,
            waiting: Vec::new(),
            waiters: 0,
            calls: 0,
            void: 0,
        })
    }

    pub(super) fn monotonic(&self, now: u64) -> Monotonic {
        self.clocks.monotonic(now)
    }

    pub(super) fn wall(&self, now: u64) -> Timestamp {
        self.clocks.wall(now)
    }

    /// The rules for the next lease: its size may have been learned.
    pub(super) fn rules(&mut self, rules: LeaseRules, now: Monotonic) -> LeaseRules {
        let Some(sizer) = &mut self.sizer else {
            return rules;
        };
        if let Some(demand) = self.ledger.take_demand(now) {
            sizer.observe(demand);
        }
        rules.sized(sizer.size())
    }

    /// Joins the queue.
    pub(super) fn wait(&mut self, cost: u64) -> Waiter {
        let waiter = self.waiters;
        self.waiters += 1;
        self.ledger.join(waiter, cost);
        self.waiting.push((waiter, cost));
        waiter
    }

    /// What the waiter waited for; `None` if it does not wait.
    pub(super) fn told(&mut self, waiter: Waiter) -> Option<u64> {
        let place = self.waiting.iter().position(|(id, _)| *id == waiter)?;
        Some(self.waiting.swap_remove(place).1)
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = Waiter> {
        self.waiting.iter().map(|(id, _)| *id)
    }

    /// Everything in memory is lost; the clocks run on.
    pub(super) fn crash(&mut self) {
        self.ledger = LeaseLedger::new();
        self.waiting.clear();
        self.life += 1;
        self.is_up = false;
    }
}
