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
/// Close to exact at any limit, with `buckets + 1` counters per key: only the oldest slice is weighted instead of counted. No span that is
/// shorter than the window by a slice or more sees more than `limit`; one as long as the window sees up to twice as much, if all of the
/// oldest slice's units came at its end. `buckets` need not divide the window. One bucket is the classic estimate
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
    /// Slices since the newest in which units were used.
    passed: usize,
}

impl SlidingWindow {
    /// About `limit` units in any `window`, counted in 10 buckets; see [`SlidingWindow::buckets`].
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

    super::per_period!(SlidingWindow, "About `limit` units in any span of a ");

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

    /// The state under this rule's scale, if it was written under another.
    ///
    /// Units used then, rounded up, count as used at the newest instant.
    #[inline]
    fn converted(&self, state: &SlidingWindowState, now: Timestamp) -> Option<SlidingWindowState> {
        if state.counts.is_empty() || self.same_as(state) {
            None
        } else {
            Some(self.convert(state, now))
        }
    }

    #[cold]
    fn convert(&self, state: &SlidingWindowState, now: Timestamp) -> SlidingWindowState {
        let mut converted = SlidingWindowState::default();
        if let Some(old) = state.rule() {
            let used = old.estimate(state, old.position(state, now));
            let newest = Timestamp::from_micros(old.micros(state.newest, 0)).max(now);
            if used > 0 {
                converted.add(self, self.at(newest).0, used);
            }
        }
        converted
    }

    /// The slice of an instant, and the way into it.
    #[inline]
    fn at(&self, now: Timestamp) -> (u64, u64) {
        // Below 2^52 * 2^10.
        let scaled = now.as_micros() * self.buckets;
        (scaled / self.window, scaled % self.window)
    }

    /// `now`, or the start of the newest slice if that is later.
    ///
    /// That holds also for a slice of which everything was handed back: charging it has dropped older ones.
    #[inline]
    fn position(&self, state: &SlidingWindowState, now: Timestamp) -> Position {
        let (slice, into) = self.at(now);
        let (slice, into) = if slice < state.newest {
            (state.newest, 0)
        } else {
            (slice, into)
        };
        let passed = slice.saturating_sub(state.newest);
        Position {
            slice,
            into,
            passed: passed.min(state.counts.len() as u64) as usize,
        }
    }

    /// The first whole microsecond at or after a position.
    #[inline]
    fn micros(&self, slice: u64, into: u64) -> u64 {
        let scaled = slice
            .checked_mul(self.window)
            .and_then(|start| start.checked_add(into));
        // A slice within the range of time stays below 2^63; only a state from outside may hold others.
        scaled.map_or(u64::MAX, |scaled| scaled.div_ceil(self.buckets))
    }

    /// The estimate at a position, rounded up. Rounding changes no answer, since costs and limits are whole.
    #[inline]
    fn estimate(&self, state: &SlidingWindowState, at: Position) -> u64 {
        let (oldest, full) = state.sums(at.passed);
        full.saturating_add(weighted(oldest, self.window - at.into, self.window))
    }

    /// The first microsecond at which `cost` fits if nothing else arrives.
    #[cold]
    fn fits_at(&self, state: &SlidingWindowState, from: Position, cost: u64) -> u64 {
        let (mut oldest, mut full) = state.sums(from.passed);
        let mut slice = from.slice;
        let (older, newer) = state.left(from.passed + 1);
        for &next in older.iter().chain(newer) {
            if full.saturating_add(cost) <= self.limit {
                break;
            }
            slice = slice.saturating_add(1);
            oldest = next;
            full = full.saturating_sub(oldest);
        }
        // The oldest slice may still overlap by as much as there is room for its units.
        let room = self.limit.saturating_sub(full).saturating_sub(cost);
        let overlap = if room < oldest {
            share(room, self.window, oldest)
        } else {
            self.window
        };
        self.micros(slice, self.window - overlap)
    }

    /// When the units of `slice` have left the window.
    #[inline]
    fn left_at(&self, slice: u64) -> Timestamp {
        let end = self.micros(slice.saturating_add(1), 0);
        Timestamp::from_micros(end.saturating_add(self.window))
    }

