//! Leases are asked for, granted, applied and handed back.

use tk_core::{Grant, Tag};
use tk_twotier::{Fault, HandBack, Settlement, Verdict};

use super::{Call, Event, Fleet, Step};
use crate::simulation::store::L2;

impl<T: L2> Fleet<'_, T> {
    /// Sends a request for a lease if one is due.
    pub(super) fn ask(&mut self, who: usize) {
        let caller = self.caller(who);
        let node = &mut self.nodes[who];
        let now = node.monotonic(self.now);
        let rules = node.rules(self.rules, now);
        let Some(ask) = node.ledger.begin(&rules, now) else {
            return;
        };
        node.calls += 1;
        let number = node.calls;
        let call = Call {
            caller,
            number,
            ask,
        };
        self.counts.leases += 1;
        self.trace.note(self.now, || {
            let (want, least) = (ask.want(), ask.at_least());
            format!("node {who}: call {number} asks for {want}, at least {least}")
        });
        let deadline = self.now + self.plan.deadline;
        self.timeline.plan(deadline, Event::Deadline(call));
        if self.arrives(|| format!("node {who}: call {number}")) {
            self.deliver(Event::Lease(call));
        }
    }

    /// The request reaches the store, which answers.
    pub(super) fn lease(&mut self, call: Call) -> Step {
        let grant = self
            .store
            .lease(self.now, call.ask.want(), call.ask.at_least())?;
        let (who, number) = (call.caller.who, call.number);
        self.trace.note(self.now, || match &grant {
            Some(grant) => format!(
                "store: grants {} to call {number} of node {who}, for {} us",
                grant.amount,
                grant.span.as_micros()
            ),
            None => format!("store: is down for call {number} of node {who}"),
        });
        if grant.is_none() && self.random.chance(50) {
            return Ok(());
        }
        if self.arrives(|| format!("store: answer to call {number} of node {who}")) {
            self.deliver(Event::Reply(call, grant));
            if self.plan.network.doubles(&mut self.random) {
                self.counts.doubled += 1;
                self.deliver(Event::Reply(call, grant));
            }
        }
        Ok(())
    }

    /// The answer reaches the node.
    pub(super) fn reply(&mut self, call: Call, grant: Option<Grant>) -> Step {
        if self.is_gone(call.caller) {
            return Ok(());
        }
        let who = call.caller.who;
        self.trace.note(self.now, || {
            format!("node {who}: receives the answer to call {}", call.number)
        });
        let node = &mut self.nodes[who];
        let (now, wall) = (node.monotonic(self.now), node.wall(self.now));
        let rules = node.rules(self.rules, now);
        let settlement = match grant {
            Some(grant) => node.ledger.granted(&rules, call.ask, now, wall, &grant),
            None => node.ledger.failed(&rules, call.ask, now),
        };
        let is_void = call.number <= node.void;
        let serves = |(_, verdict): &(_, Verdict)| matches!(verdict, Verdict::Served(_));
        if is_void && settlement.verdicts.iter().any(serves) {
            return Err(format!(
                "node {who} used a grant that was asked for before the reset"
            ));
        }
        if self.plan.fault == Some(Fault::ChargeOnWake) {
            self.plan_wakes(call);
        }
        self.settle(who, settlement)
    }

    pub(super) fn deadline(&mut self, call: Call) -> Step {
        if self.is_gone(call.caller) {
            return Ok(());
        }
        let who = call.caller.who;
        let node = &mut self.nodes[who];
        let now = node.monotonic(self.now);
        let rules = node.rules(self.rules, now);
        let settlement = node.ledger.failed(&rules, call.ask, now);
        self.settle(who, settlement)
    }

    fn settle(&mut self, who: usize, settlement: Settlement) -> Step {
        self.counts.late += u64::from(settlement.late > 0);
        for (waiter, verdict) in settlement.verdicts {
            self.tell(who, waiter, verdict)?;
        }
        if let Some(back) = settlement.hand_back {
            self.send_back(who, back);
        }
        // A refill that was denied is not asked for again at once: the next request will see to it.
        if self.nodes[who].ledger.waiting() > 0 {
            self.ask(who);
        }
        Ok(())
    }

    fn plan_wakes(&mut self, call: Call) {
        let caller = call.caller;
        for waiter in self.nodes[caller.who].waiting() {
            let delay = self.plan.network.delay(&mut self.random);
            self.timeline
                .plan(self.now + delay, Event::Wake { caller, waiter });
        }
    }

    /// A node hands back what it holds.
    pub(super) fn idle(&mut self, who: usize) {
        let node = &mut self.nodes[who];
        let now = node.monotonic(self.now);
        for back in node.ledger.hand_back(&self.rules, now) {
            self.send_back(who, back);
        }
    }

    fn send_back(&mut self, who: usize, back: HandBack) {
        let HandBack { tag, amount, .. } = back;
        self.trace
            .note(self.now, || format!("node {who}: hands back {amount}"));
        if self.arrives(|| format!("node {who}: hand-back of {amount}")) {
            self.deliver(Event::Back { tag, amount });
        }
    }

    pub(super) fn back(&mut self, tag: Tag, amount: u64) -> Step {
        let taken = self.store.give_back(self.now, tag, amount)?;
        self.counts.taken_back += taken;
        self.counts.refused += amount - taken;
        self.trace.note(self.now, || {
            format!("store: takes back {taken} of {amount}")
        });
        Ok(())
    }

    /// Whether a message is not lost.
    fn arrives(&mut self, what: impl FnOnce() -> String) -> bool {
        let is_lost = self.plan.network.loses(&mut self.random);
        if is_lost {
            self.counts.lost += 1;
            self.trace.note(self.now, || format!("{} is lost", what()));
        }
        !is_lost
    }

    pub(super) fn deliver(&mut self, event: Event) {
        let delay = self.plan.network.delay(&mut self.random);
        self.timeline.plan(self.now + delay, event);
    }
}
