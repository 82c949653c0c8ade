//! The store's answers, applied.

use tk_core::{Decision, Grant, Monotonic, Timestamp};

#[cfg(feature = "faults")]
use super::Waiter;
use super::{Ask, HandBack, LeaseLedger, LeaseRules, Settlement, Verdict, credits::Credit};

impl LeaseLedger {
    /// The store has answered `ask` with `grant`. `wall` is the reading of this node's wall clock at `now`.
    ///
    /// An answer to anything but the lease in flight, like a reply that is delivered twice, changes nothing.
    pub fn granted(
        &mut self,
        rules: &LeaseRules,
        ask: Ask,
        now: Monotonic,
        wall: Timestamp,
        grant: &Grant,
    ) -> Settlement {
        let Some(is_void) = self.land(rules, &ask) else {
            return Settlement::default();
        };
        let _ = self.expire(now);
        if is_void {
            return self.voided(grant);
        }
        if grant.amount == 0 {
            return self.denied(now, &ask, grant.decision);
        }
        let ends = self.end(rules, &ask, now, wall, grant);
        // SPEC: AsyncLeasing!NeverOverAdmits
        // SPEC: SkewedLeasing!OvershootWithinCarry
        if now >= ends && rules.refuses_late() && !rules.keeps_late() {
            return self.too_late(rules, now, grant.amount);
        }
        self.late = 0;
        self.apply(rules, &ask, now, wall, ends, grant)
    }

    /// The store could not answer `ask`, or will not. Credits at hand are still served.
    pub fn failed(&mut self, rules: &LeaseRules, ask: Ask, now: Monotonic) -> Settlement {
        let mut settlement = Settlement::default();
        if self.land(rules, &ask).is_some() {
            let _ = self.expire(now);
            // Rule 7: credits already leased are served, then the policy decides.
            self.dismiss(now, &mut settlement, |_| Some(Verdict::Failed));
        }
        settlement
    }

    /// `ask` was not sent as it was meant, and nothing was granted: whoever waits for it goes on waiting.
    ///
    /// Returns whether it was void, or nothing if it was not in flight.
    pub(crate) fn withdraw(&mut self, rules: &LeaseRules, ask: Ask) -> Option<bool> {
        self.land(rules, &ask)
    }

    /// Nothing more will be asked for. Whoever waits is served from the credits at hand, or told that there is no answer.
    pub fn abandon(&mut self, now: Monotonic) -> Settlement {
        let mut settlement = Settlement::default();
        let _ = self.expire(now);
        self.dismiss(now, &mut settlement, |_| Some(Verdict::Failed));
        settlement
    }

    /// The lease is no longer in flight; whether it was void, or nothing if it was not in flight.
    fn land(&mut self, rules: &LeaseRules, ask: &Ask) -> Option<bool> {
        if rules.leases_twice() {
            self.flight = None;
            return Some(false);
        }
        let flight = self.flight.take_if(|flight| flight.sent == ask.sent())?;
        Some(flight.is_void)
    }

    fn end(
        &self,
        rules: &LeaseRules,
        ask: &Ask,
        now: Monotonic,
        wall: Timestamp,
        grant: &Grant,
    ) -> Monotonic {
        if rules.ends_by_wall() {
            return now + grant.decision.reset_at.since(wall);
        }
        let start = if rules.ends_from_receipt() {
            now
        } else {
            ask.sent()
        };
        rules.end(start, grant.span)
    }

