//! The service's answers, applied.

use tk_core::{Clock, Decision, Grant};

use super::{LeaseSpender, State, Ticket};
use crate::{Ask, Settlement, Verdict, Waiter, reading::now_or_the_end};

/// What a request is told.
#[derive(Clone, Copy, Debug)]
pub(super) enum Told {
    Served(Decision),
    Denied(Decision),
    TooLate,
    /// The service did not answer, or made no sense.
    Failed,
    /// Nothing was decided; try again.
    Retry,
}

impl<C: Clock> LeaseSpender<C> {
    /// Applies `grant`, tells those who wait, and returns what the asker is told.
    pub(super) fn answer(&self, ask: Ask, grant: &Grant) -> Told {
        // The wall first, so that a pause between the two makes what is told on it early, and not late.
        let (wall, now) = (self.clock.now(), self.clock.monotonic());
        let mut state = self.open();
        if grant.amount == 0 && grant.decision.allowed {
            let settlement = state.line.ledger.failed(&self.rules, ask, now);
            return self.tell(&mut state, &settlement, Told::Failed);
        }
        let held = state.line.ledger.credits();
        let settlement = state
            .line
            .ledger
            .granted(&self.rules, ask, now, wall, grant);
        state.has_leased |= grant.amount > 0;
        let told = self.tell(&mut state, &settlement, Told::Failed);
        // A grant that is smaller than what was asked for, and brings nothing, would be asked for without end.
        let is_stuck = grant.amount < ask.at_least() && state.line.ledger.credits() <= held;
        // Whoever still waits is free to ask: the asker by its return value, others by being told.
        let settlement = state.line.ledger.abandon(now);
        let _ = self.tell(&mut state, &settlement, Told::Retry);
        match told {
            Told::Retry if is_stuck => Told::Failed,
            told => told,
        }
    }

    /// Ends a refresh without an answer. The asker is out of it; `others` is what the others are told.
    pub(super) fn cancel(&self, ask: Ask, asker: Waiter, others: Told) {
        let now = now_or_the_end(&self.clock);
        let mut state = self.open();
        state.line.leave(asker);
        let settlement = state.line.ledger.failed(&self.rules, ask, now);
        let _ = self.tell(&mut state, &settlement, others);
    }

    /// Tells those whom `settlement` decides on; `failed` is what they are told if there is no answer. Returns what the asker is told.
    fn tell(&self, state: &mut State, settlement: &Settlement, failed: Told) -> Told {
        let mut own = Told::Retry;
        let _ = state.line.settle(settlement, |ticket, verdict| {
            let told = match verdict {
                Verdict::Served(served) => Told::Served(self.served(served)),
                Verdict::Denied(decision) => Told::Denied(decision),
                Verdict::TooLate => Told::TooLate,
                Verdict::Failed => failed,
            };
            match ticket {
                Ticket::Asker => own = told,
                // Whoever has stopped waiting need not know.
                Ticket::Waiting(ticket) => drop(ticket.send(told)),
            }
        });
        own
    }
}
