//! A lease on its way, and its landing.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, atomic::Ordering},
};

use tk_core::{Clock, Error, Fingerprint, Grant, Monotonic, OwnedKey, Store, Strategy, Timestamp};
use tokio::{runtime::Handle, sync::oneshot};

use super::{
    Answer, LeaseAnswer, Observer, TierError,
    denial::Denial,
    entry::{GivenUp, Told},
    homeward::Homeward,
    inner::Inner,
};
use crate::{Ask, Settlement, Verdict, ledger::WallOffset, line::Line, reading::now_or_the_end};

/// A lease on its way to the shared store and back.
///
/// It runs on a task of its own, so that no caller who goes away takes the grant along. Dropped halfway, by
/// a panic of the store or of the observer or by the end of its runtime, it tells the waiters that no answer will come.
pub(super) struct Flight<L2: Store, C: Clock + 'static, O: Observer> {
    inner: Arc<Inner<L2, C, O>>,
    key: Arc<OwnedKey>,
    fingerprint: Fingerprint,
    /// The lease under way.
    ask: Option<Ask>,
}

impl<L2: Store, C: Clock + 'static, O: Observer> Flight<L2, C, O> {
    pub(super) fn new(
        inner: &Arc<Inner<L2, C, O>>,
        key: Arc<OwnedKey>,
        fingerprint: Fingerprint,
        ask: Ask,
    ) -> Self {
        Self {
            inner: inner.clone(),
            key,
            fingerprint,
            ask: Some(ask),
        }
    }

    /// Called without the shard's lock: a runtime that is being shut down drops the task, and so the flight, at once.
    pub(super) fn take_off(self, runtime: &Handle) {
        let inner = self.inner.clone();
        inner.tasks.spawn(runtime, self.fly());
    }

    async fn fly(mut self) {
        while let Some(ask) = self.ask {
            let strategy = self.inner.strategy();
            let has_edges = strategy.has_edges();
            let key = self.inner.keyed(&*self.key);
            let lease = self
                .inner
                .l2
                .lease(&strategy, &key, ask.want(), ask.at_least());
            let answer = self.inner.called(lease.await);
            let answer = answer.and_then(|grant| sound(&ask, grant));
            let landed = self.inner.land(self.fingerprint, ask, &answer, has_edges);
            // Before the observer hears of it: should that panic, what is in flight by now still has to land.
            self.ask = landed.as_ref().and_then(|landed| landed.next);
            if let Some(landed) = landed {
                let homeward = Homeward::new(&self.inner, [landed.given_up]);
                self.inner.note(&ask, &answer, landed.late);
                // Before the next lease is sent: what a void grant holds may be what that one needs.
                homeward.send().await;
            }
        }
    }
}

impl<L2: Store, C: Clock + 'static, O: Observer> Drop for Flight<L2, C, O> {
    fn drop(&mut self) {
        if let Some(ask) = self.ask.take() {
            // What panics here while a panic is under way would end the process.
            let _ = catch_unwind(AssertUnwindSafe(|| self.inner.lose(self.fingerprint, ask)));
        }
    }
}

