//! The client of a limit service: leases a chunk of a budget and spends it locally.
//!
//! A client that cannot reach the shared store itself asks a service for credits and spends them by the same ledger as
//! a [`TwoTier`](crate::TwoTier). What the ledger does not know is how to ask: that is the caller's, as a call by hand
//! ([`spend`](LeaseSpender::spend), then [`apply_lease`](LeaseSpender::apply_lease)) or as a function to be called
//! when it is needed ([`spend_or_refresh`](LeaseSpender::spend_or_refresh)).

mod builder;
mod refresh;
mod settle;
mod shared_refresh;

pub use builder::LeaseSpenderBuilder;
pub use refresh::{Applied, Demand, Refresh};
pub use shared_refresh::SpendError;

use std::{
    convert::Infallible,
    fmt,
    ops::{Deref, DerefMut},
    time::Duration,
};

use tk_core::{Clock, ConfigError, Decision, Error, Grant, Monotonic, SystemClock};
use tokio::sync::oneshot;

use self::settle::Told;
use crate::{
    HandBack, LeaseRules, Served, Spend,
    ledger::Purse,
    line::Line,
    sync::{Mutex, MutexGuard},
};

/// Spends leased credits of one budget, and says when more are needed.
///
/// Credits end with the window that granted them, unless [`window_coupled`](LeaseSpenderBuilder::window_coupled) says
/// otherwise. It is shared by reference or in an `Arc`.
///
/// ```
/// use std::time::Duration;
/// use tk_core::{Clock, FixedWindow, Grant, Strategy, SystemClock};
/// use tk_twotier::{Applied, LeaseSpender, Spending};
///
/// let spender = LeaseSpender::new(1_000, Duration::from_secs(60))?;
/// let Spending::NeedsRefresh(refresh) = spender.spend(SystemClock.monotonic(), 1)? else {
///     unreachable!("nothing has been leased");
/// };
///
/// // The service would do this:
/// let (strategy, mut state) = (FixedWindow::per_minute(1_000)?, Default::default());
/// let demand = refresh.demand();
/// let grant = Grant::charge::<_, std::convert::Infallible>(
///     &strategy, &mut state, SystemClock.now(), demand.want, demand.at_least, 0,
/// )?;
///
/// assert!(matches!(spender.apply_lease(refresh, &grant), Applied::Served(_)));
/// assert!(matches!(spender.spend(SystemClock.monotonic(), 1)?, Spending::Served(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LeaseSpender<C: Clock = SystemClock> {
    state: Mutex<State>,
    limit: u64,
    ttl: Duration,
    rules: LeaseRules,
    clock: C,
}

struct State {
    /// What the ledger holds, where it is spent quickly. Only [`Opened`] touches the ledger.
    purse: Purse,
    /// What was in the purse when it was lent.
    lent: u64,
    line: Line<Ticket>,
    /// Whether there ever was a grant to take the reset time from.
    has_leased: bool,
}

/// How a waiter is told.
enum Ticket {
    /// The one who asks, by the return value.
    Asker,
    /// One who waits for it.
    Waiting(oneshot::Sender<Told>),
}

/// The outcome of [`LeaseSpender::spend`]. It is never a denial: only the service can deny.
#[derive(Debug)]
#[must_use = "a request that needs a refresh has been charged nothing"]
#[allow(
    clippy::exhaustive_enums,
    reason = "a request is charged, or somebody has to ask: this one or another"
)]
pub enum Spending<'a, C: Clock = SystemClock> {
    /// Charged to the credits at hand.
    Served(Decision),
    /// The credits do not cover it: ask the service, then [`apply_lease`](LeaseSpender::apply_lease).
    NeedsRefresh(Refresh<'a, C>),
    /// The credits do not cover it, and another request is asking already. Nothing was charged.
    InFlight,
}

impl LeaseSpender {
    /// Spends a budget of `limit` units per window.
    ///
    /// `ttl` stands in for the time until the window's end as long as nothing has been leased.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if `limit` is not within 1 to 2^48, or `ttl` not within 1 to 2^45 whole microseconds.
    pub fn new(limit: u64, ttl: Duration) -> Result<Self, ConfigError> {
        Self::builder(limit, ttl).build()
    }

