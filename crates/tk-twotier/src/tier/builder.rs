//! How a limiter is set up.

use tk_core::{Clock, ConfigError, QuantaClock, Range, Store, Strategy};

use super::{FailurePolicy, Mode, Observer, TwoTier, inner::Inner};

/// Settings of a [`TwoTier`].
///
/// ```
/// use tk_core::{ConfigError, Store};
/// use tk_twotier::{FailurePolicy, Lease, Mode, TwoTier};
///
/// fn limiter<L2: Store>(strategy: L2::Strategy, l2: L2) -> Result<TwoTier<L2>, ConfigError> {
///     TwoTier::builder(strategy, l2)
///         .mode(Mode::Leased(Lease::batch(50).window_coupled(true)))
///         .on_failure(FailurePolicy::one_of(8))
///         .prefix("api")
///         .build()
/// }
/// ```
#[derive(Debug)]
#[must_use = "a builder limits nothing"]
pub struct TwoTierBuilder<L2: Store, C = QuantaClock, O = ()> {
    strategy: L2::Strategy,
    l2: L2,
    mode: Mode,
    policy: FailurePolicy,
    max_keys: u32,
    prefix: Option<String>,
    clock: C,
    observer: O,
}

/// The default of [`TwoTierBuilder::max_keys`].
const MAX_KEYS: u32 = 100_000;

impl<L2: Store> TwoTierBuilder<L2> {
    pub(super) fn new(strategy: L2::Strategy, l2: L2) -> Self {
        Self {
            strategy,
            l2,
            mode: Mode::default(),
            policy: FailurePolicy::default(),
            max_keys: MAX_KEYS,
            prefix: None,
            clock: QuantaClock::new(),
            observer: (),
        }
    }
}

impl<L2: Store, C: Clock + 'static, O: Observer> TwoTierBuilder<L2, C, O> {
    /// How often the shared store is asked.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// What to answer when the shared store fails and no credits are left.
    pub const fn on_failure(mut self, policy: FailurePolicy) -> Self {
        self.policy = policy;
        self
    }

    /// The most keys to remember; 100,000 by default.
    ///
    /// A key beyond that takes the place of the one unused for longest among a few, whose credits are handed back; if none
    /// can give way, the shared store is asked for each of its requests.
    pub const fn max_keys(mut self, max_keys: u32) -> Self {
        self.max_keys = max_keys;
        self
    }

    /// Puts all keys into a name space, so that limiters over one store count apart.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// Reads time from `clock`; the default is a [`QuantaClock`].
    ///
    /// Leases end by its monotonic side, and by its [lag](Clock::lag) earlier than they otherwise would. [`Mode::Leased`] refuses a clock whose
    /// lag has no bound, as a [`CachedClock`](tk_core::CachedClock)'s has none.
    pub fn clock<C2: Clock + 'static>(self, clock: C2) -> TwoTierBuilder<L2, C2, O> {
        TwoTierBuilder {
            strategy: self.strategy,
            l2: self.l2,
            mode: self.mode,
            policy: self.policy,
            max_keys: self.max_keys,
            prefix: self.prefix,
            clock,
            observer: self.observer,
        }
    }

    /// Tells `observer` what happens.
    pub fn observer<O2: Observer>(self, observer: O2) -> TwoTierBuilder<L2, C, O2> {
        TwoTierBuilder {
            strategy: self.strategy,
            l2: self.l2,
            mode: self.mode,
            policy: self.policy,
            max_keys: self.max_keys,
            prefix: self.prefix,
            clock: self.clock,
            observer,
        }
    }

    /// The limiter.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] naming the setting that is out of range: a batch of 0 or above the capacity, a low-water mark that is
    /// not below the batch, a time of 0, no keys, a margin for drift above half, a clock that may lag without bound under leases, a share above the
    /// whole, a prefix that cannot be part of a key, a sizer's option.
    pub fn build(self) -> Result<TwoTier<L2, C, O>, ConfigError> {
        let plan = self.mode.plan(self.strategy.capacity(), self.clock.lag())?;
        Range::between("max_keys", self.max_keys.into(), 1, u32::MAX.into())?;
        if let Some(prefix) = &self.prefix {
            Range::name("prefix", prefix)?;
        }
        // A clock's first reading may take long, and is not left to a request.
        let _ = self.clock.monotonic();
        let inner = Inner::new(
            self.l2,
            self.strategy,
            plan,
            self.policy.checked()?,
            self.max_keys,
            self.prefix.map(String::into_boxed_str),
            self.clock,
            self.observer,
        );
        Ok(TwoTier {
            inner: inner.into(),
        })
    }
}
