//! A budget that regions of a fleet draw from: the rule of `tk-fair` in one script on one hash.
//!
//! The script decides, and answers with the state as it found it; the client runs the very rule of `tk-fair` on that state,
//! compares, and takes from it what the script need not work out. So grants are those of
//! [`RegionFairPool`](tk_fair::RegionFairPool), one by one, and a server that grants otherwise is found out.

mod reply;

use std::{fmt, sync::Arc};

use fred::bytes::Bytes;
use tk_core::{Clock, ConfigError, Range, Timestamp};
use tk_fair::{
    Draw, MAX_REGION_WEIGHT, PoolFull, PoolRule, PoolTag, RegionGrant, RegionName, RegionPool,
};

use self::reply::{Reply, field};
use crate::{
    RedisStore, Scripted, StoreError,
    key::Space,
    link::{Call, Link},
    operation::Arguments,
    reply::malformed,
    script::{POOL_DRAW, POOL_GIVE_BACK, Script},
    store::SLACK,
};

/// Larger counts of units are as good as this one, 2^48.
const MAX_UNITS: u64 = 1 << 48;

/// A budget in Redis, Valkey, or a cluster of them, that regions draw from by the rule of [`PoolRule`].
///
/// It lies over the connections of a [`RedisStore`] and has its bounds, its prefix and its clock: the server's, if it was not given another. All regions
/// must give the same rule. The state is one hash, which lives until the end of the next window, since the claims of regions do.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use tk_core::FixedWindow;
/// use tk_fair::{Draw, PoolRule, RegionName, RegionPool};
/// use tk_store_redis::{RedisRegionFairPool, RedisStore};
///
/// let store: RedisStore<FixedWindow> = RedisStore::builder("api").url("redis://127.0.0.1").build()?;
/// let rule = PoolRule::new(100_000, Duration::from_secs(60), Duration::from_secs(6))?;
/// let pool = RedisRegionFairPool::over(&store, "world", rule)?;
/// let us_east = RegionName::new("us-east")?;
/// let grant = pool.draw(&us_east, Draw { weight: 7, settled: 0, want: 500 }).await?;
/// println!("{} of 500 for {:?}", grant.amount, grant.span);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RedisRegionFairPool {
    link: Arc<Link>,
    key: Bytes,
    rule: PoolRule,
    clock: Option<Arc<dyn Clock>>,
}

/// Why a pool in Redis has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// There are as many regions in this window as there may be; nothing was granted.
    #[error(transparent)]
    Full(#[from] PoolFull),
    /// The server could not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RedisRegionFairPool {
    /// The pool of this name, over the connections of a store.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Name`] if `name` is empty, longer than 128 bytes, or holds a control character.
    pub fn over<S: Scripted>(
        store: &RedisStore<S>,
        name: &str,
        rule: PoolRule,
    ) -> Result<Self, ConfigError> {
        let name = Range::name("name", name)?;
        let (link, prefix, clock) = store.parts();
        Ok(Self {
            key: Space::new(prefix, name, "pool").key("regions").into(),
            link,
            rule,
            clock,
        })
    }

    async fn call(
        &self,
        script: &'static Script,
        region: &RegionName,
        numbers: &[u64],
    ) -> Result<Reply, StoreError> {
        let now = self.clock.as_ref().map(|clock| clock.now());
        let reply = self.link.call(Call::Script {
            script,
            key: self.key.clone(),
            arguments: self.arguments(now, region, numbers),
        });
        Reply::parse(reply.await?)
    }

    fn arguments(&self, now: Option<Timestamp>, region: &RegionName, numbers: &[u64]) -> Arguments {
        let slack = if now.is_some() { SLACK } else { 0 };
        let mut arguments = Arguments::new(now, slack, 0);
        let spans = [self.rule.window(), self.rule.idle_after()];
        arguments.push(self.rule.limit());
        for span in spans {
            arguments.push(u64::try_from(span.as_micros()).unwrap_or(u64::MAX));
        }
        arguments.push_text(field(region.as_str()));
        for number in numbers {
            arguments.push(*number);
        }
        arguments
    }
}

impl RegionPool for RedisRegionFairPool {
    type Error = PoolError;

    fn rule(&self) -> &PoolRule {
        &self.rule
    }

    async fn draw(&self, region: &RegionName, draw: Draw) -> Result<RegionGrant, PoolError> {
        let numbers = [
            draw.weight.min(MAX_REGION_WEIGHT),
            draw.settled.min(MAX_UNITS),
            draw.want.min(MAX_UNITS),
        ];
        let mut reply = self.call(&POOL_DRAW, region, &numbers).await?;
        let grant = self
            .rule
            .draw(&mut reply.state, region.as_str(), draw, reply.now)?;
        if grant.amount != reply.units {
            return Err(malformed("it contradicts the rule").into());
        }
        Ok(grant)
    }

    async fn give_back(
        &self,
        region: &RegionName,
        tag: PoolTag,
        amount: u64,
    ) -> Result<u64, PoolError> {
        if amount == 0 {
            return Ok(0);
        }
        let numbers = [tag.start, tag.begun, tag.turn, amount.min(MAX_UNITS)];
        let mut reply = self.call(&POOL_GIVE_BACK, region, &numbers).await?;
        let (state, name) = (&mut reply.state, region.as_str());
        let taken = self.rule.give_back(state, name, tag, amount, reply.now);
        if taken != reply.units {
            return Err(malformed("it contradicts the rule").into());
        }
        Ok(taken)
    }
}

impl fmt::Debug for RedisRegionFairPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The link is left out: fred's clients know passwords.
        f.debug_struct("RedisRegionFairPool")
            .field("key", &String::from_utf8_lossy(&self.key))
            .field("rule", &self.rule)
            .finish_non_exhaustive()
    }
}
