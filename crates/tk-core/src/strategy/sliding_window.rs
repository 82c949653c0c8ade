//! A ring of counters over a window that trails the present.
//!
//! The window is cut into `buckets` slices, numbered from the epoch: slice k begins at k * window / buckets, which need not be a
//! whole microsecond, so positions are kept in units of 1/buckets microsecond: `now * buckets = c * window + r`. The estimate
//! is the sum of the newest `buckets` slices plus the one before, weighted by the part of it that the
//! window still overlaps, (window - r) / window. It never falls short of the truth by more than one slice's units, and while nothing
//! arrives it only falls, without steps; that is what makes the retry time exact.

use alloc::{vec, vec::Vec};
use core::time::Duration;

use crate::{ConfigError, Decision, Mark, Range, Strategy, Timestamp};

/// At most `limit` units in a window that trails the present, counted in slices.
///
/// Close to exact at any limit, with `buckets + 1` counters per key: only the oldest slice is weighted instead of counted, so the
/// error is at most one slice. `buckets` need not divide the window. One bucket is the classic estimate
/// from the previous window.
///
/// ```
/// use core::time::Duration;
/// use tk_core::{SlidingWindow, Strategy, Timestamp};
///
/// let strategy = SlidingWindow::per_minute(100)?.buckets(6)?;
/// let mut state = Default::default();
/// assert!(strategy.decide(&mut state, Timestamp::from_secs(59), 100).allowed);
/// let denied = strategy.decide(&mut state, Timestamp::from_secs(60), 100);
/// assert_eq!(denied.retry_after, Duration::from_secs(60));
/// # Ok::<(), tk_core::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlidingWindow {
    limit: u64,
    window: u64,
    buckets: u64,
}

/// What a [`SlidingWindow`] remembers: a ring of counters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SlidingWindowState {
    /// The number of the newest slice in which units were used.
    pub newest: u64,
    /// Units used in the newest `buckets + 1` slices; slice k stands at k modulo their number.
    pub counts: Vec<u64>,
    /// The window in microseconds, part of the scale the state was written under.
    pub window: u64,
    /// The number of buckets, the other part.
    pub buckets: u64,
}

/// An instant as a slice and the way into it, in units of 1/buckets microsecond.
#[derive(Clone, Copy)]
struct Position {
    slice: u64,
    into: u64,
}

