//! A counter per window.

use core::time::Duration;

use crate::{ConfigError, Decision, Mark, Range, Strategy, Timestamp};

/// At most `limit` units in each window; windows are aligned to the Unix epoch.
///
/// The cheapest window, and the coarsest: around the edge of two windows it admits up to twice the limit
/// within less than a window. Use a sliding window where that matters. A window of one day
/// begins at midnight UTC.
///
/// ```
/// use core::time::Duration;
/// use tk_core::{FixedWindow, Strategy, Timestamp};
///
/// let strategy = FixedWindow::new(10, Duration::from_secs(60))?;
/// let mut state = Default::default();
/// assert_eq!(strategy.decide(&mut state, Timestamp::from_secs(59), 10).remaining, 0);
/// assert!(strategy.decide(&mut state, Timestamp::from_secs(60), 10).allowed);
/// # Ok::<(), tk_core::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FixedWindow {
    limit: u64,
    window: u64,
}

/// What a [`FixedWindow`] remembers: the window's start and what was used in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FixedWindowState {
    /// Microseconds since the epoch at which the window began.
    pub start: u64,
    /// Units used in it.
    pub used: u64,
    /// The window's length in microseconds: the scale the state was written under. 0 in a new state.
    pub window: u64,
}

impl FixedWindowState {
    /// The window's end; saturating, since a state may come from outside.
    #[inline]
    const fn end(&self) -> u64 {
        self.start.saturating_add(self.window)
    }
}

impl FixedWindow {
    /// At most `limit` units in each `window`.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if `limit` is not within 1 to 2^48, or `window` not within 1 to 2^45 whole microseconds.
    pub const fn new(limit: u64, window: Duration) -> Result<Self, ConfigError> {
        let limit = match Range::units("limit", limit) {
            Ok(limit) => limit,
            Err(error) => return Err(error),
        };
        match Range::period("window", window) {
            Ok(window) => Ok(Self { limit, window }),
            Err(error) => Err(error),
        }
    }

    super::per_period!(FixedWindow, "At most `limit` units in each UTC ");

    /// The most units in a window.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// The length of a window.
    #[must_use]
    pub const fn window(&self) -> Duration {
        Duration::from_micros(self.window)
    }

    /// The start of the window in force at `now` and what is used in it: the stored one until it has ended.
    ///
    /// That holds also for a window of which everything was handed back: were it forgotten, a clock that steps back would
    /// find the window before it empty. Units used under another window's length count as used at the newest instant.
    #[inline]
    fn current(&self, state: &FixedWindowState, now: Timestamp) -> (u64, u64) {
        let now = now.as_micros();
        if now >= state.end() {
            (self.start(now), 0)
        } else if state.window == self.window {
            (state.start, state.used)
        } else {
            (self.start(now.max(state.start)), state.used)
        }
    }

    const fn mark_of(&self, start: u64) -> Mark {
        Mark((start as u128) << 64 | self.window as u128)
    }

    #[inline]
    const fn start(&self, at: u64) -> u64 {
        at - at % self.window
    }
}

impl Strategy for FixedWindow {
    type State = FixedWindowState;

    #[inline]
    fn capacity(&self) -> u64 {
        self.limit
    }

    #[inline]
    fn decide(&self, state: &mut FixedWindowState, now: Timestamp, cost: u64) -> Decision {
        let (start, used) = self.current(state, now);
        let end = start.saturating_add(self.window);
        let allowed = cost == 0 || cost <= self.limit.saturating_sub(used);
        let after = if allowed { used + cost } else { used };
        // A denial keeps what a change of window made of the state, or its retry time would start anew with each call.
        let converted = state.window != self.window && used > 0;
        if cost > 0 && (allowed || converted) {
            *state = FixedWindowState {
                start,
                used: after,
                window: self.window,
            };
        }
        Decision {
            allowed,
            limit: self.limit,
            remaining: self.limit.saturating_sub(after),
            reset_at: if after > 0 {
                Timestamp::from_micros(end)
            } else {
                now
            },
            retry_after: if allowed {
                Duration::ZERO
            } else {
                Duration::from_micros(end.saturating_sub(now.as_micros()))
            },
        }
    }

    fn span(&self, state: &FixedWindowState, now: Timestamp) -> Duration {
        let (start, _) = self.current(state, now);
        Duration::from_micros(
            start
                .saturating_add(self.window)
                .saturating_sub(now.as_micros()),
        )
    }

    fn mark(&self, state: &FixedWindowState, now: Timestamp) -> Mark {
        self.mark_of(self.current(state, now).0)
    }

    fn give_back(
        &self,
        state: &mut FixedWindowState,
        now: Timestamp,
        mark: Mark,
        amount: u64,
    ) -> u64 {
        let live = state.window == self.window && now.as_micros() < state.end();
        if !live || mark != self.mark_of(state.start) {
            return 0;
        }
        let applied = amount.min(state.used);
        state.used -= applied;
        applied
    }

    #[inline]
    fn is_fresh(&self, state: &FixedWindowState, now: Timestamp) -> bool {
        let now = now.as_micros();
        now >= state.end() || (state.used == 0 && now >= state.start)
    }

    fn same_scale(&self, other: &Self) -> bool {
        self.window == other.window
    }

    #[inline]
    fn pack(&self, state: &FixedWindowState) -> Option<u128> {
        let fits = state.window == self.window && state.start < 1 << 54 && state.used < 1 << 50;
        fits.then(|| u128::from(state.start) << 50 | u128::from(state.used))
    }

    #[inline]
    fn unpack(&self, packed: u128) -> FixedWindowState {
        let used = (packed & ((1 << 50) - 1)) as u64;
        FixedWindowState {
            start: (packed >> 50) as u64,
            used,
            window: self.window,
        }
    }
}
