//! Requests come, are served, and leave.

use tk_twotier::{Spend, Verdict, Waiter};

use super::{Caller, Event, Fleet, Step};
use crate::simulation::{demand::Phase, store::L2};

impl<T: L2> Fleet<'_, T> {
    /// The demand at a node changes, until it changes again.
    pub(super) fn shift(&mut self, who: usize) {
        let phase = Phase::draw(&mut self.random, self.plan, self.now);
        self.nodes[who].phase = phase;
        self.nodes[who].phases += 1;
        let end = Phase::end(&mut self.random, self.plan, self.now);
        self.timeline.plan(end, Event::Shift { who });
        self.expect_request(who);
    }

    fn expect_request(&mut self, who: usize) {
        let node = &mut self.nodes[who];
        if let Some(gap) = node.phase.gap(&mut self.random) {
            let phase = node.phases;
            self.timeline
                .plan(self.now + gap, Event::Request { who, phase });
        }
    }

    pub(super) fn request(&mut self, who: usize, phase: u64) -> Step {
        if self.nodes[who].phases != phase {
            return Ok(());
        }
        self.expect_request(who);
        if !self.nodes[who].is_up {
            return Ok(());
        }
        self.counts.requests += 1;
        let is_dear = self.plan.dearest > 1 && self.random.chance(20);
        let dearest = if is_dear { self.plan.dearest } else { 1 };
        let cost = self.random.within(1, dearest);
        let node = &mut self.nodes[who];
        match node.ledger.spend(node.clocks.monotonic(self.now), cost) {
            Spend::Served(_) => self.admit(who, cost, "serves")?,
            // Some only look at what is at hand.
            _ if !self.plan.is_hungry && self.random.chance(10) => return Ok(()),
            _ => self.wait(who, cost),
        }
        self.ask(who);
        Ok(())
    }

    fn wait(&mut self, who: usize, cost: u64) {
        let waiter = self.nodes[who].wait(cost);
        self.trace.note(self.now, || {
            format!("node {who}: request {waiter} waits for {cost}")
        });
        if self.random.chance(30) {
            let patience = self.random.within(1, self.plan.patience);
            let caller = self.caller(who);
            self.timeline
                .plan(self.now + patience, Event::Leave { caller, waiter });
        }
    }

    pub(super) fn leave(&mut self, caller: Caller, waiter: Waiter) {
        if self.is_gone(caller) {
            return;
        }
        let node = &mut self.nodes[caller.who];
        if node.ledger.leave(waiter) {
            let _ = node.told(waiter);
            self.counts.left += 1;
            self.trace.note(self.now, || {
                format!("node {}: request {waiter} leaves", caller.who)
            });
        }
    }

    /// A waiter is told.
    pub(super) fn tell(&mut self, who: usize, waiter: Waiter, verdict: Verdict) -> Step {
        let Some(cost) = self.nodes[who].told(waiter) else {
            return Err(format!(
                "node {who} told request {waiter}, which does not wait"
            ));
        };
        match verdict {
            Verdict::Served(_) => return self.admit(who, cost, "serves those who waited"),
            Verdict::Denied(_) => self.counts.denied += 1,
            _ => self.counts.failed += 1,
        }
        self.trace.note(self.now, || {
            format!("node {who}: request {waiter} is told {verdict:?}")
        });
        Ok(())
    }

    /// `cost` was charged at `who`, now.
    pub(super) fn admit(&mut self, who: usize, cost: u64, how: &str) -> Step {
        self.counts.admitted += cost;
        let judged = self.judge.admit(self.now, cost);
        let left = self.nodes[who].ledger.credits();
        self.trace.note(self.now, || {
            format!("node {who}: {how}: {cost}, {left} left")
        });
        judged.map_err(|excess| {
            format!(
                "{} units were admitted since {}, {} are allowed",
                excess.admitted, excess.since, excess.bound
            )
        })
    }

    pub(super) fn wake(&mut self, caller: Caller, waiter: Waiter) -> Step {
        if self.is_gone(caller) {
            return Ok(());
        }
        let node = &mut self.nodes[caller.who];
        let now = node.monotonic(self.now);
        if let Some(verdict) = node.ledger.wake(now, waiter) {
            self.tell(caller.who, waiter, verdict)?;
        }
        self.ask(caller.who);
        Ok(())
    }
}
