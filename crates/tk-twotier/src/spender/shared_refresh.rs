//! Spending with a function that asks.

use std::{fmt, future::Future};

use tk_core::{Clock, Decision, Grant};
use tokio::sync::oneshot;

use super::{Applied, Demand, LeaseSpender, Refresh, Spending, Ticket, settle::Told};
use crate::Waiter;

/// Why [`LeaseSpender::spend_or_refresh`] gave no decision; `E` is the reserve function's error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpendError<E: fmt::Debug> {
    /// The reserve function failed.
    #[error("the reserve function failed: {0:?}")]
    Reserve(E),
    /// Another request asked for this one too, and its reserve function failed.
    #[error("the refresh that this request waited for failed")]
    Shared,
    /// The service granted nothing of use and denied nothing.
    #[error("the service granted nothing of use and denied nothing")]
    Nothing,
    /// Grants were over when they arrived, time and again.
    #[error("grants were over when they arrived, {} times in a row", crate::LeaseRules::ASKS_AGAIN + 1)]
    TooLate,
    /// The cost is above the limit.
    #[error("cost {cost} can never be admitted: the limit is {limit}")]
    ExceedsCapacity {
        /// The cost asked for.
        cost: u64,
        /// The most that may be asked for.
        limit: u64,
    },
}

/// The next step of a request.
enum Step<'a, C: Clock> {
    Done(Decision),
    Ask(Refresh<'a, C>),
    Wait(Waiting<'a, C>),
}

impl<C: Clock> LeaseSpender<C> {
    /// Charges `cost` to the credits at hand, and asks `reserve` for more until it is served or the service denies it.
    ///
    /// One request asks at a time; those who miss meanwhile wait for its answer. If it is dropped while it asks, another
    /// takes over; the grant it would have brought is lost until its window ends. A `reserve` that never answers holds up
    /// those who wait, so it should have a deadline.
    ///
    /// # Errors
    ///
    /// [`SpendError`]. A denial is not an error: it is the service's own decision, untouched.
    pub async fn spend_or_refresh<F, E>(
        &self,
        cost: u64,
        mut reserve: impl FnMut(Demand) -> F,
    ) -> Result<Decision, SpendError<E>>
    where
        F: Future<Output = Result<Grant, E>>,
        E: fmt::Debug,
    {
        loop {
            let told = match self.step(cost)? {
                Step::Done(decision) => return Ok(decision),
                Step::Wait(waiting) => waiting.told().await,
                Step::Ask(refresh) => match reserve(refresh.demand()).await {
                    Ok(grant) => match refresh.apply(&grant) {
                        Applied::Served(decision) => Told::Served(decision),
                        Applied::Denied(decision) => Told::Denied(decision),
                        Applied::TooLate => Told::TooLate,
                        Applied::Nothing => return Err(SpendError::Nothing),
                        Applied::Retry => Told::Retry,
                    },
                    Err(error) => {
                        refresh.fail();
                        return Err(SpendError::Reserve(error));
                    }
                },
            };
            match told {
                Told::Served(decision) | Told::Denied(decision) => return Ok(decision),
                Told::TooLate => return Err(SpendError::TooLate),
                Told::Failed => return Err(SpendError::Shared),
                Told::Retry => {}
            }
        }
    }

    fn step<E: fmt::Debug>(&self, cost: u64) -> Result<Step<'_, C>, SpendError<E>> {
        let limit = self.limit;
        loop {
            let spent = self.spend(self.clock.monotonic(), cost);
            // It has no other error.
            match spent.map_err(|_| SpendError::ExceedsCapacity { cost, limit })? {
                Spending::Served(decision) => return Ok(Step::Done(decision)),
                Spending::NeedsRefresh(refresh) => return Ok(Step::Ask(refresh)),
                Spending::InFlight => {
                    if let Some(waiting) = self.wait(cost) {
                        return Ok(Step::Wait(waiting));
                    }
                }
            }
        }
    }

    /// Waits for the refresh in flight, if it still is.
    fn wait(&self, cost: u64) -> Option<Waiting<'_, C>> {
        let mut state = self.open();
        if !state.line.ledger.is_asking() {
            return None;
        }
        let (ticket, told) = oneshot::channel();
        let waiter = state.line.join(cost, Ticket::Waiting(ticket));
        Some(Waiting {
            spender: self,
            waiter,
            told: Some(told),
        })
    }
}

/// A place in the queue. Dropped, it is given up.
struct Waiting<'a, C: Clock> {
    spender: &'a LeaseSpender<C>,
    waiter: Waiter,
    told: Option<oneshot::Receiver<Told>>,
}

impl<C: Clock> Waiting<'_, C> {
    async fn told(mut self) -> Told {
        let Some(receiver) = &mut self.told else {
            return Told::Retry;
        };
        let told = receiver.await.unwrap_or(Told::Retry);
        self.told = None;
        told
    }
}

impl<C: Clock> Drop for Waiting<'_, C> {
    fn drop(&mut self) {
        if self.told.is_some() {
            self.spender.open().line.leave(self.waiter);
        }
    }
}
