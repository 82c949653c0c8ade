//! Waiting on the clock that a limiter counts by.

use std::{future::Future, sync::Arc, time::Duration};

use tk_core::{CachedClock, Clock, ManualClock, SystemClock};

/// A clock that one can wait on.
pub trait Timer: Clock {
    /// Returns once `duration` has passed on the monotonic side of this clock.
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send;
}

/// A limiter that knows which clock it counts by.
pub trait Timed {
    /// Its clock.
    type Timer: Timer;

    /// Its clock.
    fn timer(&self) -> &Self::Timer;
}

/// Tokio's timer is this coarse; what is left of a wait is spent yielding, so that a limit of thousands
/// per second is reached and not a tenth of it.
const COARSE: Duration = Duration::from_millis(2);

/// The longest single sleep: a timer cannot overflow on it.
const PIECE: Duration = Duration::from_secs(86_400);

impl Timer for SystemClock {
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send {
        sleep_on(SystemClock, duration)
    }
}

#[cfg(any(feature = "memory", feature = "twotier"))]
impl Timer for tk_core::QuantaClock {
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send {
        sleep_on(*self, duration)
    }
}

impl<C: Clock + Clone> Timer for CachedClock<C> {
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send {
        sleep_on(self.clone(), duration)
    }
}

async fn sleep_on(clock: impl Clock, duration: Duration) {
    let start = clock.monotonic();
    loop {
        let left = duration.saturating_sub(clock.monotonic().since(start));
        if left.is_zero() {
            return;
        }
        if left > COARSE {
            tokio::time::sleep((left - COARSE).min(PIECE)).await;
        } else {
            tokio::task::yield_now().await;
        }
    }
}

/// Looks at the clock every millisecond, since whoever moves it tells nobody.
impl Timer for ManualClock {
    async fn sleep(&self, duration: Duration) {
        let start = self.monotonic();
        while self.monotonic().since(start) < duration {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

impl<C: Timer> Timer for Arc<C> {
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send {
        (**self).sleep(duration)
    }
}

impl<C: Timer> Timer for &C {
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send {
        (**self).sleep(duration)
    }
}

impl<L: Timed> Timed for Arc<L> {
    type Timer = L::Timer;

    fn timer(&self) -> &L::Timer {
        (**self).timer()
    }
}

impl<L: Timed> Timed for &L {
    type Timer = L::Timer;

    fn timer(&self) -> &L::Timer {
        (**self).timer()
    }
}

#[cfg(feature = "memory")]
mod over_memory {
    use std::sync::Arc;

    use tk_core::{AsyncRateLimiter, RateLimiter, Strategy};
    use tk_store_memory::MemoryStore;

    use super::{Timed, Timer};

    macro_rules! timed {
        ($($front:ident over $store:ty),*) => { $(
            impl<S: Strategy, C: Timer + 'static> Timed for $front<$store> {
                type Timer = C;

                fn timer(&self) -> &C {
                    self.store().clock()
                }
            }
        )* };
    }

    timed!(
        RateLimiter over MemoryStore<S, C>,
        RateLimiter over Arc<MemoryStore<S, C>>,
        AsyncRateLimiter over MemoryStore<S, C>,
        AsyncRateLimiter over Arc<MemoryStore<S, C>>
    );
}

#[cfg(feature = "twotier")]
impl<L2, C, O> Timed for tk_twotier::TwoTier<L2, C, O>
where
    L2: tk_core::Store,
    C: Timer + Clock + 'static,
    O: tk_twotier::Observer,
{
    type Timer = C;

    fn timer(&self) -> &C {
        self.clock()
    }
}

/// The server counts by a clock of its own; waits are of real time.
#[cfg(feature = "redis")]
impl<S: tk_store_redis::Scripted> Timed
    for tk_core::AsyncRateLimiter<tk_store_redis::RedisStore<S>>
{
    type Timer = SystemClock;

    fn timer(&self) -> &SystemClock {
        &SystemClock
    }
}
