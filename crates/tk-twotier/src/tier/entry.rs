//! What a node remembers of one key.

use std::{sync::Arc, time::Duration};

use tk_core::{Decision, Error, Monotonic, OwnedKey, Store, Strategy, Timestamp};
use tokio::sync::oneshot;

use super::{TierError, denial::Denial, key_sizer::KeySizer};
use crate::{HandBack, LeaseRules, Verdict, line::Line};

/// What a request that waited for a lease is told.
pub(crate) enum Told<E: std::fmt::Debug> {
    Verdict(Verdict),
    Failed(Error<TierError<E>>),
}

pub(crate) type Ticket<L2> = oneshot::Sender<Told<<L2 as Store>::Error>>;

/// What one key gives up.
pub(crate) struct GivenUp {
    pub(super) key: Arc<OwnedKey>,
    pub(super) backs: Vec<HandBack>,
    /// Units that the store would not take back.
    pub(super) stranded: u64,
}

/// All of it but what a hit needs, which is in the entry's [`Slot`](super::slot::Slot).
pub(crate) struct Entry<L2: Store> {
    pub(super) line: Line<Ticket<L2>>,
    /// What was in the slot's purse when it was lent.
    pub(super) lent: u64,
    /// When it was last seen to have been used. A hit leaves no more than a lighter purse, which is seen when the entry is opened.
    pub(super) used_at: Monotonic,
    pub(super) denial: Option<Denial>,
    pub(super) key: Arc<OwnedKey>,
    pub(super) sizer: KeySizer,
    /// The failure policy's own state.
    pub(super) local: Option<Box<<L2::Strategy as Strategy>::State>>,
}

impl GivenUp {
    /// All its units.
    pub(super) fn units(&self) -> u64 {
        let backs: u64 = self.backs.iter().map(|back| back.amount).sum();
        backs + self.stranded
    }
}

impl<L2: Store> Entry<L2> {
    pub(super) fn new(key: OwnedKey, sizer: KeySizer, now: Monotonic) -> Self {
        Self {
            line: Line::new(),
            lent: 0,
            used_at: now,
            denial: None,
            key: Arc::new(key),
            sizer,
            local: None,
        }
    }

    /// Whether nobody waits, and no answer is under way: then its credits can be handed back.
    pub(super) fn is_calm(&self) -> bool {
        !self.line.ledger.is_asking() && self.line.ledger.waiting() == 0
    }

    /// Whether nobody has asked for it for so long, and nothing is under way.
    pub(super) fn is_idle(&self, now: Monotonic, idle: Duration) -> bool {
        now.since(self.used_at) >= idle && self.is_calm()
    }

    /// Whether it holds back a key that would go free if it were forgotten.
    pub(super) fn holds_back(&self, strategy: &L2::Strategy, now: Timestamp) -> bool {
        let local = self.local.as_deref();
        local.is_some_and(|state| !strategy.is_fresh(state, now))
    }

    /// The rules for its next lease: of the size learned, and never above `capacity`.
    pub(super) fn rules(
        &mut self,
        rules: &LeaseRules,
        capacity: u64,
        now: Monotonic,
    ) -> LeaseRules {
        let size = self.sizer.next(self.line.ledger.take_demand(now));
        rules.sized(size.min(capacity))
    }

    /// The denial at hand for `cost`: what counts is how much the credits lack.
    #[inline]
    pub(super) fn denies(&self, now: Monotonic, cost: u64) -> Option<Decision> {
        let denial = self.denial.as_ref()?;
        denial.answer(now, cost.saturating_sub(self.line.ledger.credits()))
    }

    /// Remembers a denial, unless a cheaper one is known.
    pub(super) fn learn(&mut self, denial: Denial, now: Monotonic) {
        let known = self.denial.filter(|known| !known.is_over(now));
        if known.is_none_or(|known| denial.cost() <= known.cost()) {
            self.denial = Some(denial);
        }
    }

    /// Tells those who wait for more than `limit` that it can never be.
    pub(super) fn refuse_above(&mut self, limit: u64) {
        self.line.leave_above(limit, |ticket, cost| {
            // Whoever has stopped waiting need not know.
            let _ = ticket.send(Told::Failed(Error::ExceedsCapacity { cost, limit }));
        });
    }

    /// Gives up its credits.
    pub(super) fn give_up(&mut self, rules: &LeaseRules, now: Monotonic) -> GivenUp {
        GivenUp {
            key: self.key.clone(),
            backs: self.line.ledger.hand_back(rules, now),
            stranded: self.line.ledger.take_stranded(),
        }
    }

    /// Gives up its credits and whatever rests on answers from before: the denial at hand, and the lease in flight, which is void.
    pub(super) fn start_over(&mut self, rules: &LeaseRules, now: Monotonic) -> GivenUp {
        self.denial = None;
        let given_up = self.give_up(rules, now);
        self.line.ledger.reset(rules);
        given_up
    }
}
