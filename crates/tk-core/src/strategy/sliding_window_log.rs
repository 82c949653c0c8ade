//! Every accepted unit, by instant.
//!
//! Equal instants share one entry, and an entry holds the running total up to and including it. So the units
//! alive are one subtraction, and both questions, "from which entry on are they alive" and "which entry must leave to make
//! room", are binary searches; a cost of a million is one entry.

use alloc::collections::VecDeque;
use core::time::Duration;

use crate::{ConfigError, Decision, Mark, Range, Strategy, Timestamp};

/// At most `limit` units in any `window`, exactly.
///
/// Remembers an entry for each instant at which units were accepted, so memory grows with the number of
/// requests in a window, though not with their cost. Use it for low limits that must be exact, and a
/// [`SlidingWindow`](crate::SlidingWindow) for high ones.
///
/// ```
/// use core::time::Duration;
/// use tk_core::{SlidingWindowLog, Strategy, Timestamp};
///
/// let strategy = SlidingWindowLog::per_minute(2)?;
/// let mut state = Default::default();
/// for second in [0, 10] {
///     assert!(strategy.decide(&mut state, Timestamp::from_secs(second), 1).allowed);
/// }
/// let denied = strategy.decide(&mut state, Timestamp::from_secs(20), 1);
/// assert_eq!(denied.retry_after, Duration::from_secs(40));
/// # Ok::<(), tk_core::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlidingWindowLog {
    limit: u64,
    window: u64,
}

/// What a [`SlidingWindowLog`] remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SlidingWindowLogState {
    entries: VecDeque<Entry>,
    /// The running total before the first entry.
    before: u64,
    /// The window in microseconds: the scale the state was written under.
    window: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Entry {
    at: u64,
    /// Units accepted up to and including this entry, modulo 2^64: only differences count.
    through: u64,
}

/// What a decision needs to know of a log, wherever the log is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogView {
    /// Units alive at max(now, newest instant stored).
    pub live: u64,
    /// In microseconds, if the cost is charged: the newest instant stored, before which nothing is; else that of the newest unit.
    /// They differ once all units of an instant were handed back. 0 if there is none.
    pub newest: u64,
    /// If the cost does not fit: the instant of the unit that must leave so that it does.
    pub blocking: u64,
}

/// The most entries a write drops, so that no call pays for a long silence.
const PRUNED_PER_WRITE: usize = 32;

/// Hand-backs reach this many entries back, since each later running total must change.
pub(crate) const GIVE_BACK_REACH: usize = 32;

impl SlidingWindowLog {
    /// A hand-back is refused once this many later instants have been stored: the price of running totals.
    pub const GIVE_BACK_REACH: usize = GIVE_BACK_REACH;

    /// The most dead entries that a write drops.
    pub const PRUNED_PER_WRITE: usize = PRUNED_PER_WRITE;

    /// At most `limit` units in any `window`.
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

    super::per_period!(
        SlidingWindowLog,
        "At most `limit` units, exactly, in any span of a "
    );

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

    /// The decision on `cost` at `now` for a log that `view` describes; the one rule for every store.
    pub fn answer(&self, view: LogView, now: Timestamp, cost: u64) -> Decision {
        let allowed = cost == 0 || cost <= self.limit.saturating_sub(view.live);
        let charged = if allowed { cost } else { 0 };
        let live = view.live.saturating_add(charged);
        let newest = if charged > 0 {
            view.newest.max(now.as_micros())
        } else {
            view.newest
        };
        let leaves = |at: u64| Timestamp::from_micros(at.saturating_add(self.window));
        Decision {
            allowed,
            limit: self.limit,
            remaining: self.limit.saturating_sub(live),
            reset_at: if live > 0 { leaves(newest) } else { now },
            retry_after: if allowed {
                Duration::ZERO
            } else {
                leaves(view.blocking).since(now)
            },
        }
    }

    fn view(&self, state: &SlidingWindowLogState, now: Timestamp, cost: u64) -> LogView {
        let newest = state.newest();
        let (live, first) = state.live(newest.max(now.as_micros()));
        let excess = live
            .saturating_add(cost)
            .saturating_sub(self.limit)
            .min(live);
        let charged = cost > 0 && excess == 0;
        LogView {
            live,
            newest: if charged { newest } else { state.last_used() },
            blocking: if excess > 0 {
                state.instant_of(first.wrapping_add(excess))
            } else {
                newest
            },
        }
    }

    /// Units used under another window count as used at the newest instant.
    #[cold]
    fn converted(&self, state: &SlidingWindowLogState, now: Timestamp) -> SlidingWindowLogState {
        let at = state.newest().max(now.as_micros());
        let (used, _) = state.live(at);
        let mut converted = SlidingWindowLogState {
            window: self.window,
            ..Default::default()
        };
        converted.add(at, used);
        converted
    }

    fn in_scale(&self, state: &SlidingWindowLogState) -> bool {
        state.window == self.window || state.entries.is_empty()
    }
}

impl SlidingWindowLogState {
    fn newest(&self) -> u64 {
        self.entries.back().map_or(0, |entry| entry.at)
    }

    fn total(&self) -> u64 {
        self.entries
            .back()
            .map_or(self.before, |entry| entry.through)
    }

