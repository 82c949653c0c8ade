//! Leases: who waits for them, and the task that asks.

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Arc, atomic::Ordering},
    task::{Context, Poll},
};

use tk_core::{Clock, Decision, Error, Fingerprint, Grant, Key, OwnedKey, Store, Strategy};
use tokio::{
    runtime::Handle,
    sync::oneshot::{self, error::TryRecvError},
};

use super::{
    Answer, LeaseAnswer, Observer, TierError,
    denial::Denial,
    entry::{Entry, GivenUp, Told},
    inner::Inner,
};
use crate::{Ask, Settlement, Spend, Verdict, Waiter, ledger::WallOffset, line::Line};

/// What became of a request that missed.
enum Entered<'a, L2: Store, C: Clock + 'static, O: Observer> {
    /// Decided after all: credits or a denial have arrived in between.
    Decided(Decision),
    /// It waits for a lease.
    Waits(Waiting<'a, L2, C, O>),
    /// There is no room for its key.
    Full,
}

/// The same, when the lock has just been released: a lease that is due has yet to take off.
enum Joined<'a, L2: Store, C: Clock + 'static, O: Observer> {
    Decided(Decision),
    Waits(Waiting<'a, L2, C, O>, Option<Flight<L2, C, O>>),
    Full,
}

impl<L2: Store, C: Clock + 'static, O: Observer> Inner<L2, C, O> {
    /// Waits for a lease; asks for one if none is under way.
    pub(super) async fn lease<K: Key + ?Sized>(
        self: &Arc<Self>,
        key: &K,
        cost: u64,
    ) -> Answer<Decision, L2> {
        let told = match self.enter(key, cost)? {
            Entered::Decided(decision) => return Ok(decision),
            Entered::Full => return self.exact(key, cost).await,
            Entered::Waits(waiting) => waiting.await,
        };
        match told {
            Told::Verdict(Verdict::Served(served)) => Ok(self.served(served)),
            Told::Verdict(Verdict::Denied(decision)) => Ok(decision),
            // Grants come later than they last. A check has no such trouble, for the store charges it by its own clock.
            Told::Verdict(Verdict::TooLate) => self.exact(key, cost).await,
            Told::Verdict(Verdict::Failed) => Err(Error::Store(TierError::Lost)),
            Told::Failed(error) => Err(error),
        }
    }

    /// Takes a place in the queue, and sees that somebody asks.
    fn enter<K: Key + ?Sized>(
        self: &Arc<Self>,
        key: &K,
        cost: u64,
    ) -> Answer<Entered<'_, L2, C, O>, L2> {
        let runtime = Self::runtime()?;
        let fingerprint = self.l1.fingerprint(key);
        let mut evicted = Vec::new();
        let joined = self.join(fingerprint, key, cost, &mut evicted);
        self.counters.evicted.add(evicted.len() as u64);
        Inner::hand_back_later(self, evicted);
        let (waiting, flight) = match joined? {
            Joined::Decided(decision) => return Ok(Entered::Decided(decision)),
            Joined::Full => return Ok(Entered::Full),
            Joined::Waits(waiting, flight) => (waiting, flight),
        };
        if let Some(flight) = flight {
            flight.take_off(&runtime);
        }
        Inner::watch_idle(self, &runtime);
        Ok(Entered::Waits(waiting))
    }

