//! Waiting until a request fits.

use std::{future::Future, time::Duration};

use tk_core::{Clock, Decision, Error, Key, Limiter};

use crate::{Timed, Timer};

/// How long a waiter sleeps at most, however long it is told to: meanwhile a limit may be raised, or a key reset.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Waits until a request fits, instead of refusing it; other crates call this `until_ready`.
///
/// ```
/// use std::time::Duration;
/// use throttlekit::{Acquire, Gcra, MemoryStore, RateLimiter};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let limiter = RateLimiter::new(Gcra::per_second(100)?.burst(1)?, MemoryStore::new());
/// for _ in 0..3 {
///     limiter.acquire("mail", 1, Duration::from_secs(1)).await?;
/// }
/// # Ok(())
/// # }
/// ```
pub trait Acquire: Limiter + Timed {
    /// Charges `cost` to `key` as soon as it fits, within `within` from now.
    ///
    /// Refuses at once, without waiting, what cannot be met within that time. Sleeps by the decision's
    /// `retry_after` on the limiter's own clock, for a second at most, and asks again: so callers who wait compete with those who do
    /// not, and learn within a second of a limit that was raised or a key that was reset. Each of them makes a check a second, which over a shared
    /// store is a call. Nothing is reserved, and nothing is lost when the
    /// future is dropped.
    ///
    /// The time is that of the limiter's clock: one that is refreshed seldom, a [`CachedClock`](tk_core::CachedClock), lets a waiter
    /// spin for its last two milliseconds until the next refresh, and keeps to `within` no better than that.
    ///
    /// # Errors
    ///
    /// [`AcquireError::TooLate`] if the request does not fit within that time, [`AcquireError::Limiter`] if it
    /// never can, or if the limiter gives no decision.
    fn acquire<K: Key + ?Sized>(
        &self,
        key: &K,
        cost: u64,
        within: Duration,
    ) -> impl Future<Output = Result<Decision, AcquireError<Self::Error>>> + Send
    where
        Self::Timer: Sync;
}

impl<L: Limiter + Timed> Acquire for L {
    async fn acquire<K: Key + ?Sized>(
        &self,
        key: &K,
        cost: u64,
        within: Duration,
    ) -> Result<Decision, AcquireError<L::Error>>
    where
        L::Timer: Sync,
    {
        let start = self.timer().monotonic();
        loop {
            let decision = self
                .check_n(key, cost)
                .await
                .map_err(AcquireError::Limiter)?;
            if decision.allowed {
                return Ok(decision);
            }
            let left = within.saturating_sub(self.timer().monotonic().since(start));
            if decision.retry_after > left {
                return Err(AcquireError::TooLate { decision, left });
            }
            // A denial never says "at once", but a user's own strategy might: do not spin on it.
            let pause = decision
                .retry_after
                .clamp(Duration::from_micros(1), LONGEST_PAUSE);
            self.timer().sleep(pause).await;
        }
    }
}

/// Why a request was not charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AcquireError<E> {
    /// It does not fit within the time given. Nothing was charged.
    #[error("fits in {:?} at the earliest, {left:?} are left", decision.retry_after)]
    TooLate {
        /// The denial.
        decision: Decision,
        /// What was left of the time given.
        left: Duration,
    },
    /// The limiter gave no decision; a cost above the capacity is among the reasons.
    #[error(transparent)]
    Limiter(Error<E>),
}
