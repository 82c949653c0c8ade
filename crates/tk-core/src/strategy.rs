//! Pure rules: state, now and cost in, decision out.

/// Constructors for the usual periods; the first line of each one's documentation is `$what` and the period.
macro_rules! per_period {
    ($strategy:ident, $what:literal) => {
        #[doc = concat!($what, "second.")]
        ///
        /// # Errors
        ///
        /// [`ConfigError`] if `limit` is not within 1 to 2^48.
        pub const fn per_second(limit: u64) -> Result<Self, ConfigError> {
            Self::new(limit, Duration::from_secs(1))
        }

        #[doc = concat!($what, "minute.")]
        ///
        /// # Errors
        ///
        /// [`ConfigError`] if `limit` is not within 1 to 2^48.
        pub const fn per_minute(limit: u64) -> Result<Self, ConfigError> {
            Self::new(limit, Duration::from_secs(60))
        }

        #[doc = concat!($what, "hour.")]
        ///
        /// # Errors
        ///
        /// [`ConfigError`] if `limit` is not within 1 to 2^48.
        pub const fn per_hour(limit: u64) -> Result<Self, ConfigError> {
            Self::new(limit, Duration::from_secs(3_600))
        }

        #[doc = concat!($what, "day.")]
        ///
        /// # Errors
        ///
        /// [`ConfigError`] if `limit` is not within 1 to 2^48.
        pub const fn per_day(limit: u64) -> Result<Self, ConfigError> {
            Self::new(limit, Duration::from_secs(86_400))
        }
    };
}
use per_period;

mod fixed_window;
mod gcra;
#[cfg(feature = "alloc")]
mod sliding_window;
#[cfg(feature = "alloc")]
mod sliding_window_log;
mod tat;
mod token_bucket;

pub use fixed_window::{FixedWindow, FixedWindowState};
pub use gcra::Gcra;
#[cfg(feature = "alloc")]
pub use sliding_window::{SlidingWindow, SlidingWindowState};
#[cfg(feature = "alloc")]
pub use sliding_window_log::{LogView, SlidingWindowLog, SlidingWindowLogState};
pub use tat::{Emission, TatState};
pub use token_bucket::TokenBucket;

use core::time::Duration;

use crate::{Decision, Error, Mark, Timestamp};