    /// What happens under the shard's lock: charged, denied, or put into the queue, with the lease that is due.
    fn join<K: Key + ?Sized>(
        self: &Arc<Self>,
        fingerprint: Fingerprint,
        key: &K,
        cost: u64,
        evicted: &mut Vec<GivenUp>,
    ) -> Answer<Joined<'_, L2, C, O>, L2> {
        let strategy = self.strategy();
        let room = self.room(&strategy);
        let mut shard = self.l1.lock(fingerprint);
        // Under the lock: `close` waits for the leases of all who enter before it takes the lock.
        self.refuse_if_closed()?;
        // And `set_strategy` looks under it for those who wait for more than there can be.
        self.fits(cost)?;
        let Some((mut entry, hits)) = self.l1.enter(&mut shard, fingerprint, key, &room, evicted)
        else {
            return Ok(Joined::Full);
        };
        entry.used_at = room.now;
        if let Spend::Served(served) = entry.line.ledger.spend(room.now, cost) {
            hits.served += cost;
            return Ok(Joined::Decided(self.served(served)));
        }
        if let Some(decision) = entry.denies(room.now, cost) {
            return Ok(Joined::Decided(decision));
        }
        let (ticket, told) = oneshot::channel();
        let waiter = entry.line.join(cost, ticket);
        let flight = self.prepare(fingerprint, &mut entry);
        let waiting = Waiting {
            inner: self,
            fingerprint,
            waiter,
            told,
            is_told: false,
        };
        Ok(Joined::Waits(waiting, flight))
    }

    /// The lease that is due for a key, if any. It takes off once the shard's lock is released.
    pub(super) fn prepare(
        self: &Arc<Self>,
        fingerprint: Fingerprint,
        entry: &mut Entry<L2>,
    ) -> Option<Flight<L2, C, O>> {
        let ask = self.due(entry)?;
        if entry.line.ledger.waiting() == 0 {
            self.counters.refills.one();
        }
        Some(Flight {
            inner: self.clone(),
            key: entry.key.clone(),
            fingerprint,
            ask: Some(ask),
        })
    }

    fn due(&self, entry: &mut Entry<L2>) -> Option<Ask> {
        let lease = self.lease_plan()?;
        let now = self.clock.monotonic();
        let rules = entry.rules(&lease.rules, self.capacity(), now);
        let ask = entry.line.ledger.begin(&rules, now)?;
        self.counters.leases.one();
        Some(ask)
    }

    /// Applies the answer to `ask`, and tells those whom it decides on; `has_edges` is the strategy's that it was asked under.
    fn land(
        &self,
        fingerprint: Fingerprint,
        ask: Ask,
        answer: &Answer<Grant, L2>,
        has_edges: bool,
    ) -> Option<Landed> {
        let rules = self.lease_plan()?.rules.drops_late(has_edges);
        // The wall first, so that a pause between the two makes what is told on it early, and not late.
        let (wall, now) = (self.clock.now(), self.clock.monotonic());
        self.wall
            .store(WallOffset::at(now, wall).bits(), Ordering::Relaxed);
        let mut shard = self.l1.lock(fingerprint);
        // An entry with a lease under way stays where it is.
        let (mut entry, hits) = shard.open(fingerprint, now)?;
        let ledger = &mut entry.line.ledger;
        let settlement = match answer {
            Ok(grant) => ledger.granted(&rules, ask, now, wall, grant),
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
        let next = if waits { self.due(&mut entry) } else { None };
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
                self.inner.note(&ask, &answer, landed.late);
                // Before the next lease is sent: what a void grant holds may be what that one needs.
                self.inner.hand_back(vec![landed.given_up]).await;
            }
        }
    }
}

impl<L2: Store, C: Clock + 'static, O: Observer> Drop for Flight<L2, C, O> {
    fn drop(&mut self) {
        if let Some(ask) = self.ask.take() {
            // All who wait are told, so that no lease is due after this one. Nothing is spawned from here.
            let lost = Err(Error::Store(TierError::Lost));
            if let Some(landed) = self.inner.land(self.fingerprint, ask, &lost, true) {
                // An observer that panics while a panic is under way would end the process.
                let _ = catch_unwind(AssertUnwindSafe(|| {
                    self.inner.note(&ask, &lost, landed.late);
                    self.inner.strand(landed.given_up.units());
                }));
            }
        }
    }
}

/// A place in the queue. Dropped, it is given up.
struct Waiting<'a, L2: Store, C: Clock + 'static, O: Observer> {
    inner: &'a Inner<L2, C, O>,
    fingerprint: Fingerprint,
    waiter: Waiter,
    told: oneshot::Receiver<Told<L2::Error>>,
    is_told: bool,
}

impl<L2: Store, C: Clock + 'static, O: Observer> Future for Waiting<'_, L2, C, O> {
    type Output = Told<L2::Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Told<L2::Error>> {
        let told = std::task::ready!(Pin::new(&mut self.told).poll(context));
        self.is_told = true;
        Poll::Ready(told.unwrap_or(Told::Failed(Error::Store(TierError::Lost))))
    }
}

impl<L2: Store, C: Clock + 'static, O: Observer> Drop for Waiting<'_, L2, C, O> {
    fn drop(&mut self) {
        if self.is_told {
            return;
        }
        let inner = self.inner;
        let now = inner.clock.monotonic();
        let mut shard = inner.l1.lock(self.fingerprint);
        // Whoever has been told is in no queue any more. Its key may have been forgotten since and have come back, and
        // then its number is that of another. Tickets are sent under the lock, so what is empty here stays so.
        if self
            .told
            .try_recv()
            .is_err_and(|error| error == TryRecvError::Empty)
            && let Some((mut entry, _)) = shard.open(self.fingerprint, now)
        {
            entry.line.leave(self.waiter);
        }
    }
}
