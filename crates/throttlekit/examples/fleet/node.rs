//! One node: asks when requests are due, and counts what is admitted.

use std::{
    collections::BTreeMap,
    error::Error,
    time::{Duration, Instant},
};

use throttlekit::{
    Clock, Error as CheckError, Store, SystemClock,
    twotier::{TierError, TwoTier},
};

use crate::clock::{Charged, NodeClock};

/// All nodes count under this key.
const KEY: &str = "fleet";

pub(crate) struct Node<L2: Store> {
    pub(crate) limiter: TwoTier<L2, NodeClock>,
    pub(crate) charged: Charged,
    pub(crate) window: u64,
}

/// What a node saw.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) requests: u64,
    /// Units admitted by the start of the window in which they were charged, by the store's clock.
    pub(crate) admitted: BTreeMap<u64, u64>,
    /// How long each check took.
    pub(crate) times: Vec<Duration>,
    pub(crate) l2_calls: u64,
    pub(crate) stranded: u64,
    /// Requests denied since the shared store did not answer.
    pub(crate) unanswered: u64,
}

/// A node's error can leave its task.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

impl<L2: Store> Node<L2> {
    /// Asks at `start` plus each of the times in `due`, then hands back what is left.
    pub(crate) async fn live(
        self,
        start: u64,
        due: impl Iterator<Item = u64>,
    ) -> Result<Seen, Failure>
    where
        L2::Error: std::fmt::Display,
    {
        let mut seen = Seen::default();
        for at in due {
            wait_until(start + at).await;
            self.request(&mut seen)
                .await
                .map_err(|error| error.to_string())?;
        }
        let _ = self.limiter.close().await;
        let stats = self.limiter.stats();
        (seen.l2_calls, seen.stranded) = (stats.l2_calls, stats.stranded);
        seen.unanswered = stats.denied_by_policy;
        Ok(seen)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the time of a check is what is measured"
    )]
    async fn request(&self, seen: &mut Seen) -> Result<(), CheckError<TierError<L2::Error>>> {
        let before = Instant::now();
        let decision = self.limiter.check(KEY).await?;
        seen.times.push(before.elapsed());
        seen.requests += 1;
        if decision.allowed {
            let at = self.charged.at();
            *seen.admitted.entry(at - at % self.window).or_default() += 1;
        }
        Ok(())
    }
}

/// Waits until the shared store's clock reads `at`; timers are good to a millisecond.
pub(crate) async fn wait_until(at: u64) {
    let now = SystemClock.now().as_micros();
    if at > now {
        tokio::time::sleep(Duration::from_micros(at - now)).await;
    }
}
