//! One budget, several regions, each with tenants of its own.

use std::{fmt, sync::Arc, time::Duration};

use tk_core::{Clock, ConfigError, Decision, Error, Key, Limiter, Range, SystemClock};

use crate::{
    Draw, EqualWeights, EscrowBuilder, FairError, PoolTag, RegionName, RegionPool, Stats, TenantId,
    TenantStats, Weigh,
    funded::{Funded, Funding, Lender, Need},
};

/// A [fair split](crate) of one region's part of a budget that several regions draw from.
///
/// The pool splits the budget over regions, each of which weighs as much as its active tenants together; the escrow splits the region's
/// part over tenants. What tenants get over all regions is then what one split over all of them would give, to within a quantum for each region.
///
/// The region draws what it spends, `quantum` units at a time. What it keeps for tenants that have not asked for it yet stays in the pool: the pool tells how much
/// the region *could* draw, and the escrow shares that out. So when a tenant falls silent, its share goes to all regions and not
/// to its neighbours only. What the pool tells is believed for a second at most.
///
/// ```
/// use std::time::Duration;
/// use tk_fair::{FederatedEscrow, PoolRule, RegionFairPool};
///
/// # async fn demo() -> Result<(), Box<dyn std::error::Error>> {
/// let rule = PoolRule::new(100_000, Duration::from_secs(60), Duration::from_secs(6))?;
/// let escrow = FederatedEscrow::builder("us-east", RegionFairPool::new(rule))
///     .quantum(100)
///     .weight_of(|tenant: &str| if tenant.starts_with("pro:") { 2 } else { 1 })
///     .build()?;
/// assert!(escrow.check("pro:acme", 10).await?.allowed);
/// # Ok(())
/// # }
/// ```
pub struct FederatedEscrow<P: RegionPool, W = EqualWeights, C = SystemClock> {
    funded: Funded<Pooled<P>, W, C>,
}

/// The pool as a lender to one region.
struct Pooled<P> {
    pool: P,
    region: RegionName,
}

impl<P: RegionPool> Lender for Pooled<P> {
    type Tag = PoolTag;
    type Error = P::Error;
    const SHOWS_SPARE: bool = true;

    async fn lend(&self, need: Need) -> Result<Funding<PoolTag>, P::Error> {
        let Need {
            want,
            weight,
            settled,
        } = need;
        let draw = Draw {
            weight,
            settled,
            want,
        };
        let grant = self.pool.draw(&self.region, draw).await?;
        Ok(Funding {
            amount: grant.amount,
            spare: grant.spare,
            span: grant.span,
            retry_after: grant.retry_after,
            window: u128::from(grant.tag.start) << 64 | u128::from(grant.tag.begun),
            tag: grant.tag,
            returnable: u64::MAX,
        })
    }

    async fn take_back(&self, tag: PoolTag, amount: u64) -> Result<u64, P::Error> {
        self.pool.give_back(&self.region, tag, amount).await
    }
}

/// How a [`FederatedEscrow`] is set up. Limit, window and the time after which somebody counts as idle are the pool's.
#[derive(Clone, Debug)]
#[must_use = "an escrow is made by `build`"]
pub struct FederatedBuilder<P, W = EqualWeights, C = SystemClock> {
    region: Box<str>,
    pool: P,
    quantum: Option<u64>,
    tenants: EscrowBuilder<W, C>,
}

impl<P: RegionPool> FederatedEscrow<P> {
    /// The escrow of `region`, which draws from `pool`.
    pub fn builder(region: &str, pool: P) -> FederatedBuilder<P> {
        let rule = *pool.rule();
        FederatedBuilder {
            region: region.into(),
            pool,
            quantum: None,
            tenants: EscrowBuilder::new(rule.limit(), rule.window()).idle_after(rule.idle_after()),
        }
    }
}

impl<P: RegionPool, W, C> FederatedBuilder<P, W, C> {
    /// Units drawn at a time: by default a thousandth of the limit.
    pub const fn quantum(mut self, quantum: u64) -> Self {
        self.quantum = Some(quantum);
        self
    }

    /// The weight of each tenant; by default all weigh the same. For a tenant that lives in several regions, see [`split_weight`](crate::split_weight()).
    pub fn weight_of<V>(self, weight_of: V) -> FederatedBuilder<P, V, C> {
        FederatedBuilder {
            region: self.region,
            pool: self.pool,
            quantum: self.quantum,
            tenants: self.tenants.weight_of(weight_of),
        }
    }

    /// The clock by which drawn units end; by default the system's.
    pub fn clock<D>(self, clock: D) -> FederatedBuilder<P, W, D> {
        FederatedBuilder {
            region: self.region,
            pool: self.pool,
            quantum: self.quantum,
            tenants: self.tenants.clock(clock),
        }
    }

    /// The most tenants remembered at once, 2^20 by default, as in [`EscrowBuilder::max_keys`].
    pub fn max_keys(mut self, max_keys: usize) -> Self {
        self.tenants = self.tenants.max_keys(max_keys);
        self
    }
}

