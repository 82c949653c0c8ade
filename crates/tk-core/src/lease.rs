//! Grants of units ahead of their use, and how they find their way back.

use core::time::Duration;

use crate::{Decision, Error, Strategy, Timestamp};

/// Where in a state a grant was charged; the strategy that wrote it reads it.
///
/// A fixed window writes the window, a sliding window the slice, a log the instant, GCRA and bucket the
/// arrival time right after the grant, each with the scale it was written under.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Mark(pub u128);

/// Names a grant to the store that made it, so that unspent units can be handed back to where they came from.
///
/// A hand-back whose window, slice or entry is gone, or whose state was reset, evicted or lost since, is
/// refused: that costs capacity until the window ends and never lets more through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Tag {
    incarnation: u64,
    mark: Mark,
    amount: u64,
}

impl Tag {
    /// For stores: a grant of `amount` at `mark`, to a state whose life so far is named by `incarnation`.
    #[must_use]
    pub const fn new(incarnation: u64, mark: Mark, amount: u64) -> Self {
        Self {
            incarnation,
            mark,
            amount,
        }
    }

    /// The life of the state; another after a reset, an eviction or an empty restart.
    #[must_use]
    pub const fn incarnation(&self) -> u64 {
        self.incarnation
    }

    /// Where in the state the grant was charged.
    #[must_use]
    pub const fn mark(&self) -> Mark {
        self.mark
    }

    /// How much was granted: the most that can be handed back.
    #[must_use]
    pub const fn amount(&self) -> u64 {
        self.amount
    }

    /// Hands up to `amount` unspent units of the grant back to `state`, and returns how many it took.
    ///
    /// This is the one rule of every store; the store supplies the state's present `incarnation`.
    pub fn give_back<S: Strategy>(
        &self,
        strategy: &S,
        state: &mut S::State,
        now: Timestamp,
        incarnation: u64,
        amount: u64,
    ) -> u64 {
        let amount = amount.min(self.amount);
        // SPEC: Amnesia!SinceRestartWithinHoldings
        if incarnation != self.incarnation || amount == 0 {
            return 0;
        }
        strategy.give_back(state, now, self.mark, amount)
    }
}

/// Units that a store has charged ahead of their use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[must_use = "granted units are lost unless they are spent or handed back"]
pub struct Grant {
    /// Units granted; 0 if fewer than `at_least` were to be had.
    pub amount: u64,
    /// How long until the grant ends, on the store's own clock, counted from the instant it was made.
    pub span: Duration,
    /// What a hand-back must carry.
    pub tag: Tag,
    /// The decision on the amount granted, or, if nothing was granted, the denial of `at_least`.
    pub decision: Decision,
}

impl Grant {
    /// By how many parts per million a holder's clock and the store's may differ in rate, unless it is known better.
    pub const DRIFT_PPM: u32 = 1_000;

    /// The part of a `span` that its holder may count on: less what clocks `drift_ppm` apart in rate make of it, rounded up to at least
    /// a microsecond, and less the microseconds that the holder's clock may [lag](crate::Clock::lag).
    ///
    /// Counted from before the request was sent, it ends no later than the span itself, which is counted from when the grant was made.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tk_core::Grant;
    ///
    /// let second = Duration::from_secs(1);
    /// assert_eq!(Grant::trusted(second, Grant::DRIFT_PPM, 20), Duration::from_micros(998_979));
    /// ```
    #[must_use]
    pub const fn trusted(span: Duration, drift_ppm: u32, lag: u64) -> Duration {
        let micros = span.as_micros();
        let drift = micros * drift_ppm as u128 / 1_000_000 + 1;
        let trusted = micros.saturating_sub(drift + lag as u128);
        // More than 2^64 microseconds are as good as 2^64.
        Duration::from_micros(if trusted > u64::MAX as u128 {
            u64::MAX
        } else {
            trusted as u64
        })
    }

    /// Charges a partial grant to `state`: `min(want, available)` units, none if that is less than `at_least`.
    ///
    /// `at_least` counts as at least 1, and `want` as at least `at_least` and at most the
    /// capacity. This is the one rule of every store; the store supplies the state's `incarnation`.
    ///
    /// # Errors
    ///
    /// [`Error::ExceedsCapacity`] if `at_least` is above the capacity.
    pub fn charge<S: Strategy, E>(
        strategy: &S,
        state: &mut S::State,
        now: Timestamp,
        want: u64,
        at_least: u64,
        incarnation: u64,
    ) -> Result<Self, Error<E>> {
        let at_least = at_least.max(1);
        strategy.fits(at_least)?;
        let fitting = want.max(at_least).min(strategy.available(state, now));
        let asked = if fitting < at_least {
            at_least
        } else {
            fitting
        };
        let decision = strategy.decide(state, now, asked);
        let amount = if decision.allowed { asked } else { 0 };
        let tag = Tag::new(incarnation, strategy.mark(state, now), amount);
        Ok(Self {
            amount,
            span: strategy.span(state, now),
            tag,
            decision,
        })
    }
}
