//! One budget, several processes, one counter in a store.

use std::{fmt, sync::Arc};

use tk_core::{
    Clock, ConfigError, Decision, Error, FixedWindow, Key, Limiter, Range, Store, SystemClock, Tag,
};

use crate::{
    EqualWeights, EscrowBuilder, FairError, Stats, TenantId, TenantStats, Weigh,
    funded::{Funded, Funding, Lender, Need},
};

/// A [fair split](crate) of what this process leases from a counter that several share.
///
/// Units are leased `quantum` at a time, or more if a request and the reservations ahead of it need more, from one
/// fixed window under `l2_key` in a [`Store`]. All processes together admit at most the limit, whatever their number and however their
/// clocks differ.
///
/// # What is promised across processes
///
/// Each process splits what it has leased. With `F` units leased in a window, a tenant that has been active *here* since the window began gets at least
/// `floor(w * F / W) - (c - 1)` of them, `W` over those active here. So tenants that ask at every process, as behind a
/// load balancer, get their share of the whole to within, for each process, one cost and what that process leased and did not spend: at most a quantum, and
/// reservations of tenants that did not use them. Tenants that ask at one process only are served there, but processes compete for the counter first come,
/// first served; where that matters, use a [`FederatedEscrow`](crate::FederatedEscrow).
pub struct LeasedEscrow<St: Store<Strategy = FixedWindow>, W = EqualWeights, C = SystemClock> {
    funded: Funded<Counter<St>, W, C>,
}

/// The shared counter as a lender.
struct Counter<St> {
    store: St,
    strategy: FixedWindow,
    key: Box<str>,
}

impl<St: Store<Strategy = FixedWindow>> Lender for Counter<St> {
    type Tag = Tag;
    type Error = Error<St::Error>;
    const SHOWS_SPARE: bool = false;

    async fn lend(&self, need: Need) -> Result<Funding<Tag>, Error<St::Error>> {
        let want = need.want.min(self.strategy.limit());
        let grant = self
            .store
            .lease(&self.strategy, &*self.key, want, 1)
            .await?;
        Ok(Funding {
            amount: grant.amount,
            spare: 0,
            span: grant.span,
            retry_after: grant.span,
            window: grant.tag.mark().0,
            tag: grant.tag,
            returnable: grant.tag.amount(),
        })
    }

    async fn take_back(&self, tag: Tag, amount: u64) -> Result<u64, Error<St::Error>> {
        self.store
            .give_back(&self.strategy, &*self.key, tag, amount)
            .await
    }
}

impl<W, C: Clock + 'static> EscrowBuilder<W, C> {
    /// An escrow that leases its budget, `quantum` units at a time, from the fixed window under `l2_key` in `store`.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] as for [`build`](Self::build), if `quantum` is not within 1 to the limit, if `l2_key` is empty, longer than
    /// 128 bytes, or holds a control character, or if the clock's [lag](Clock::lag) has no bound.
    pub fn leased<St>(
        self,
        store: St,
        l2_key: &str,
        quantum: u64,
    ) -> Result<LeasedEscrow<St, W, C>, ConfigError>
    where
        St: Store<Strategy = FixedWindow>,
    {
        let settings = self.settings()?;
        Range::between("quantum", u128::from(quantum), 1, settings.limit())?;
        let counter = Counter {
            store,
            strategy: settings.strategy(),
            key: Range::name("l2_key", l2_key)?.into(),
        };
        let funded = Funded::new(settings, quantum, self.weight_of, self.clock, counter)?;
        Ok(LeasedEscrow { funded })
    }
}

impl<St: Store<Strategy = FixedWindow>, W, C: Clock + 'static> LeasedEscrow<St, W, C> {
    /// Decides on a request of `tenant`, and charges it if the answer is yes, as
    /// [`WeightedFairEscrow::check`](crate::WeightedFairEscrow::check) does. Waits for the store if it must lease.
    ///
    /// Dropping the future loses nothing: a request that it waited for is kept, and the next check or [`give_back`](Self::give_back) of this escrow takes it up. Until then
    /// nobody polls it, so it holds what it has of the store, such as one of the calls that may be in flight at a time, and units that it
    /// drew may end unspent. Where that matters and checks are dropped, as by a timeout, let the check run on a task of its own.
    ///
    /// # Errors
    ///
    /// A cost above the limit, an empty name, a weight that is none, or the store's error, which all who waited for it share; [`FairError::Lost`] if
    /// the store panicked.
    pub async fn check<T>(
        &self,
        tenant: &T,
        cost: u64,
    ) -> Result<Decision, FairError<Arc<Error<St::Error>>>>
    where
        T: Key + ?Sized,
        W: Weigh<T>,
    {
        self.funded.check(tenant, cost).await
    }

    /// Hands back what the last lease left unspent, if nobody is active; how much the store took. Call it when a process goes quiet or ends.
    /// Waits for a request that is on its way.
    ///
    /// # Errors
    ///
    /// The store's. What was on its way is then lost until the window ends.
    pub async fn give_back(&self) -> Result<u64, FairError<Arc<Error<St::Error>>>> {
        self.funded.give_back().await
    }

    /// Makes a newcomer of `tenant` in this process, as [`WeightedFairEscrow::reset`](crate::WeightedFairEscrow::reset) does. What it used stays used.
    pub fn reset<T: Key + ?Sized>(&self, tenant: &T) {
        self.funded.reset(tenant);
    }

    /// This window in this process. Looks at each tenant known, and holds up checks while it does.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.funded.stats()
    }

    /// One tenant in this window and process.
    #[must_use]
    pub fn stats_of<T: Key + ?Sized>(&self, tenant: &T) -> TenantStats {
        self.funded.stats_of(tenant)
    }

    /// The identity under which [`stats`](Self::stats) lists `tenant`.
    #[must_use]
    pub fn id_of<T: Key + ?Sized>(&self, tenant: &T) -> TenantId {
        self.funded.id_of(tenant)
    }
}

impl<St: Store<Strategy = FixedWindow>, W, C> fmt::Debug for LeasedEscrow<St, W, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeasedEscrow")
            .field("settings", &self.funded.settings)
            .field("l2_key", &self.funded.lender.key)
            .finish_non_exhaustive()
    }
}

impl<St, C> Limiter for LeasedEscrow<St, EqualWeights, C>
where
    St: Store<Strategy = FixedWindow>,
    C: Clock + 'static,
{
    type Error = FairError<Arc<Error<St::Error>>>;

    async fn check_n<K: Key + ?Sized>(
        &self,
        key: &K,
        cost: u64,
    ) -> Result<Decision, Error<Self::Error>> {
        self.check(key, cost).await.map_err(FairError::into_core)
    }
}
