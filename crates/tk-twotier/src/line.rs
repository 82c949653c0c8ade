//! One key's ledger and those who wait at it.

#[cfg(all(test, loom))]
mod loom;

use std::collections::VecDeque;

use crate::{LeaseLedger, Settlement, Verdict, Waiter, queue::place_of};

/// A ledger whose waiters have left a ticket, through which they are told.
///
/// It lives under a lock, and each step of the protocol is one hold of that lock. That makes the flight single:
/// whoever misses while a lease is in flight joins the queue, and whoever settles tells all that it settles.
#[derive(Debug)]
pub(crate) struct Line<T> {
    pub(crate) ledger: LeaseLedger,
    tickets: VecDeque<Place<T>>,
    next: Waiter,
}

/// A place in the queue.
#[derive(Debug)]
struct Place<T> {
    waiter: Waiter,
    cost: u64,
    ticket: T,
}

impl<T> Line<T> {
    pub(crate) const fn new() -> Self {
        Self {
            ledger: LeaseLedger::new(),
            tickets: VecDeque::new(),
            next: 0,
        }
    }

    /// Puts a request into the queue.
    pub(crate) fn join(&mut self, cost: u64, ticket: T) -> Waiter {
        let waiter = self.next;
        self.next += 1;
        self.ledger.join(waiter, cost);
        self.tickets.push_back(Place {
            waiter,
            cost,
            ticket,
        });
        waiter
    }

    /// Takes a request out of the queue, if it is still in it.
    pub(crate) fn leave(&mut self, waiter: Waiter) {
        if self.ledger.leave(waiter) {
            let _ = self.take(waiter);
        }
    }

    /// Takes the requests that cost more than `limit` out of the queue, and tells each.
    pub(crate) fn leave_above(&mut self, limit: u64, mut tell: impl FnMut(T, u64)) {
        self.ledger.leave_above(limit);
        for place in std::mem::take(&mut self.tickets) {
            if place.cost > limit {
                tell(place.ticket, place.cost);
            } else {
                self.tickets.push_back(place);
            }
        }
    }

    /// Tells those who have been decided on, and returns how many units were served to them.
    pub(crate) fn settle(
        &mut self,
        settlement: &Settlement,
        mut tell: impl FnMut(T, Verdict),
    ) -> u64 {
        let mut served = 0;
        for (waiter, verdict) in &settlement.verdicts {
            if let Some(place) = self.take(*waiter) {
                if matches!(verdict, Verdict::Served(_)) {
                    served += place.cost;
                }
                tell(place.ticket, *verdict);
            }
        }
        served
    }

    fn take(&mut self, waiter: Waiter) -> Option<Place<T>> {
        let place = place_of(&self.tickets, waiter, |place| place.waiter)?;
        self.tickets.remove(place)
    }
}