impl<P: RegionPool, W, C: Clock + 'static> FederatedBuilder<P, W, C> {
    /// The escrow.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if the region's name cannot be used, `quantum` is not within 1 to the limit, `max_keys` not within 1 to 2^31, or the
    /// clock's [lag](Clock::lag) has no bound.
    pub fn build(self) -> Result<FederatedEscrow<P, W, C>, ConfigError> {
        let settings = self.tenants.settings()?;
        let quantum = self.quantum.unwrap_or((settings.limit() / 1_000).max(1));
        Range::between("quantum", u128::from(quantum), 1, settings.limit())?;
        let pooled = Pooled {
            pool: self.pool,
            region: RegionName::new(&self.region)?,
        };
        let EscrowBuilder {
            weight_of, clock, ..
        } = self.tenants;
        let funded = Funded::new(settings, quantum, weight_of, clock, pooled)?;
        Ok(FederatedEscrow { funded })
    }
}

impl<P: RegionPool, W, C: Clock + 'static> FederatedEscrow<P, W, C> {
    /// Decides on a request of `tenant`, and charges it if the answer is yes, as
    /// [`WeightedFairEscrow::check`](crate::WeightedFairEscrow::check) does. Waits for the pool if it must draw.
    ///
    /// Dropping the future loses nothing: a request that it waited for is kept, and the next check or [`give_back`](Self::give_back) of this escrow takes it up. Until then
    /// nobody polls it, so it holds what it has of the pool, such as one of the calls that may be in flight at a time, and units that it
    /// drew may end unspent. Where that matters and checks are dropped, as by a timeout, let the check run on a task of its own.
    ///
    /// # Errors
    ///
    /// A cost above the limit, an empty name, a weight that is none, or the pool's error, which all who waited for it share; [`FairError::Lost`] if
    /// the pool panicked.
    pub async fn check<T>(
        &self,
        tenant: &T,
        cost: u64,
    ) -> Result<Decision, FairError<Arc<P::Error>>>
    where
        T: Key + ?Sized,
        W: Weigh<T>,
    {
        self.funded.check(tenant, cost).await
    }

    /// Hands back what is drawn and not spent, if no tenant is active; how much the pool took. Call it from a timer, or when a region goes quiet.
    /// Waits for a request that is on its way.
    ///
    /// # Errors
    ///
    /// The pool's. What was on its way is then lost until the window ends.
    pub async fn give_back(&self) -> Result<u64, FairError<Arc<P::Error>>> {
        self.funded.give_back().await
    }

    /// Makes a newcomer of `tenant` in this region, as [`WeightedFairEscrow::reset`](crate::WeightedFairEscrow::reset) does. What it used stays used.
    pub fn reset<T: Key + ?Sized>(&self, tenant: &T) {
        self.funded.reset(tenant);
    }

    /// This window in this region. Looks at each tenant known, and holds up checks while it does.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.funded.stats()
    }

    /// One tenant in this window and region.
    #[must_use]
    pub fn stats_of<T: Key + ?Sized>(&self, tenant: &T) -> TenantStats {
        self.funded.stats_of(tenant)
    }

    /// The identity under which [`stats`](Self::stats) lists `tenant`.
    #[must_use]
    pub fn id_of<T: Key + ?Sized>(&self, tenant: &T) -> TenantId {
        self.funded.id_of(tenant)
    }

    /// The region's name.
    #[must_use]
    pub fn region(&self) -> &RegionName {
        &self.funded.lender.region
    }

    /// The length of a window.
    #[must_use]
    pub const fn window(&self) -> Duration {
        Duration::from_micros(self.funded.settings.window())
    }
}

impl<P: RegionPool, W, C> fmt::Debug for FederatedEscrow<P, W, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FederatedEscrow")
            .field("settings", &self.funded.settings)
            .field("region", &self.funded.lender.region)
            .finish_non_exhaustive()
    }
}

impl<P: RegionPool, C: Clock + 'static> Limiter for FederatedEscrow<P, EqualWeights, C> {
    type Error = FairError<Arc<P::Error>>;

    async fn check_n<K: Key + ?Sized>(
        &self,
        key: &K,
        cost: u64,
    ) -> Result<Decision, Error<Self::Error>> {
        self.check(key, cost).await.map_err(FairError::into_core)
    }
}

/// Regions of one program share a pool.
impl<P: RegionPool> RegionPool for Arc<P> {
    type Error = P::Error;

    fn rule(&self) -> &crate::PoolRule {
        (**self).rule()
    }

    fn draw(
        &self,
        region: &RegionName,
        draw: Draw,
    ) -> impl Future<Output = Result<crate::RegionGrant, P::Error>> + Send {
        (**self).draw(region, draw)
    }

    fn give_back(
        &self,
        region: &RegionName,
        tag: PoolTag,
        amount: u64,
    ) -> impl Future<Output = Result<u64, P::Error>> + Send {
        (**self).give_back(region, tag, amount)
    }
}
