//! How often the shared store is asked.

use std::time::Duration;

use tk_core::{ConfigError, Range};

use crate::{LeaseRules, Sizers, Sizing};

/// How a [`TwoTier`](super::TwoTier) coordinates with the shared store.
///
/// ```
/// use std::time::Duration;
/// use tk_twotier::{DenyCache, Lease, Mode, SizerOptions};
///
/// let exact = Mode::Strict;
/// let shielded = Mode::CachedDeny(DenyCache::default());
/// let leased = Mode::Leased(Lease::batch(100).window_coupled(true));
/// let learned = Mode::Leased(
///     Lease::adaptive(SizerOptions::new(200.0, 1.0))
///         .window_coupled(true)
///         .return_idle_after(Duration::from_millis(500)),
/// );
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Mode {
    /// Asks for every request. Exact.
    #[default]
    Strict,
    /// Asks for every request that may be allowed; what was denied is denied again from memory.
    CachedDeny(DenyCache),
    /// Asks for a batch at a time and spends it locally.
    Leased(Lease),
}

/// For how long a denial is remembered.
#[derive(Clone, Copy, Debug)]
pub struct DenyCache {
    max_age: Duration,
}

/// How units are leased.
#[derive(Clone, Debug)]
pub struct Lease {
    size: Size,
    low_water: u64,
    is_coupled: bool,
    drift_ppm: u32,
    idle: Option<Duration>,
    denials: Option<DenyCache>,
}

#[derive(Clone, Debug)]
enum Size {
    Batch(u64),
    Adaptive(Sizing),
}

impl DenyCache {
    /// Remembers a denial for at most `max_age`, however far its retry time is.
    ///
    /// A limit that is raised, or a key that is reset elsewhere, is noticed after that time at the latest.
    #[must_use]
    pub const fn max_age(max_age: Duration) -> Self {
        Self { max_age }
    }
}

/// One second.
impl Default for DenyCache {
    fn default() -> Self {
        Self::max_age(Duration::from_secs(1))
    }
}

impl Lease {
    /// Leases of `batch` units, or as many as a dearer request costs.
    #[must_use]
    pub const fn batch(batch: u64) -> Self {
        Self::sized(Size::Batch(batch))
    }

    /// Leases whose size is learned, key by key: from [`SizerOptions`](crate::SizerOptions), or from sizers of one's own.
    ///
    /// The bound holds for the largest size that a sizer emits.
    #[must_use]
    pub fn adaptive(sizing: impl Into<Sizing>) -> Self {
        Self::sized(Size::Adaptive(sizing.into()))
    }

    const fn sized(size: Size) -> Self {
        Self {
            size,
            low_water: 0,
            is_coupled: false,
            drift_ppm: LeaseRules::DRIFT_PPM,
            idle: None,
            denials: None,
        }
    }

    /// Refills in the background once no more than `credits` are left, so that no request waits. 0 never does.
    #[must_use]
    pub const fn low_water(mut self, credits: u64) -> Self {
        self.low_water = credits;
        self
    }

    /// Whether credits end with the window that granted them, or are carried over into the next.
    #[must_use]
    pub const fn window_coupled(mut self, is_coupled: bool) -> Self {
        self.is_coupled = is_coupled;
        self
    }

    /// Hands the credits of a key back when nobody has asked for it for so long, in whole microseconds.
    ///
    /// A hit leaves no time behind: a key that was hit between two looks at it counts as used at the second. Looks are half of
    /// `idle` apart, so that credits go home after one to two times that.
    #[must_use]
    pub const fn return_idle_after(mut self, idle: Duration) -> Self {
        self.idle = Some(idle);
        self
    }

    /// By how many parts per million this node's monotonic clock and the store's clock may differ in rate.
    #[must_use]
    pub const fn drift_ppm(mut self, drift_ppm: u32) -> Self {
        self.drift_ppm = drift_ppm;
        self
    }

    /// Remembers denials as [`Mode::CachedDeny`] does. Without it, each request that finds no credits asks.
    #[must_use]
    pub const fn cached_denials(mut self, cache: DenyCache) -> Self {
        self.denials = Some(cache);
        self
    }
}

/// A mode whose settings were checked against a capacity.
#[derive(Debug)]
pub(crate) struct Plan {
    /// What leases are asked for by, if there are any.
    pub(crate) lease: Option<LeasePlan>,
    /// How long a denial is remembered, if at all.
    pub(crate) max_denial: Option<Duration>,
}

#[derive(Debug)]
pub(crate) struct LeasePlan {
    /// Their batch is an upper bound where sizes are learned.
    pub(crate) rules: LeaseRules,
    pub(crate) sizers: Option<Sizers>,
    pub(crate) idle: Option<Duration>,
}

impl Mode {
    /// `lag` is by how much the node's clock may be behind.
    pub(crate) fn plan(&self, capacity: u64, lag: Duration) -> Result<Plan, ConfigError> {
        Ok(match self {
            Self::Strict => Plan {
                lease: None,
                max_denial: None,
            },
            Self::CachedDeny(cache) => Plan {
                lease: None,
                max_denial: Some(cache.checked()?),
            },
            Self::Leased(lease) => Plan {
                lease: Some(lease.plan(capacity, lag)?),
                max_denial: lease.denials.map(|cache| cache.checked()).transpose()?,
            },
        })
    }
}

impl DenyCache {
    fn checked(self) -> Result<Duration, ConfigError> {
        Range::period("max_age", self.max_age).map(|_| self.max_age)
    }
}

impl Lease {
    fn plan(&self, capacity: u64, lag: Duration) -> Result<LeasePlan, ConfigError> {
        let (batch, sizers) = match &self.size {
            Size::Batch(batch) => (*batch, None),
            Size::Adaptive(sizing) => (capacity, Some(sizing.for_capacity(capacity)?)),
        };
        let batch = Range::between("batch", batch.into(), 1, capacity)?;
        let rules = LeaseRules::new(batch)?
            .coupled(self.is_coupled)
            .low_water(self.low_water)?
            .drift_ppm(self.drift_ppm)?
            .lag(lag)?;
        if let Some(idle) = self.idle {
            Range::period("return_idle_after", idle)?;
        }
        Ok(LeasePlan {
            rules,
            sizers,
            idle: self.idle,
        })
    }
}