/// A pure rule that decides on one key's state.
///
/// A strategy reads no clock and performs no I/O. It must be deterministic: a store may call it again with the same
/// arguments. `Default` of the state is the state of a key that was never seen.
///
/// # Contract
///
/// - `decide` writes `state` only if `cost > 0`, and it allows or the state was written under another
///   [scale](Strategy::same_scale). A denial charges nothing, but keeps the state that it was computed from: units used under a slower
///   rate count as used when the new rate was first applied, and drain at the new rate from then on.
/// - A state equal to `Default` is always valid, and so is a state written under another strategy of the same type: see
///   [`Strategy::same_scale`].
/// - Time that runs backwards frees nothing.
///
/// # A strategy of one's own
///
/// Four items are enough; the provided ones then work from `decide`. Hand-backs are refused unless [`mark`](Strategy::mark) and
/// [`give_back`](Strategy::give_back) say otherwise. Without [`is_fresh`](Strategy::is_fresh), too, it would compile: but then a store
/// in memory never forgets a key, and one that is bounded fills up for good.
///
/// ```
/// use core::time::Duration;
/// use tk_core::{Decision, Strategy, Timestamp};
///
/// /// At most one request per key between two sunrises (6:00 UTC).
/// #[derive(Clone)]
/// struct OncePerDay;
///
/// const DAY: u64 = 86_400_000_000;
///
/// impl Strategy for OncePerDay {
///     /// The start of the last day in which a request came, if any.
///     type State = Option<u64>;
///
///     fn capacity(&self) -> u64 {
///         1
///     }
///
///     fn decide(&self, state: &mut Self::State, now: Timestamp, cost: u64) -> Decision {
///         let today = (now.as_micros() + 18 * DAY / 24) / DAY;
///         let used = state.is_some_and(|day| day >= today);
///         let allowed = cost == 0 || (cost == 1 && !used);
///         if allowed && cost > 0 {
///             *state = Some(today);
///         }
///         let sunrise = Timestamp::from_micros((today + 1) * DAY - 18 * DAY / 24);
///         let spent = used || (allowed && cost > 0);
///         Decision {
///             allowed,
///             limit: 1,
///             remaining: u64::from(!spent),
///             reset_at: if spent { sunrise } else { now },
///             retry_after: if allowed { Duration::ZERO } else { sunrise.since(now) },
///         }
///     }
///
///     fn is_fresh(&self, state: &Self::State, now: Timestamp) -> bool {
///         state.is_none_or(|day| day < (now.as_micros() + 18 * DAY / 24) / DAY)
///     }
/// }
///
/// let mut state = None;
/// let noon = Timestamp::from_secs(43_200);
/// assert!(OncePerDay.decide(&mut state, noon, 1).allowed);
/// let denied = OncePerDay.decide(&mut state, noon, 1);
/// assert_eq!(denied.retry_after, Duration::from_secs(18 * 3_600));
/// ```
pub trait Strategy: Clone + Send + Sync + 'static {
    /// What is remembered of one key; its default is a key never seen.
    type State: Clone + Default + Send + Sync + 'static;

    /// The most units that could ever be admitted at once.
    fn capacity(&self) -> u64;

    /// Decides on `cost` at `now`, and charges `state` if the answer is yes.
    ///
    /// Cost 0 is always allowed and writes nothing. Callers refuse a cost above the capacity beforehand, with
    /// [`Strategy::fits`]; a strategy that is given one all the same denies it.
    fn decide(&self, state: &mut Self::State, now: Timestamp, cost: u64) -> Decision;

    /// Refuses a cost that can never be admitted.
    ///
    /// # Errors
    ///
    /// [`Error::ExceedsCapacity`].
    fn fits<E>(&self, cost: u64) -> Result<(), Error<E>> {
        let limit = self.capacity();
        if cost > limit {
            Err(Error::ExceedsCapacity { cost, limit })
        } else {
            Ok(())
        }
    }

    /// Allowed and retry time as for cost 1, remaining and reset time of the untouched state.
    fn peek(&self, state: &Self::State, now: Timestamp) -> Decision {
        let untouched = self.decide(&mut state.clone(), now, 0);
        let one = self.decide(&mut state.clone(), now, 1);
        Decision {
            allowed: one.allowed,
            retry_after: one.retry_after,
            ..untouched
        }
    }

    /// Units that fit at `now`.
    fn available(&self, state: &Self::State, now: Timestamp) -> u64 {
        self.decide(&mut state.clone(), now, 0).remaining
    }

    /// How long a grant made at `now`, just charged to `state`, lasts.
    fn span(&self, state: &Self::State, now: Timestamp) -> Duration {
        self.decide(&mut state.clone(), now, 0).reset_at.since(now)
    }

    /// Whether budgets are renewed at an edge, so that units charged before it are of no use after it.
    ///
    /// A strategy that replenishes all the time has none, and a grant that comes late is as good as one in time.
    fn has_edges(&self) -> bool {
        true
    }

    /// Where in `state` a grant made at `now` has just been charged.
    fn mark(&self, _state: &Self::State, _now: Timestamp) -> Mark {
        Mark::default()
    }

    /// Takes back up to `amount` unspent units of the grant at `mark`, and returns how many it took.
    ///
    /// Takes none if that could let more through than the strategy allows.
    fn give_back(
        &self,
        _state: &mut Self::State,
        _now: Timestamp,
        _mark: Mark,
        _amount: u64,
    ) -> u64 {
        0
    }

    /// Whether `state` decides like a new one from `now` on, so that a store may forget it.
    fn is_fresh(&self, _state: &Self::State, _now: Timestamp) -> bool {
        false
    }

    /// Whether states written under `other` need no conversion under `self`.
    ///
    /// A state that carries its own scale converts itself in `decide`, on first touch. This method
    /// only tells a store that keeps states [packed](Strategy::pack) whether one `unpack` serves for both strategies.
    fn same_scale(&self, _other: &Self) -> bool {
        true
    }

    /// The state in at most 104 bits, if it was written under this strategy's scale and fits.
    ///
    /// Stores keep packed states in place and others behind a pointer.
    fn pack(&self, _state: &Self::State) -> Option<u128> {
        None
    }

    /// The state that [`Strategy::pack`] packed under the same scale.
    fn unpack(&self, _packed: u128) -> Self::State {
        Self::State::default()
    }

    /// Decides on a packed state, and answers with the state after it too, packed again if it can be.
    ///
    /// What is provided unpacks, decides and packs. A strategy may do so at less cost, and must answer the same.
    #[inline(always)]
    fn decide_packed(&self, packed: u128, now: Timestamp, cost: u64) -> (Decision, Option<u128>) {
        let mut state = self.unpack(packed);
        let decision = self.decide(&mut state, now, cost);
        (decision, self.pack(&state))
    }
}