impl<L2: Store, C: Clock + 'static, O: Observer> Inner<L2, C, O> {
    /// No answer to `ask` will come. All who wait are told, so that no lease is due after this one. Nothing is spawned from here.
    fn lose(&self, fingerprint: Fingerprint, ask: Ask) {
        let lost = Err(Error::Store(TierError::Lost));
        let now = now_or_the_end(&self.clock);
        if let Some(landed) = self.settle(fingerprint, ask, &lost, true, (now, Timestamp::EPOCH)) {
            // Before the observer hears of the lease: should it panic, the units are counted.
            self.strand(landed.given_up.units());
            self.note(&ask, &lost, landed.late);
        }
    }

    /// Applies the answer to `ask` now; `has_edges` is the strategy's that it was asked under.
    fn land(
        &self,
        fingerprint: Fingerprint,
        ask: Ask,
        answer: &Answer<Grant, L2>,
        has_edges: bool,
    ) -> Option<Landed> {
        // The wall first, so that a pause between the two makes what is told on it early, and not late.
        let (wall, now) = (self.clock.now(), self.clock.monotonic());
        self.wall
            .store(WallOffset::at(now, wall).bits(), Ordering::Relaxed);
        self.settle(fingerprint, ask, answer, has_edges, (now, wall))
    }

    /// Applies the answer to `ask`, and tells those whom it decides on. The wall matters to grants alone.
    fn settle(
        &self,
        fingerprint: Fingerprint,
        ask: Ask,
        answer: &Answer<Grant, L2>,
        has_edges: bool,
        (now, wall): (Monotonic, Timestamp),
    ) -> Option<Landed> {
        let rules = self.lease_plan()?.rules.drops_late(has_edges);
        let mut shard = self.l1.lock(fingerprint);
        // An entry with a lease under way stays where it is.
        let (mut entry, hits) = shard.open(fingerprint, now)?;
        let ledger = &mut entry.line.ledger;
        let settlement = match answer {
            Ok(grant) => ledger.granted(&rules, ask, now, wall, grant),
            // It was asked under one strategy and sent under another: that is no answer to those whom the other has room for.
            Err(Error::ExceedsCapacity { limit, .. }) if *limit < ask.at_least() => {
                let was_void = ledger.withdraw(&rules, ask);
                // Whoever made it void has told those who wait for too much. Else that is still to come, and must not be waited for.
                if was_void == Some(false) {
                    entry.refuse_above(*limit);
                }
                Settlement::default()
            }
            Err(_) => ledger.failed(&rules, ask, now),
        };
        hits.served += tell(&mut entry.line, &settlement, answer.as_ref().err());
        if settlement.is_denial
            && let (Ok(grant), Some(max_age)) = (answer, self.plan.max_denial)
        {
            let denial = Denial::of(ask.at_least(), grant.decision, ask.sent(), max_age);
            entry.learn(denial, now);
        }
        let late = settlement.late;
        let mut backs: Vec<_> = settlement.hand_back.into_iter().collect();
        if self.is_closed() {
            let closed = Error::Store(TierError::Closed);
            let settlement = entry.line.ledger.abandon(now);
            hits.served += tell(&mut entry.line, &settlement, Some(&closed));
            backs.append(&mut entry.line.ledger.hand_back(&rules, now));
        }
        // A refill that was denied or lost is left to the next request, or it would be tried without end.
        let waits = entry.line.ledger.waiting() > 0;
        let next = if waits {
            self.due(&mut entry, now)
        } else {
            None
        };
        let given_up = GivenUp {
            key: entry.key.clone(),
            backs,
            stranded: entry.line.ledger.take_stranded(),
        };
        Some(Landed {
            next,
            given_up,
            late,
        })
    }

    /// Counts the answer to a lease.
    fn note(&self, ask: &Ask, answer: &Answer<Grant, L2>, late: u64) {
        let want = ask.want();
        let told = match answer {
            Err(_) => LeaseAnswer::Failed { want },
            Ok(grant) if grant.amount == 0 => LeaseAnswer::Denied { want },
            Ok(_) if late > 0 => LeaseAnswer::Late { amount: late },
            Ok(grant) => LeaseAnswer::Granted {
                want,
                amount: grant.amount,
                span: grant.span,
            },
        };
        if let Ok(grant) = answer {
            self.counters.granted.add(grant.amount);
        }
        self.counters.late.add(late);
        self.observer.leased(told);
    }
}

/// Tells those whom `settlement` decides on; `error` is why there is no answer.
fn tell<E: std::fmt::Debug>(
    line: &mut Line<oneshot::Sender<Told<E>>>,
    settlement: &Settlement,
    error: Option<&Error<TierError<E>>>,
) -> u64 {
    line.settle(settlement, |ticket, verdict| {
        let told = match (verdict, error) {
            (Verdict::Failed, Some(error)) => Told::Failed(error.clone()),
            (verdict, _) => Told::Verdict(verdict),
        };
        // Whoever has stopped waiting need not know.
        let _ = ticket.send(told);
    })
}

/// Refuses a grant that is neither a denial nor of use: to go on with it would be to admit for nothing, or to ask without end.
fn sound<E: std::fmt::Debug>(ask: &Ask, grant: Grant) -> Result<Grant, Error<TierError<E>>> {
    let is_denial = grant.amount == 0 && !grant.decision.allowed;
    if is_denial || grant.amount >= ask.at_least() {
        Ok(grant)
    } else {
        Err(Error::Store(TierError::Unsound))
    }
}

/// What an answer leaves to do.
struct Landed {
    /// The next lease, if somebody still waits. It is in flight already.
    next: Option<Ask>,
    given_up: GivenUp,
    late: u64,
}