    /// The same, with more to set.
    pub const fn builder(limit: u64, ttl: Duration) -> LeaseSpenderBuilder {
        LeaseSpenderBuilder::new(limit, ttl)
    }
}

impl<C: Clock> LeaseSpender<C> {
    /// Charges `cost` to the credits at hand, if they cover it. `now` is a reading of the monotonic side of the spender's clock.
    ///
    /// # Errors
    ///
    /// [`Error::ExceedsCapacity`] if the cost is above the limit.
    #[inline]
    pub fn spend(&self, now: Monotonic, cost: u64) -> Result<Spending<'_, C>, Error<Infallible>> {
        if cost > self.limit {
            let limit = self.limit;
            return Err(Error::ExceedsCapacity { cost, limit });
        }
        let mut state = self.state.lock();
        match state.purse.spend(now, cost) {
            Some(served) => {
                drop(state);
                Ok(Spending::Served(self.served(served)))
            }
            None => Ok(self.look(Opened::of(state), now, cost)),
        }
    }

    /// Applies the service's answer to `refresh`, and says what it means for the request that asked.
    ///
    /// Those who wait in [`spend_or_refresh`](LeaseSpender::spend_or_refresh) are told too.
    pub fn apply_lease(&self, refresh: Refresh<'_, C>, grant: &Grant) -> Applied {
        refresh.apply(grant)
    }

    /// Forgets all credits, and makes grants that were asked for before void: the budget was reset.
    pub fn reset(&self) {
        self.open().line.ledger.reset(&self.rules);
    }

    /// Gives up all credits. What comes out may be sent to the service, once.
    #[must_use = "credits are lost unless they are handed back"]
    pub fn hand_back(&self) -> Vec<HandBack> {
        let now = self.clock.monotonic();
        self.open().line.ledger.hand_back(&self.rules, now)
    }

    /// Credits at hand, ended or not.
    #[must_use]
    pub fn credits(&self) -> u64 {
        self.open().line.ledger.credits()
    }

    fn open(&self) -> Opened<'_> {
        Opened::of(self.state.lock())
    }

    /// Decides what the purse could not.
    #[cold]
    fn look(&self, mut state: Opened<'_>, now: Monotonic, cost: u64) -> Spending<'_, C> {
        if let Spend::Served(served) = state.line.ledger.spend(now, cost) {
            let mut decision = self.served(served);
            if !state.has_leased {
                decision.reset_at = self.clock.now() + self.ttl;
            }
            return Spending::Served(decision);
        }
        if state.line.ledger.is_asking() {
            return Spending::InFlight;
        }
        let waiter = state.line.join(cost, Ticket::Asker);
        match state.line.ledger.begin(&self.rules, now) {
            Some(ask) => Spending::NeedsRefresh(Refresh::new(self, ask, waiter)),
            None => {
                state.line.leave(waiter);
                Spending::InFlight
            }
        }
    }

    fn served(&self, served: Served) -> Decision {
        Decision {
            allowed: true,
            limit: self.limit,
            remaining: served.remaining,
            reset_at: served.reset_at,
            retry_after: Duration::ZERO,
        }
    }
}

/// A state whose ledger is up to date, and lends its credits again when it is let go.
struct Opened<'a>(MutexGuard<'a, State>);

impl<'a> Opened<'a> {
    fn of(mut state: MutexGuard<'a, State>) -> Self {
        let spent = state.lent - state.purse.amount();
        state.line.ledger.settle(spent);
        Self(state)
    }
}

impl Deref for Opened<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.0
    }
}

impl DerefMut for Opened<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.0
    }
}

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        self.0.purse = self.0.line.ledger.lend();
        self.0.lent = self.0.purse.amount();
    }
}

impl<C: Clock> fmt::Debug for LeaseSpender<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaseSpender")
            .field("limit", &self.limit)
            .field("credits", &self.credits())
            .finish_non_exhaustive()
    }
}