    /// Units alive at `at`, and the running total before the first of them.
    fn live(&self, at: u64) -> (u64, u64) {
        let any_dead = self
            .entries
            .front()
            .is_some_and(|entry| self.is_dead(entry, at));
        let dead = if any_dead {
            self.entries
                .partition_point(|entry| self.is_dead(entry, at))
        } else {
            0
        };
        let first = dead
            .checked_sub(1)
            .map_or(self.before, |last| self.entries[last].through);
        (self.total().wrapping_sub(first), first)
    }

    fn is_dead(&self, entry: &Entry, at: u64) -> bool {
        entry.at.saturating_add(self.window) <= at
    }

    /// The instant of the newest unit; 0 if there is none.
    fn last_used(&self) -> u64 {
        let mut newest_first = self.entries.iter().rev();
        match (newest_first.next(), newest_first.next()) {
            // Everything of the newest instant was handed back.
            (Some(last), Some(before)) if last.through == before.through => {
                self.instant_of(last.through)
            }
            (last, _) => last.map_or(0, |last| last.at),
        }
    }

    /// The instant of the unit that makes the running total reach `through`.
    fn instant_of(&self, through: u64) -> u64 {
        let since_before = |total: u64| total.wrapping_sub(self.before);
        let entry = self
            .entries
            .partition_point(|entry| since_before(entry.through) < since_before(through));
        self.entries.get(entry).map_or(0, |entry| entry.at)
    }

    /// Adds units at `at`, which is not before the newest instant.
    fn add(&mut self, at: u64, units: u64) {
        if units == 0 {
            return;
        }
        let through = self.total().wrapping_add(units);
        match self.entries.back_mut() {
            Some(entry) if entry.at == at => entry.through = through,
            _ => self.entries.push_back(Entry { at, through }),
        }
    }

    fn prune(&mut self, at: u64) {
        for _ in 0..PRUNED_PER_WRITE {
            match self.entries.front() {
                Some(&entry) if self.is_dead(&entry, at) => {
                    self.before = entry.through;
                    self.entries.pop_front();
                }
                _ => break,
            }
        }
    }

    /// Takes up to `amount` units out of the entry at `at`, if it is among the newest few.
    fn remove(&mut self, at: u64, amount: u64) -> u64 {
        let reach = self.entries.len().saturating_sub(GIVE_BACK_REACH);
        let Some(index) = (reach..self.entries.len())
            .rev()
            .find(|&i| self.entries[i].at == at)
        else {
            return 0;
        };
        let before = index
            .checked_sub(1)
            .map_or(self.before, |i| self.entries[i].through);
        let removed = amount.min(self.entries[index].through.wrapping_sub(before));
        for entry in self.entries.range_mut(index..) {
            entry.through = entry.through.wrapping_sub(removed);
        }
        // An entry without units stays until it is dead: it may have been the newest instant, and have pruned others.
        removed
    }
}

impl Strategy for SlidingWindowLog {
    type State = SlidingWindowLogState;

    fn capacity(&self) -> u64 {
        self.limit
    }

    fn decide(&self, state: &mut SlidingWindowLogState, now: Timestamp, cost: u64) -> Decision {
        if !self.in_scale(state) {
            let mut converted = self.converted(state, now);
            let decision = self.decide(&mut converted, now, cost);
            // Also if denied, or the retry time would start anew with each call.
            if cost > 0 {
                *state = converted;
            }
            return decision;
        }
        let decision = self.answer(self.view(state, now, cost), now, cost);
        if decision.allowed && cost > 0 {
            let at = state.newest().max(now.as_micros());
            state.window = self.window;
            state.prune(at);
            state.add(at, cost);
        }
        decision
    }

    // The provided methods would copy the log.

    fn peek(&self, state: &SlidingWindowLogState, now: Timestamp) -> Decision {
        if !self.in_scale(state) {
            return self.peek(&self.converted(state, now), now);
        }
        let one = self.answer(self.view(state, now, 1), now, 1);
        let untouched = self.answer(self.view(state, now, 0), now, 0);
        Decision {
            allowed: one.allowed,
            retry_after: one.retry_after,
            ..untouched
        }
    }

    fn available(&self, state: &SlidingWindowLogState, now: Timestamp) -> u64 {
        self.peek(state, now).remaining
    }

    /// The window: each unit of the grant leaves when the window has passed.
    fn span(&self, _state: &SlidingWindowLogState, _now: Timestamp) -> Duration {
        self.window()
    }

    /// The instant, with the scale.
    fn mark(&self, state: &SlidingWindowLogState, now: Timestamp) -> Mark {
        let at = state.newest().max(now.as_micros());
        Mark(u128::from(at) << 64 | u128::from(self.window))
    }

    fn give_back(
        &self,
        state: &mut SlidingWindowLogState,
        now: Timestamp,
        mark: Mark,
        amount: u64,
    ) -> u64 {
        let at = (mark.0 >> 64) as u64;
        let scaled = state.window == self.window && mark.0 as u64 == self.window;
        let live = at.saturating_add(self.window) > state.newest().max(now.as_micros());
        if scaled && live {
            state.remove(at, amount)
        } else {
            0
        }
    }

    fn is_fresh(&self, state: &SlidingWindowLogState, now: Timestamp) -> bool {
        let now = now.as_micros();
        state.newest() <= now && state.live(now).0 == 0
    }

    fn same_scale(&self, other: &Self) -> bool {
        self.window == other.window
    }
}
