//! One budget, one process.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tk_core::{Clock, Decision, Error, Key, Limiter, SystemClock, Timestamp};

use crate::{
    EqualWeights, FairError, Stats, TenantId, TenantStats, Weigh,
    builder::{EscrowBuilder, Settings},
    decision::{Clocking, decision, free},
    identity::{Identity, admissible},
    shares::{Ask, Shares},
};

/// Splits one budget per window over tenants in proportion to their weights, and leaves nothing unused that somebody asks for.
///
/// Windows are aligned to the Unix epoch. A check costs O(log n) for n active tenants. What fair means here
/// and why it holds is in [the crate's documentation](crate).
///
/// ```
/// use std::time::Duration;
/// use tk_fair::WeightedFairEscrow;
///
/// let escrow = WeightedFairEscrow::builder(30_000, Duration::from_secs(60))
///     .weight_of(|tenant: &str| match tenant.split(':').next() {
///         Some("enterprise") => 4,
///         Some("pro") => 2,
///         _ => 1,
///     })
///     .build()?;
///
/// let decision = escrow.check("enterprise:alpha", 1_000)?;
/// assert!(decision.allowed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct WeightedFairEscrow<W = EqualWeights, C = SystemClock> {
    settings: Settings,
    weight_of: W,
    clock: C,
    identity: Identity,
    state: Mutex<Windowed>,
}

/// Shares, and the window they are in.
#[derive(Debug)]
struct Windowed {
    shares: Shares,
    /// None before the first check.
    start: Option<u64>,
}

impl WeightedFairEscrow {
    /// An escrow that admits `limit` units in each `window`.
    pub const fn builder(limit: u64, window: Duration) -> EscrowBuilder {
        EscrowBuilder::new(limit, window)
    }
}

impl<W, C: Clock> WeightedFairEscrow<W, C> {
    pub(crate) fn new(settings: Settings, weight_of: W, clock: C) -> Self {
        let state = Windowed {
            shares: settings.shares(),
            start: None,
        };
        Self {
            settings,
            weight_of,
            clock,
            identity: Identity::random(),
            state: Mutex::new(state),
        }
    }

    /// Decides on a request of `tenant`, and charges it if the answer is yes. Cost 0 is always allowed and leaves no trace.
    ///
    /// `limit` and `remaining` of the decision describe the tenant's own share: what is promised to it while the others who were
    /// active in this window are, and what of that it has not used. It may be admitted beyond. The retry time of a denial is a lower bound:
    /// before it nothing changes for the better by the passing of time alone (another tenant's request may free units
    /// sooner), and whoever asks again at that time has not become idle.
    ///
    /// # Errors
    ///
    /// A cost above the limit, an empty name, or a weight above [`MAX_WEIGHT`](crate::MAX_WEIGHT).
    pub fn check<T>(&self, tenant: &T, cost: u64) -> Result<Decision, FairError>
    where
        T: Key + ?Sized,
        W: Weigh<T>,
    {
        let limit = self.settings.limit();
        let weight = admissible(tenant, cost, limit, &self.weight_of)?;
        let id = self.identity.of(tenant);
        let now = self.clock.now().as_micros();
        let mut state = self.lock();
        let window = state.roll(&self.settings, now);
        let clocking = Clocking {
            now,
            window_end: window + self.settings.window(),
            limit,
        };
        if cost == 0 {
            let used = state.shares.tenant(id.0).used;
            return Ok(free(&state.shares, weight, used, clocking));
        }
        let ask = Ask {
            tenant: id.0,
            weight,
            cost,
            now,
        };
        let (verdict, used) = state.shares.ask(&ask);
        Ok(decision(&state.shares, weight, used, verdict, clocking))
    }

    /// Makes a newcomer of `tenant`: nothing is promised to it for the rest of the window, and it has used nothing. What it used stays used, so that
    /// the limit holds, and its weight goes on counting in the window's sum, once, so that nobody is promised more or less.
    pub fn reset<T: Key + ?Sized>(&self, tenant: &T) {
        let id = self.identity.of(tenant);
        self.lock().shares.leave(id.0);
    }

    /// This window, and everyone in it. Looks at each tenant known, and holds up checks while it does.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let now = self.clock.now().as_micros();
        let mut state = self.lock();
        let start = state.roll(&self.settings, now);
        Stats::of(
            &state.shares,
            Timestamp::from_micros(start),
            self.settings.limit(),
        )
    }

    /// One tenant in this window.
    #[must_use]
    pub fn stats_of<T: Key + ?Sized>(&self, tenant: &T) -> TenantStats {
        let now = self.clock.now().as_micros();
        let mut state = self.lock();
        state.roll(&self.settings, now);
        TenantStats::of(&state.shares, self.identity.of(tenant))
    }

    /// The identity under which [`stats`](Self::stats) lists `tenant`, since names are not kept.
    #[must_use]
    pub fn id_of<T: Key + ?Sized>(&self, tenant: &T) -> TenantId {
        self.identity.of(tenant)
    }

    /// The most that is admitted in a window.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        self.settings.limit()
    }

    /// The length of a window.
    #[must_use]
    pub const fn window(&self) -> Duration {
        Duration::from_micros(self.settings.window())
    }

    fn lock(&self) -> MutexGuard<'_, Windowed> {
        // Nothing panics while the lock is held; if something did, the shares would still be within the limit.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Windowed {
    /// Goes to the window of `now`, unless a later one has begun; the start of the window it is in.
    fn roll(&mut self, settings: &Settings, now: u64) -> u64 {
        let start = now - now % settings.window();
        match self.start {
            Some(current) if current >= start => current,
            _ => {
                self.shares.roll(start, settings.limit());
                self.start = Some(start);
                start
            }
        }
    }
}

impl<C: Clock + 'static> Limiter for WeightedFairEscrow<EqualWeights, C> {
    type Error = FairError;

    async fn check_n<K: Key + ?Sized>(
        &self,
        key: &K,
        cost: u64,
    ) -> Result<Decision, Error<FairError>> {
        self.check(key, cost).map_err(FairError::into_core)
    }
}
