//! Leases: who waits for them, and when one is due.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tk_core::{Clock, Decision, Error, Fingerprint, Key, Monotonic, Store};
use tokio::sync::oneshot::{self, error::TryRecvError};

use super::{
    Answer, Observer, TierError,
    entry::{Entry, GivenUp, Told},
    flight::Flight,
    inner::Inner,
};
use crate::{Ask, Spend, Verdict, Waiter};

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
    Decided(Decision, Option<Flight<L2, C, O>>),
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
        let (entered, flight) = match joined? {
            Joined::Decided(decision, flight) => (Entered::Decided(decision), flight),
            Joined::Waits(waiting, flight) => (Entered::Waits(waiting), flight),
            Joined::Full => return Ok(Entered::Full),
        };
        if let Some(flight) = flight {
            flight.take_off(&runtime);
        }
        Inner::watch_idle(self, &runtime);
        Ok(entered)
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
            let refill = if self.refills_at(served.remaining) {
                self.prepare(fingerprint, &mut entry, room.now)
            } else {
                None
            };
            return Ok(Joined::Decided(self.served(served), refill));
        }
        if let Some(decision) = entry.denies(room.now, cost) {
            return Ok(Joined::Decided(decision, None));
        }
        let (ticket, told) = oneshot::channel();
        let waiter = entry.line.join(cost, ticket);
        let flight = self.prepare(fingerprint, &mut entry, room.now);
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
        now: Monotonic,
    ) -> Option<Flight<L2, C, O>> {
        let ask = self.due(entry, now)?;
        if entry.line.ledger.waiting() == 0 {
            self.counters.refills.one();
        }
        Some(Flight::new(self, entry.key.clone(), fingerprint, ask))
    }

    /// The clock is not read for it under the lock: were it to panic, those in the queue would wait for nothing. A lease that is
    /// sent later than it says ends earlier.
    pub(super) fn due(&self, entry: &mut Entry<L2>, now: Monotonic) -> Option<Ask> {
        let lease = self.lease_plan()?;
        let rules = entry.rules(&lease.rules, self.capacity(), now);
        let ask = entry.line.ledger.begin(&rules, now)?;
        self.counters.leases.one();
        Some(ask)
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
        let mut shard = inner.l1.lock(self.fingerprint);
        // The time is of no matter: while somebody waits nothing is lent, and so nothing was spent.
        // Whoever has been told is in no queue any more. Its key may have been forgotten since and have come back, and
        // then its number is that of another. Tickets are sent under the lock, so what is empty here stays so.
        if self
            .told
            .try_recv()
            .is_err_and(|error| error == TryRecvError::Empty)
            && let Some((mut entry, _)) = shard.open(self.fingerprint, Monotonic::ORIGIN)
        {
            entry.line.leave(self.waiter);
        }
    }
}