impl SlidingWindow {
    /// At most `limit` units in any `window`, counted in 10 buckets; see [`SlidingWindow::buckets`].
    ///
    /// A window shorter than 10 microseconds has as many buckets as microseconds.
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
            Ok(window) => Ok(Self {
                limit,
                window,
                buckets: if window < 10 { window } else { 10 },
            }),
            Err(error) => Err(error),
        }
    }

    super::per_period!(SlidingWindow, "At most `limit` units in any span of a ");

    /// Counts in `buckets` slices: more of them make the estimate finer and the state larger.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if `buckets` is not within 1 to 1,024 or above the microseconds in the window, or if `window * buckets`
    /// reaches 2^53.
    pub const fn buckets(mut self, buckets: u64) -> Result<Self, ConfigError> {
        let mut max = Range::MAX_BUCKETS;
        if self.window < max {
            max = self.window;
        }
        let exact = ((1 << 53) - 1) / self.window;
        if exact < max {
            max = exact;
        }
        match Range::between("buckets", buckets as u128, 1, max) {
            Ok(buckets) => {
                self.buckets = buckets;
                Ok(self)
            }
            Err(error) => Err(error),
        }
    }

    /// The most units in a window.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// The length of the window.
    #[must_use]
    pub const fn window(&self) -> Duration {
        Duration::from_micros(self.window)
    }

    /// The number of slices.
    #[must_use]
    pub const fn bucket_count(&self) -> u64 {
        self.buckets
    }

    fn same_as(&self, state: &SlidingWindowState) -> bool {
        (state.window, state.buckets) == (self.window, self.buckets)
            && state.counts.len() as u64 == self.buckets + 1
    }

    fn at(&self, now: Timestamp) -> Position {
        // Below 2^52 * 2^10.
        let scaled = now.as_micros() * self.buckets;
        Position {
            slice: scaled / self.window,
            into: scaled % self.window,
        }
    }

    /// `now`, or the start of the newest slice if that is later.
    fn effective(&self, state: &SlidingWindowState, now: Timestamp) -> Position {
        let position = self.at(now);
        let behind = state.newest > position.slice && state.counts.iter().any(|&count| count > 0);
        if behind {
            Position {
                slice: state.newest,
                into: 0,
            }
        } else {
            position
        }
    }

    /// The first whole microsecond at or after a position.
    fn micros(&self, slice: u64, into: u64) -> u64 {
        let scaled = u128::from(slice) * u128::from(self.window) + u128::from(into);
        u64::try_from(scaled.div_ceil(u128::from(self.buckets))).unwrap_or(u64::MAX)
    }

    /// Units in the newest `buckets` slices at `slice`, and those in the one before.
    fn sums(&self, state: &SlidingWindowState, slice: u64) -> (u64, u64) {
        let oldest = slice.checked_sub(self.buckets);
        let first = oldest
            .map_or(0, |oldest| oldest + 1)
            .max(state.newest.saturating_sub(self.buckets));
        let full = (first..=slice.min(state.newest))
            .map(|k| state.count(k))
            .fold(0, u64::saturating_add);
        (full, oldest.map_or(0, |oldest| state.count(oldest)))
    }

    /// The estimate at a position, rounded up. Rounding changes no answer, since costs and limits are whole.
    fn estimate(&self, state: &SlidingWindowState, at: Position) -> u64 {
        let (full, before) = self.sums(state, at.slice);
        full.saturating_add(weighted(before, self.window - at.into, self.window))
    }

    /// The first microsecond at which `cost` fits if nothing else arrives.
    fn fits_at(&self, state: &SlidingWindowState, from: Position, cost: u64) -> u64 {
        let (mut full, mut before) = self.sums(state, from.slice);
        let mut slice = from.slice;
        let last = state.newest.saturating_add(self.buckets);
        while full.saturating_add(cost) > self.limit && slice <= last {
            slice += 1;
            before = slice
                .checked_sub(self.buckets)
                .map_or(0, |oldest| state.count(oldest));
            full -= before.min(full);
        }
        let room = u128::from(self.limit.saturating_sub(full).saturating_sub(cost));
        let window = u128::from(self.window);
        let overlap = (room * window)
            .checked_div(before.into())
            .unwrap_or(window)
            .min(window);
        self.micros(slice, self.window - overlap as u64)
    }

    /// When the last unit has left the window; `now` if none is in it.
    fn reset_at(&self, state: &SlidingWindowState, now: Timestamp) -> Timestamp {
        let oldest = state.newest.saturating_sub(self.buckets);
        let newest = (oldest..=state.newest)
            .rev()
            .find(|&slice| state.count(slice) > 0);
        let left = newest.map_or(0, |slice| {
            self.micros(slice + 1, 0).saturating_add(self.window)
        });
        Timestamp::from_micros(left).max(now)
    }

    /// Units used under another scale, rounded up, count as used at the newest instant.
    #[cold]
    fn converted(&self, state: &SlidingWindowState, now: Timestamp) -> SlidingWindowState {
        let buckets = (state.counts.len() as u64).saturating_sub(1);
        if state.window == 0 || buckets == 0 {
            return SlidingWindowState::default();
        }
        let old = Self {
            limit: self.limit,
            window: state.window,
            buckets,
        };
        let used = old.estimate(state, old.effective(state, now));
        if used == 0 {
            return SlidingWindowState::default();
        }
        let newest = Timestamp::from_micros(old.micros(state.newest, 0)).max(now);
        let mut converted = SlidingWindowState::default();
        converted.add(self, self.at(newest).slice, used);
        converted
    }
}

