//! Nodes crash, clocks are set, the store goes down.

use super::{Caller, Event, Fleet, Step};
use crate::simulation::store::L2;

impl<T: L2> Fleet<'_, T> {
    /// Decides what will go wrong, and when.
    pub(super) fn plan_mishaps(&mut self) {
        if self.plan.is_calm {
            return;
        }
        self.plan_some(0, 8, |who| Event::Idle { who });
        self.plan_some(0, 3, |who| Event::Crash { who });
        self.plan_some(0, 3, |who| Event::Step { who });
        self.plan_some(0, 9, |who| Event::Drift { who });
        self.plan_some(0, 2, |_| Event::Down);
        if self.plan.forgets {
            self.plan_some(0, 2, |_| Event::Forget);
            let reset = |who| Event::Reset {
                caller: Caller { who, life: 0 },
            };
            self.plan_some(1, 3, reset);
        }
    }

    fn plan_some(&mut self, least: u64, most: u64, event: impl Fn(usize) -> Event) {
        for _ in 0..self.random.within(least, most) {
            let at = self.random.within(self.plan.start, self.plan.end);
            let who = self.random.within(0, self.plan.nodes - 1);
            // There are at most eight nodes.
            self.timeline.plan(at, event(who as usize));
        }
    }

    pub(super) fn crash(&mut self, who: usize) {
        self.counts.crashes += 1;
        self.trace.note(self.now, || format!("node {who}: crashes"));
        self.nodes[who].crash();
        let pause = self.random.within(1, self.plan.window);
        self.timeline.plan(self.now + pause, Event::Start { who });
    }

    pub(super) fn start(&mut self, who: usize) {
        self.nodes[who].is_up = true;
    }

    pub(super) fn drift(&mut self, who: usize) {
        let rate = self.plan.rate(&mut self.random);
        self.nodes[who].clocks.run_at(self.now, rate);
    }

    pub(super) fn step(&mut self, who: usize) {
        self.counts.steps += 1;
        let skew = self.plan.skew(&mut self.random);
        self.trace.note(self.now, || {
            format!("node {who}: its wall is set to {skew} us from the store's clock")
        });
        self.nodes[who].clocks.set_skew(skew);
    }

    pub(super) fn down(&mut self) {
        if self.store.is_down() {
            return;
        }
        self.counts.outages += 1;
        self.trace.note(self.now, || "store: goes down".into());
        self.store.set_down(true);
        let pause = self.random.within(1, self.plan.window);
        self.timeline.plan(self.now + pause, Event::Up);
    }

    pub(super) fn up(&mut self) {
        self.trace
            .note(self.now, || "store: is back, with its data".into());
        self.store.set_down(false);
    }

    /// The store restarts without its data.
    pub(super) fn forget(&mut self) -> Step {
        self.counts.forgotten += 1;
        self.trace
            .note(self.now, || "store: has lost its data".into());
        self.store.forget()?;
        self.judge.store_forgot(self.now);
        Ok(())
    }

    /// A node's reset of the key reaches the store.
    pub(super) fn reset(&mut self, caller: Caller) -> Step {
        if self.is_gone(caller) || self.store.is_down() {
            return Ok(());
        }
        self.forget()?;
        if !self.plan.network.loses(&mut self.random) {
            self.deliver(Event::HasReset { caller });
        }
        Ok(())
    }

    pub(super) fn has_reset(&mut self, caller: Caller) -> Step {
        if self.is_gone(caller) {
            return Ok(());
        }
        let who = caller.who;
        self.trace
            .note(self.now, || format!("node {who}: has reset the key"));
        let node = &mut self.nodes[who];
        node.ledger.reset(&self.rules);
        node.void = node.calls;
        if node.ledger.credits() > 0 {
            return Err(format!("node {who} kept credits from before the reset"));
        }
        self.ask(who);
        Ok(())
    }
}
