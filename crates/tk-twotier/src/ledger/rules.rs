//! The settings of the protocol.

use std::time::Duration;

use tk_core::{ConfigError, Grant, Monotonic, Range};

#[cfg(feature = "faults")]
use super::Fault;

/// How leases are asked for and how long they are trusted.
///
/// Settings may differ from one call to the next: the bounds then hold for the largest batch that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeaseRules {
    batch: u64,
    low_water: u64,
    is_coupled: bool,
    drops_late: bool,
    drift_ppm: u32,
    /// In microseconds.
    lag: u64,
    asks_again: u8,
    #[cfg(feature = "faults")]
    pub(super) fault: Option<Fault>,
}

impl LeaseRules {
    /// The default margin for clocks that run at different rates: 1,000 parts per million.
    ///
    /// Crystals are off by less than 100, and a clock that is being slewed by at most 500.
    pub const DRIFT_PPM: u32 = Grant::DRIFT_PPM;
    /// How often a grant that came too late is asked for again.
    pub const ASKS_AGAIN: u8 = 3;
    /// Ask again for ever; see [`LeaseRules::asks_again`].
    pub const WITHOUT_END: u8 = u8::MAX;

    /// Leases of `batch` units, carried over the window's edge, no background refill.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if `batch` is not within 1 to 2^48.
    pub const fn new(batch: u64) -> Result<Self, ConfigError> {
        match Range::between("batch", batch as u128, 1, Range::MAX_UNITS) {
            Ok(batch) => Ok(Self {
                batch,
                low_water: 0,
                is_coupled: false,
                drops_late: true,
                drift_ppm: Self::DRIFT_PPM,
                lag: 0,
                asks_again: Self::ASKS_AGAIN,
                #[cfg(feature = "faults")]
                fault: None,
            }),
            Err(error) => Err(error),
        }
    }

    /// Whether credits end with the span of their grant, or are carried over.
    #[must_use]
    pub const fn coupled(self, is_coupled: bool) -> Self {
        Self { is_coupled, ..self }
    }

    /// Refills in the background once no more than `low_water` credits are left. 0 never does.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if it is not below the batch: a full batch would be low, and refills would never end.
    pub const fn low_water(self, low_water: u64) -> Result<Self, ConfigError> {
        match Range::between("low_water", low_water as u128, 0, self.batch - 1) {
            Ok(low_water) => Ok(Self { low_water, ..self }),
            Err(error) => Err(error),
        }
    }

    /// By how much the rates of this node's monotonic clock and the store's clock may differ.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if it is above 500,000 parts per million.
    pub const fn drift_ppm(self, drift_ppm: u32) -> Result<Self, ConfigError> {
        match Range::between("drift_ppm", drift_ppm as u128, 0, 500_000) {
            Ok(_) => Ok(Self { drift_ppm, ..self }),
            Err(error) => Err(error),
        }
    }

    /// By how much the readings of this node's monotonic clock may be behind; its [`Clock::lag`](tk_core::Clock::lag). Zero by default.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if it has no bound: see [`Range::lag`].
    pub const fn lag(self, lag: Duration) -> Result<Self, ConfigError> {
        match Range::lag(lag) {
            Ok(lag) => Ok(Self { lag, ..self }),
            Err(error) => Err(error),
        }
    }

    /// Whether a grant whose span is over on arrival is dropped, as it must be wherever budgets are renewed at an edge.
    ///
    /// Carried-over credits of a strategy without edges (GCRA, token bucket) may do without: any instant may begin
    /// their window, so that a grant in flight counts in full one way or the other. Coupled credits are dropped always.
    #[must_use]
    pub const fn drops_late(self, drops_late: bool) -> Self {
        Self { drops_late, ..self }
    }

    /// How often in a row a late grant is asked for again before its waiters are told;
    /// [`LeaseRules::WITHOUT_END`] never tells them.
    #[must_use]
    pub const fn asks_again(self, times: u8) -> Self {
        Self {
            asks_again: times,
            ..self
        }
    }

    /// The same rules for leases of another size, at least 1. The low-water mark stays below it.
    #[must_use]
    pub fn sized(self, batch: u64) -> Self {
        let batch = batch.max(1);
        Self {
            batch,
            low_water: self.low_water.min(batch - 1),
            ..self
        }
    }

    /// Breaks one rule of the protocol.
    #[cfg(feature = "faults")]
    #[must_use]
    pub const fn with_fault(self, fault: Fault) -> Self {
        Self {
            fault: Some(fault),
            ..self
        }
    }

    /// Units per lease.
    #[must_use]
    pub const fn batch(&self) -> u64 {
        self.batch
    }

    /// Whether `held` credits are few enough to refill in the background.
    #[must_use]
    pub const fn refills_at(&self, held: u64) -> bool {
        self.low_water > 0 && held <= self.low_water
    }

    pub(super) fn ends_with_span(&self) -> bool {
        self.is_coupled && !self.never_ends()
    }

    /// Whether a grant is kept whole, though nobody waits for it.
    pub(super) fn carries_all(&self) -> bool {
        self.is_coupled || self.keeps_ownerless()
    }

    pub(super) const fn refuses_late(&self) -> bool {
        self.is_coupled || self.drops_late
    }

    /// The count of late grants in a row after one more; it stands still where nobody looks at it.
    pub(super) const fn after_late(&self, late: u8) -> u8 {
        if self.asks_again == Self::WITHOUT_END {
            0
        } else {
            late.saturating_add(1)
        }
    }

    /// Whether this many late grants in a row are one too many.
    pub(super) const fn is_enough(&self, late: u8) -> bool {
        self.asks_again != Self::WITHOUT_END && late > self.asks_again
    }

    /// The most carried-over credits that a node keeps when a grant is applied.
    ///
    /// Without refills it enters a window with at most a batch less one; refills are kept whole.
    pub(super) const fn keeps(&self) -> u64 {
        if self.low_water == 0 {
            // SPEC: AsyncLeasing!OvershootWithinCarry
            // SPEC: DistributedLeasing!OvershootWithinCarry
            // SPEC: DistributedLeasing!CreditsAreBackedOrCarried
            self.batch - 1
        } else {
            // SPEC: LowWater!HoldingsStayWithinBatchAndLowWater
            // SPEC: LowWater!OvershootWithinBatchesAndLowWater
            self.batch.saturating_add(self.low_water)
        }
    }

    /// The end of a grant that lasts `span` from some instant after `sent`, on the clock that read `sent`.
    pub(super) fn end(&self, sent: Monotonic, span: Duration) -> Monotonic {
        // Rule 3: from the send instant, less the drift over the span, rounded up, and less what a later reading may be behind.
        // SPEC: SkewedLeasing!GrantsEndInTime
        // SPEC: SkewedLeasing!NeverOverAdmits
        sent + Grant::trusted(span, self.drift_ppm, self.lag)
    }
}
