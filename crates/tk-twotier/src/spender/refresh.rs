//! A lease that the caller asks for.

use std::fmt;

use tk_core::{Clock, Decision, Grant, Monotonic, SystemClock};

use super::{LeaseSpender, settle::Told};
use crate::{Ask, Waiter};

/// What to ask the service for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Demand {
    /// Units wanted.
    pub want: u64,
    /// The least that would be of use.
    pub at_least: u64,
}

/// The right and the duty to ask the service for credits, for the request that found too few.
///
/// It remembers when it was made: the grant's span counts from then. Dropped, it counts as a refresh that failed, and
/// another request may ask.
#[must_use = "others wait for the answer"]
pub struct Refresh<'a, C: Clock = SystemClock> {
    spender: &'a LeaseSpender<C>,
    ask: Option<Ask>,
    demand: Demand,
    waiter: Waiter,
}

/// What a grant means for the request that asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a request that was not served has been charged nothing"]
#[non_exhaustive]
pub enum Applied {
    /// It was charged.
    Served(Decision),
    /// The service denied it; this is the service's own decision.
    Denied(Decision),
    /// Nothing was charged, but it may be tried again: the grant was over when it arrived, or smaller than asked for, or from before a reset.
    Retry,
    /// Grants were over when they arrived, time and again.
    TooLate,
    /// The service granted nothing of use and denied nothing.
    Nothing,
}

impl<'a, C: Clock> Refresh<'a, C> {
    pub(super) const fn new(spender: &'a LeaseSpender<C>, ask: Ask, waiter: Waiter) -> Self {
        Self {
            spender,
            demand: Demand {
                want: ask.want(),
                at_least: ask.at_least(),
            },
            ask: Some(ask),
            waiter,
        }
    }

    /// What to ask for.
    #[must_use]
    pub const fn demand(&self) -> Demand {
        self.demand
    }

    /// The instant from which the grant's span counts.
    #[must_use]
    pub fn sent(&self) -> Monotonic {
        self.ask.map_or(Monotonic::ORIGIN, |ask| ask.sent())
    }

    pub(super) fn apply(mut self, grant: &Grant) -> Applied {
        let Some(ask) = self.ask else {
            return Applied::Retry;
        };
        let told = self.spender.answer(ask, grant);
        // Not before: should the clock panic, somebody else has to be free to ask.
        self.ask = None;
        match told {
            Told::Served(decision) => Applied::Served(decision),
            Told::Denied(decision) => Applied::Denied(decision),
            Told::TooLate => Applied::TooLate,
            Told::Failed => Applied::Nothing,
            Told::Retry => Applied::Retry,
        }
    }

    /// The service could not answer: whoever waits is told so.
    pub(super) fn fail(mut self) {
        if let Some(ask) = self.ask.take() {
            self.spender.cancel(ask, self.waiter, Told::Failed);
        }
    }
}

impl<C: Clock> Drop for Refresh<'_, C> {
    fn drop(&mut self) {
        if let Some(ask) = self.ask.take() {
            self.spender.cancel(ask, self.waiter, Told::Retry);
        }
    }
}

impl<C: Clock> fmt::Debug for Refresh<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refresh")
            .field("demand", &self.demand)
            .field("sent", &self.sent())
            .finish_non_exhaustive()
    }
}