    /// When the last unit has left the window; `now` if none is in it.
    #[inline]
    fn reset_at(&self, state: &SlidingWindowState, now: Timestamp) -> Timestamp {
        let last = state.last_used();
        last.map_or(now, |slice| self.left_at(slice).max(now))
    }

    /// The decision on a state of this scale, and where to charge it.
    #[inline]
    fn weigh(&self, state: &SlidingWindowState, now: Timestamp, cost: u64) -> (Decision, u64) {
        let at = self.position(state, now);
        let left = self.limit.saturating_sub(self.estimate(state, at));
        let allowed = cost <= left || cost == 0;
        let charged = if allowed { cost } else { 0 };
        let retry_after = if allowed {
            Duration::ZERO
        } else {
            let fits_at = self.fits_at(state, at, cost);
            Duration::from_micros(fits_at.saturating_sub(now.as_micros()))
        };
        let decision = Decision {
            allowed,
            limit: self.limit,
            remaining: left - charged,
            reset_at: if charged > 0 {
                self.left_at(at.slice).max(now)
            } else {
                self.reset_at(state, now)
            },
            retry_after,
        };
        (decision, at.slice)
    }
}

/// `count * part / whole`, rounded down; `count < whole`.
fn share(count: u64, part: u64, whole: u64) -> u64 {
    match count.checked_mul(part) {
        Some(product) => product / whole,
        // Less than `part`, since `count < whole`.
        None => (u128::from(count) * u128::from(part) / u128::from(whole)) as u64,
    }
}

/// `count * part / whole`, rounded up; `part <= whole`.
#[inline]
fn weighted(count: u64, part: u64, whole: u64) -> u64 {
    match count.checked_mul(part) {
        Some(0) => 0,
        Some(product) => product.div_ceil(whole),
        // At most `count`, since `part <= whole`.
        None => (u128::from(count) * u128::from(part)).div_ceil(whole.into()) as u64,
    }
}

impl SlidingWindowState {
    /// The rule that the state was written under, but for its limit; none if it was written under none.
    fn rule(&self) -> Option<SlidingWindow> {
        let buckets = (self.counts.len() as u64).checked_sub(1)?;
        let known = self.window > 0 && (1..=Range::MAX_BUCKETS).contains(&buckets);
        known.then_some(SlidingWindow {
            limit: 0,
            window: self.window,
            buckets,
        })
    }

    /// Where a slice stands.
    #[inline]
    fn index(&self, slice: u64) -> usize {
        (slice % self.counts.len() as u64) as usize
    }

    /// The counts of the newest slice and those before it, oldest first, in two parts.
    #[inline]
    fn oldest_first(&self) -> (&[u64], &[u64]) {
        let after_newest = if self.counts.is_empty() {
            0
        } else {
            self.index(self.newest) + 1
        };
        let (newer, older) = self.counts.split_at(after_newest);
        (older, newer)
    }

    /// The counts that are left once `passed` slices have passed since the newest.
    #[inline]
    fn left(&self, passed: usize) -> (&[u64], &[u64]) {
        let (older, newer) = self.oldest_first();
        let of_older = passed.min(older.len());
        let of_newer = (passed - of_older).min(newer.len());
        (&older[of_older..], &newer[of_newer..])
    }

    /// Once `passed` slices have passed since the newest: the units in the slice before the window's first, and those within.
    #[inline]
    fn sums(&self, passed: usize) -> (u64, u64) {
        let (mut older, mut newer) = self.left(passed);
        let first = older.split_off_first();
        let oldest = first.or_else(|| newer.split_off_first());
        let sum = |sum: u64, &count: &u64| sum.saturating_add(count);
        let full = newer.iter().fold(older.iter().fold(0, sum), sum);
        (oldest.copied().unwrap_or(0), full)
    }

    /// The newest slice that holds anything.
    #[inline]
    fn last_used(&self) -> Option<u64> {
        let (older, newer) = self.oldest_first();
        let mut newest_first = newer.iter().rev().chain(older.iter().rev());
        let back = newest_first.position(|&count| count > 0)?;
        // Before the epoch there are no slices; only a state from outside can count units there.
        Some(self.newest.saturating_sub(back as u64))
    }

