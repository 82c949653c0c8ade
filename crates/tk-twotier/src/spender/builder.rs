//! How a spender is set up.

use std::time::Duration;

use tk_core::{Clock, ConfigError, Range, SystemClock};

use super::{LeaseSpender, State};
use crate::{LeaseRules, ledger::Purse, line::Line, sync::Mutex};

/// Settings of a [`LeaseSpender`].
///
/// ```
/// use std::time::Duration;
/// use tk_twotier::LeaseSpender;
///
/// let spender = LeaseSpender::builder(1_000, Duration::from_secs(60)).batch(50).build()?;
/// # Ok::<(), tk_core::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder spends nothing"]
pub struct LeaseSpenderBuilder<C = SystemClock> {
    limit: u64,
    ttl: Duration,
    batch: Option<u64>,
    is_coupled: bool,
    drift_ppm: u32,
    clock: C,
}

impl LeaseSpenderBuilder {
    pub(super) const fn new(limit: u64, ttl: Duration) -> Self {
        Self {
            limit,
            ttl,
            batch: None,
            is_coupled: true,
            drift_ppm: LeaseRules::DRIFT_PPM,
            clock: SystemClock,
        }
    }
}

impl<C: Clock> LeaseSpenderBuilder<C> {
    /// Units to ask for at a time; a tenth of the limit by default.
    pub const fn batch(mut self, batch: u64) -> Self {
        self.batch = Some(batch);
        self
    }

    /// Whether credits end with the window that granted them (the default), or are carried over.
    ///
    /// Carried over, one unit of a grant that nobody waits for any more is given up.
    pub const fn window_coupled(mut self, is_coupled: bool) -> Self {
        self.is_coupled = is_coupled;
        self
    }

    /// By how many parts per million this node's monotonic clock and the service's clock may differ in rate.
    pub const fn drift_ppm(mut self, drift_ppm: u32) -> Self {
        self.drift_ppm = drift_ppm;
        self
    }

    /// The clock that [`spend`](LeaseSpender::spend) is given readings of, and of no other: another may start elsewhere, or lag by more.
    /// The default is [`SystemClock`], which a caller has at hand without asking the spender for it.
    ///
    /// Credits end by its [lag](Clock::lag) earlier than they otherwise would.
    pub fn clock<C2: Clock>(self, clock: C2) -> LeaseSpenderBuilder<C2> {
        LeaseSpenderBuilder {
            limit: self.limit,
            ttl: self.ttl,
            batch: self.batch,
            is_coupled: self.is_coupled,
            drift_ppm: self.drift_ppm,
            clock,
        }
    }

    /// The spender.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] naming the setting that is out of range.
    pub fn build(self) -> Result<LeaseSpender<C>, ConfigError> {
        let limit = Range::between("limit", self.limit.into(), 1, Range::MAX_UNITS)?;
        Range::period("ttl", self.ttl)?;
        let batch = self.batch.unwrap_or((limit / 10).max(1));
        let batch = Range::between("batch", batch.into(), 1, limit)?;
        let state = State {
            purse: Purse::default(),
            lent: 0,
            line: Line::new(),
            has_leased: false,
        };
        // A clock's first reading may take long, and is not left to a request.
        let _ = self.clock.monotonic();
        Ok(LeaseSpender {
            state: Mutex::new(state),
            limit,
            ttl: self.ttl,
            rules: LeaseRules::new(batch)?
                .coupled(self.is_coupled)
                .drift_ppm(self.drift_ppm)?
                .lag(self.clock.lag())?,
            clock: self.clock,
        })
    }
}
