//! How an escrow is set up.

use std::time::Duration;

use tk_core::{Clock, ConfigError, FixedWindow, Range, SystemClock};

use crate::{EqualWeights, WeightedFairEscrow, shares::Shares};

/// The most tenants that may be remembered at once: 2^31.
const MOST_KEYS: u64 = 1 << 31;

/// Tenants remembered at once unless said otherwise: 2^20.
const DEFAULT_KEYS: usize = 1 << 20;

/// What was given; checked when the escrow is built.
#[derive(Clone, Debug)]
#[must_use = "an escrow is made by `build`"]
pub struct EscrowBuilder<W = EqualWeights, C = SystemClock> {
    pub(crate) limit: u64,
    pub(crate) window: Duration,
    pub(crate) idle_after: Option<Duration>,
    pub(crate) max_keys: usize,
    pub(crate) weight_of: W,
    pub(crate) clock: C,
}

impl EscrowBuilder {
    pub(crate) const fn new(limit: u64, window: Duration) -> Self {
        Self {
            limit,
            window,
            idle_after: None,
            max_keys: DEFAULT_KEYS,
            weight_of: EqualWeights,
            clock: SystemClock,
        }
    }
}

impl<W, C> EscrowBuilder<W, C> {
    /// The weight of each tenant; a function, or anything that can [weigh](crate::Weigh). By default all weigh the same.
    pub fn weight_of<V>(self, weight_of: V) -> EscrowBuilder<V, C> {
        EscrowBuilder {
            limit: self.limit,
            window: self.window,
            idle_after: self.idle_after,
            max_keys: self.max_keys,
            weight_of,
            clock: self.clock,
        }
    }

    /// The clock by which windows begin. By default the system's.
    pub fn clock<D>(self, clock: D) -> EscrowBuilder<W, D> {
        EscrowBuilder {
            limit: self.limit,
            window: self.window,
            idle_after: self.idle_after,
            max_keys: self.max_keys,
            weight_of: self.weight_of,
            clock,
        }
    }

    /// How long a tenant that does not ask keeps its claim: by default a tenth of the window, at most a fifth.
    pub const fn idle_after(mut self, idle_after: Duration) -> Self {
        self.idle_after = Some(idle_after);
        self
    }

    /// The most tenants remembered at once, 2^20 by default.
    ///
    /// Idle ones give way to new ones, but not before the window ends in which they were active, unless nobody is active any more: forgotten, they would count
    /// twice if they came back. While all places are taken by such tenants, a newcomer is denied. So there should be places for all who ask in one window.
    pub const fn max_keys(mut self, max_keys: usize) -> Self {
        self.max_keys = max_keys;
        self
    }

    pub(crate) fn settings(&self) -> Result<Settings, ConfigError> {
        let strategy = FixedWindow::new(self.limit, self.window)?;
        // A window has been found to be at most 2^45 microseconds.
        let window = self.window.as_micros() as u64;
        let idle_after = match self.idle_after {
            None => (window / 10).max(1),
            Some(given) => Range::micros("idle_after", given, (window / 5).max(1))?,
        };
        Range::between("max_keys", self.max_keys as u128, 1, MOST_KEYS)?;
        Ok(Settings {
            strategy,
            window,
            idle_after,
            max_keys: self.max_keys,
        })
    }
}

impl<W, C: Clock> EscrowBuilder<W, C> {
    /// The escrow.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if `limit` is not within 1 to 2^48, `window` not within 1 to 2^45 whole microseconds, `idle_after`
    /// not within 1 microsecond to a fifth of the window, or `max_keys` not within 1 to 2^31.
    pub fn build(self) -> Result<WeightedFairEscrow<W, C>, ConfigError> {
        let settings = self.settings()?;
        Ok(WeightedFairEscrow::new(
            settings,
            self.weight_of,
            self.clock,
        ))
    }
}

/// Settings that have been checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    strategy: FixedWindow,
    window: u64,
    idle_after: u64,
    max_keys: usize,
}

impl Settings {
    pub(crate) fn shares(&self) -> Shares {
        // A tenant that asks once in a window keeps its turn.
        Shares::new(self.idle_after, 2 * self.window, self.max_keys)
    }

    pub(crate) const fn strategy(&self) -> FixedWindow {
        self.strategy
    }

    pub(crate) const fn limit(&self) -> u64 {
        self.strategy.limit()
    }

    /// In microseconds.
    pub(crate) const fn idle_after(&self) -> u64 {
        self.idle_after
    }

    /// In microseconds.
    pub(crate) const fn window(&self) -> u64 {
        self.window
    }
}