    /// Rule 4: adds the grant, charges the waiters in the same step, and hands back what may not be carried over.
    fn apply(
        &mut self,
        rules: &LeaseRules,
        ask: &Ask,
        now: Monotonic,
        wall: Timestamp,
        ends: Monotonic,
        grant: &Grant,
    ) -> Settlement {
        let credit = Credit {
            amount: grant.amount,
            ends,
            tag: grant.tag,
        };
        // SPEC: AsyncLeasing!CreditsAreBacked
        self.credits.add(rules, credit);
        self.estimate.0.ends = ends.max(now);
        self.estimate.0.reset_at = wall + ends.since(now);
        self.tally.0.window_ends = self.tally.0.window_ends.max(ends);
        let mut settlement = Settlement::default();
        if !rules.charges_on_wake() {
            self.serve(now, &mut settlement);
        }
        // SPEC: AsyncLeasing!HoldingsStayBelowBatch
        // SPEC: DistributedLeasing!HoldingsStayBelowBatch
        let excess = self.credits.total().saturating_sub(ask.keep());
        let whole = rules.carries_all() || (rules.charges_on_wake() && !self.waiters.is_empty());
        if excess > 0 && !whole {
            settlement.hand_back = Some(self.credits.trim(excess));
        }
        settlement
    }

    /// Rule 8: it may have been granted after the reset, so the store is asked to take it back.
    fn voided(&self, grant: &Grant) -> Settlement {
        let hand_back = HandBack {
            tag: grant.tag,
            amount: grant.amount,
        };
        Settlement {
            hand_back: (grant.amount > 0).then_some(hand_back),
            ..Settlement::default()
        }
    }

    /// Rule 4: dropped. Its waiters stay, to be asked for again, unless that has been done often enough.
    fn too_late(&mut self, rules: &LeaseRules, now: Monotonic, amount: u64) -> Settlement {
        let mut settlement = Settlement {
            late: amount,
            ..Settlement::default()
        };
        self.late = rules.after_late(self.late);
        if rules.is_enough(self.late) {
            self.late = 0;
            self.dismiss(now, &mut settlement, |_| Some(Verdict::TooLate));
        } else {
            self.serve(now, &mut settlement);
        }
        settlement
    }

    /// The store had less than `ask.at_least()`: whoever lacks as much is told so, the others ask again.
    fn denied(&mut self, now: Monotonic, ask: &Ask, decision: Decision) -> Settlement {
        let mut settlement = Settlement {
            is_denial: true,
            ..Settlement::default()
        };
        self.late = 0;
        self.dismiss(now, &mut settlement, |lacking| {
            (lacking >= ask.at_least()).then_some(Verdict::Denied(decision))
        });
        settlement
    }

    /// Charges waiters from the front, as far as the credits reach.
    fn serve(&mut self, now: Monotonic, settlement: &mut Settlement) {
        while let Some((waiter, cost)) = self.waiters.front().copied() {
            if cost > self.credits.total() {
                return;
            }
            self.waiters.pop_front();
            let verdict = Verdict::Served(self.charge(now, cost));
            settlement.verdicts.push((waiter, verdict));
        }
    }

    /// Goes through all waiters: those whom the credits cover are served, the others get the verdict for what they lack.
    ///
    /// Nobody is passed by: from the first who keeps waiting on, all do.
    fn dismiss(
        &mut self,
        now: Monotonic,
        settlement: &mut Settlement,
        verdict: impl Fn(u64) -> Option<Verdict>,
    ) {
        loop {
            self.serve(now, settlement);
            let Some((waiter, cost)) = self.waiters.front().copied() else {
                return;
            };
            let Some(verdict) = verdict(cost - self.credits.total()) else {
                return;
            };
            self.waiters.pop_front();
            settlement.verdicts.push((waiter, verdict));
        }
    }

    /// Charges a waiter that was not charged when the grant was applied.
    #[cfg(feature = "faults")]
    pub fn wake(&mut self, now: Monotonic, waiter: Waiter) -> Option<Verdict> {
        let place = self.waiters.iter().position(|(id, _)| *id == waiter)?;
        let (_, cost) = *self.waiters.get(place)?;
        let _ = self.expire(now);
        if cost > self.credits.total() {
            return None;
        }
        let _ = self.waiters.remove(place);
        Some(Verdict::Served(self.charge(now, cost)))
    }
}