/// `count * part / whole`, rounded up; `part <= whole`.
fn weighted(count: u64, part: u64, whole: u64) -> u64 {
    match count.checked_mul(part) {
        Some(product) => product.div_ceil(whole),
        // At most `count`, since `part <= whole`.
        None => (u128::from(count) * u128::from(part)).div_ceil(whole.into()) as u64,
    }
}

impl SlidingWindowState {
    /// Units in a slice that the ring holds; 0 for any other.
    fn count(&self, slice: u64) -> u64 {
        let slots = self.counts.len() as u64;
        let held = slots > 0 && slice <= self.newest && self.newest - slice < slots;
        if held {
            self.counts[(slice % slots) as usize]
        } else {
            0
        }
    }

    /// Adds units to `slice`, which is older than the newest only if the ring holds nothing.
    fn add(&mut self, rule: &SlidingWindow, slice: u64, units: u64) {
        if self.counts.is_empty() {
            let counts = vec![0; rule.buckets as usize + 1];
            *self = Self {
                newest: slice,
                counts,
                window: rule.window,
                buckets: rule.buckets,
            };
        }
        let slots = self.counts.len() as u64;
        match slice.checked_sub(self.newest) {
            Some(passed) if passed < slots => {
                for slice in (0..passed).map(|back| slice - back) {
                    self.counts[(slice % slots) as usize] = 0;
                }
            }
            _ => self.counts.fill(0),
        }
        self.newest = slice;
        self.counts[(slice % slots) as usize] += units;
    }
}

impl Strategy for SlidingWindow {
    type State = SlidingWindowState;

    fn capacity(&self) -> u64 {
        self.limit
    }

    fn decide(&self, state: &mut SlidingWindowState, now: Timestamp, cost: u64) -> Decision {
        if !state.counts.is_empty() && !self.same_as(state) {
            let mut converted = self.converted(state, now);
            let decision = self.decide(&mut converted, now, cost);
            // Also if denied, or the retry time would start anew with each call.
            if cost > 0 {
                *state = converted;
            }
            return decision;
        }
        let at = self.effective(state, now);
        let used = self.estimate(state, at);
        let allowed = cost == 0 || cost <= self.limit.saturating_sub(used);
        let charged = if allowed { cost } else { 0 };
        if charged > 0 {
            state.add(self, at.slice, charged);
        }
        let retry_at = if allowed {
            0
        } else {
            self.fits_at(state, at, cost)
        };
        Decision {
            allowed,
            limit: self.limit,
            remaining: self.limit.saturating_sub(used).saturating_sub(charged),
            reset_at: self.reset_at(state, now),
            retry_after: Duration::from_micros(retry_at.saturating_sub(now.as_micros())),
        }
    }

    /// The slice, with the scale.
    fn mark(&self, state: &SlidingWindowState, now: Timestamp) -> Mark {
        let slice = self.effective(state, now).slice;
        Mark(u128::from(slice) << 64 | u128::from(self.window) << 11 | u128::from(self.buckets))
    }

    fn give_back(
        &self,
        state: &mut SlidingWindowState,
        now: Timestamp,
        mark: Mark,
        amount: u64,
    ) -> u64 {
        let slice = (mark.0 >> 64) as u64;
        let scale = u128::from(self.window) << 11 | u128::from(self.buckets);
        if !self.same_as(state) || mark.0 & u128::from(u64::MAX) != scale {
            return 0;
        }
        let live = self.effective(state, now).slice <= slice.saturating_add(self.buckets);
        let applied = if live {
            amount.min(state.count(slice))
        } else {
            0
        };
        if applied > 0 {
            let slots = state.counts.len() as u64;
            state.counts[(slice % slots) as usize] -= applied;
        }
        applied
    }

    fn is_fresh(&self, state: &SlidingWindowState, now: Timestamp) -> bool {
        if state.counts.is_empty() {
            return true;
        }
        self.same_as(state) && self.reset_at(state, now) <= now
    }

    fn same_scale(&self, other: &Self) -> bool {
        (self.window, self.buckets) == (other.window, other.buckets)
    }
}