    /// Units in a slice that the ring holds; 0 for any other.
    fn count(&self, slice: u64) -> u64 {
        let back = self.newest.checked_sub(slice);
        if back.is_some_and(|back| back < self.counts.len() as u64) {
            self.counts[self.index(slice)]
        } else {
            0
        }
    }

    /// Adds units to `slice`, which is not older than the newest.
    fn add(&mut self, rule: &SlidingWindow, slice: u64, units: u64) {
        if self.counts.is_empty() {
            *self = Self {
                newest: slice,
                counts: vec![0; rule.buckets as usize + 1],
                window: rule.window,
                buckets: rule.buckets,
            };
        }
        match slice.checked_sub(self.newest) {
            Some(passed) if passed < self.counts.len() as u64 => {
                for back in 0..passed {
                    let index = self.index(slice - back);
                    self.counts[index] = 0;
                }
            }
            _ => self.counts.fill(0),
        }
        self.newest = slice;
        let index = self.index(slice);
        self.counts[index] = self.counts[index].saturating_add(units);
    }
}

impl Strategy for SlidingWindow {
    type State = SlidingWindowState;

    #[inline]
    fn capacity(&self) -> u64 {
        self.limit
    }

    fn decide(&self, state: &mut SlidingWindowState, now: Timestamp, cost: u64) -> Decision {
        if cost == 0 {
            return self.assess(state, now, 0);
        }
        if let Some(converted) = self.converted(state, now) {
            // Kept also if denied, or the retry time would start anew with each call.
            *state = converted;
        }
        let (decision, slice) = self.weigh(state, now, cost);
        if decision.allowed {
            state.add(self, slice, cost);
        }
        decision
    }

    // The provided methods would copy the ring.

    fn peek(&self, state: &SlidingWindowState, now: Timestamp) -> Decision {
        let one = self.assess(state, now, 1);
        Decision {
            allowed: one.allowed,
            retry_after: one.retry_after,
            ..self.assess(state, now, 0)
        }
    }

    fn available(&self, state: &SlidingWindowState, now: Timestamp) -> u64 {
        self.assess(state, now, 0).remaining
    }

    fn span(&self, state: &SlidingWindowState, now: Timestamp) -> Duration {
        self.assess(state, now, 0).reset_at.since(now)
    }

    /// The slice, with the scale.
    fn mark(&self, state: &SlidingWindowState, now: Timestamp) -> Mark {
        let slice = self.position(state, now).slice;
        Mark(u128::from(slice) << 64 | self.scale())
    }

    fn give_back(
        &self,
        state: &mut SlidingWindowState,
        now: Timestamp,
        mark: Mark,
        amount: u64,
    ) -> u64 {
        let slice = (mark.0 >> 64) as u64;
        let scaled = self.same_as(state) && mark.0 & u128::from(u64::MAX) == self.scale();
        let last = slice.saturating_add(self.buckets);
        if !scaled || self.position(state, now).slice > last {
            return 0;
        }
        let applied = amount.min(state.count(slice));
        if applied > 0 {
            let index = state.index(slice);
            state.counts[index] -= applied;
        }
        applied
    }

    fn is_fresh(&self, state: &SlidingWindowState, now: Timestamp) -> bool {
        state.rule().is_none_or(|rule| {
            let last = state.last_used();
            last.is_none_or(|slice| rule.left_at(slice) <= now) && state.newest <= rule.at(now).0
        })
    }

    fn same_scale(&self, other: &Self) -> bool {
        (self.window, self.buckets) == (other.window, other.buckets)
    }
}

impl SlidingWindow {
    /// The decision alone, on a state of any scale.
    fn assess(&self, state: &SlidingWindowState, now: Timestamp, cost: u64) -> Decision {
        match self.converted(state, now) {
            Some(converted) => self.weigh(&converted, now, cost).0,
            None => self.weigh(state, now, cost).0,
        }
    }

    const fn scale(&self) -> u128 {
        (self.window as u128) << 11 | self.buckets as u128
    }
}
