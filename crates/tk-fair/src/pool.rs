//! The rule by which regions draw from one budget: a pure function on a small state.
//!
//! A region asks with the sum of the weights of its active tenants. Under that condition two levels of sharing, over regions and
//! within each, come to the same as one level over all tenants. What a region is granted in a window
//! only grows, so that it can act on an old answer; what it hands back is counted apart.
//!
//! # The rule
//!
//! Write `L` for the limit, and for each region `drawn = granted - returned`. A region is *active* if it asked less
//! than `idle_after` ago with a weight above zero. `muldiv(a, b, c)` is `a * b / c` rounded down, computed exactly.
//!
//! 1. **Roll.** If the window of `now` is later than the state's: regions that are not active at its first instant are dropped. The others
//!    get `base = peak = weight` and zero for `settled`, `granted`, `returned` and `turn`. Time that
//!    runs backwards counts as the newest instant seen.
//! 2. **Arrive.** A region that is new, or was not active, has `base = 0`: it came late, and nothing is promised to it. Then
//!    `base = min(base, weight)`, `peak = max(peak, weight)`, `settled = min(given, drawn)`.
//! 3. **Promised.** With `W` the sum of all `peak`s, an active region is promised `muldiv(base, L, W)`. Within a window `base` only falls and
//!    `W` only rises, so a promise never grows: all of them can be kept.
//! 4. **Fair.** Start with all active regions and `rest = L` less what the others have drawn and less all `settled` of the active. While some region has
//!    `drawn - settled > muldiv(weight, rest, sum of weights)`, take it out and its `drawn - settled` off the rest; whoever remains has
//!    the fair share `settled + muldiv(weight, rest, sum of weights)`, and those taken out have what they have drawn. That is
//!    water-filling where no water flows back.
//! 5. **Reserved** for a region is the largest of drawn, promised and fair; for one that is not active, what it has drawn.
//! 6. **Entitled** to in total is the larger of what is promised to the region and `L` less what is reserved for all others.
//!    Granted is the least of `want`, entitled less drawn, and `L` less all that is drawn.
//!
//! The order in which regions are looked at does not matter, except in step 4, where all that are above the level leave in one round.
//!
//! # Numbers
//!
//! Units are at most 2^48, instants below 2^52, a weight at most [`MAX_REGION_WEIGHT`] (2^46, larger ones
//! count as that) and regions at most [`MAX_REGIONS`] (64). So every number and every sum is below 2^53 and exact as a double; only
//! `muldiv` has a larger product. Nothing is rounded but by `muldiv`, downwards. A [`PoolState`] from elsewhere may hold anything: sums then
//! end at 2^64 - 1 and differences at 0, and still no more is granted than `L` less all that is drawn.

mod fill;
mod state;

pub use state::{PoolState, Region};

use std::time::Duration;

use tk_core::{ConfigError, FixedWindow, Range};

use fill::{Claim, fill, muldiv, sum};

/// The most regions in a pool.
pub const MAX_REGIONS: usize = 64;

/// The largest weight of a region; larger ones count as this.
pub const MAX_REGION_WEIGHT: u64 = 1 << 46;

/// What a region asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Draw {
    /// The sum of the weights of its active tenants. With weight 0 it is granted nothing, and nothing is kept for it.
    pub weight: u64,
    /// What tenants that are no longer active have used in this window: it counts, but not against the share of the active.
    pub settled: u64,
    /// Units wanted; 0 asks only how things stand.
    pub want: u64,
}

/// What a region gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "granted units are lost unless they are spent or handed back"]
pub struct RegionGrant {
    /// Units granted now.
    pub amount: u64,
    /// Units that it might draw beyond that as things stand.
    pub spare: u64,
    /// How long until the window ends, by the pool's clock.
    pub span: Duration,
    /// If less was granted than wanted: before this has passed, more will not be there unless somebody hands back. At least a microsecond.
    pub retry_after: Duration,
    /// What a hand-back must carry.
    pub tag: PoolTag,
}

/// Names the grants of a region that one hand-back may follow.
///
/// A hand-back is applied if its window is the present one, the state has not been lost since, and no other
/// hand-back of the region has been applied since the tag was given out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PoolTag {
    /// The window's first instant in microseconds.
    pub start: u64,
    /// When the state of this window was begun, in microseconds: another instant after a loss.
    pub begun: u64,
    /// Hand-backs of the region that were applied in this window before.
    pub turn: u64,
}

/// A pool's settings, and the rule.
///
/// ```
/// use std::time::Duration;
/// use tk_fair::{Draw, PoolRule, PoolState};
///
/// let rule = PoolRule::new(90, Duration::from_secs(60), Duration::from_secs(6))?;
/// let mut state = PoolState::default();
/// let draw = |weight, want| Draw { weight, settled: 0, want };
/// // In its first window the first to come is alone. From the next one on, both are known.
/// assert_eq!(rule.draw(&mut state, "us", draw(2, 1), 59_000_000)?.amount, 1);
/// assert_eq!(rule.draw(&mut state, "eu", draw(1, 1), 59_000_000)?.amount, 1);
/// assert_eq!(rule.draw(&mut state, "us", draw(2, 90), 60_000_000)?.amount, 60);
/// assert_eq!(rule.draw(&mut state, "eu", draw(1, 90), 60_000_000)?.amount, 30);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PoolRule {
    limit: u64,
    window: u64,
    idle_after: u64,
}

/// The pool has as many regions as it can have in this window, and this is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the pool has {MAX_REGIONS} regions in this window already")]
pub struct PoolFull;

impl PoolRule {
    /// At most `limit` units in each `window`, which is aligned to the Unix epoch. A region that does not ask for `idle_after` has no
    /// claim any more.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if `limit` is not within 1 to 2^48, `window` not within 1 to 2^45 whole microseconds, or `idle_after` not
    /// within 1 microsecond to a fifth of the window (at least 1 microsecond).
    pub fn new(limit: u64, window: Duration, idle_after: Duration) -> Result<Self, ConfigError> {
        let strategy = FixedWindow::new(limit, window)?;
        // A window has been found to be at most 2^45 microseconds.
        let window = strategy.window().as_micros() as u64;
        let idle_after = Range::micros("idle_after", idle_after, (window / 5).max(1))?;
        Ok(Self {
            limit,
            window,
            idle_after,
        })
    }

    /// Grants `region` what the rule allows at `now`, in microseconds since the epoch.
    ///
    /// # Errors
    ///
    /// [`PoolFull`] if there are [`MAX_REGIONS`] others in this window.
    pub fn draw(
        &self,
        state: &mut PoolState,
        region: &str,
        draw: Draw,
        now: u64,
    ) -> Result<RegionGrant, PoolFull> {
        let now = state.roll(self, now);
        state.arrive(self, region, draw, now)?;
        let entitled = self.entitled(state, region, now);
        let left = self.limit.saturating_sub(state.drawn());
        let claim = state.region(region);
        let spare = entitled.saturating_sub(claim.drawn()).min(left);
        let amount = draw.want.min(spare);
        state.grant(region, amount);
        let end = state.start.saturating_add(self.window);
        let change = self.next_idle(state, region, now).min(end);
        Ok(RegionGrant {
            amount,
            spare: spare - amount,
            span: Duration::from_micros(end - now),
            retry_after: Duration::from_micros(change.saturating_sub(now).max(1)),
            tag: PoolTag {
                start: state.start,
                begun: state.begun,
                turn: claim.turn,
            },
        })
    }

    /// Takes back up to `amount` units that `region` has drawn and not spent; how many were taken.
    pub fn give_back(
        &self,
        state: &mut PoolState,
        region: &str,
        tag: PoolTag,
        amount: u64,
        now: u64,
    ) -> u64 {
        let over = now >= state.start.saturating_add(self.window);
        if over || tag.start != state.start || tag.begun != state.begun {
            return 0;
        }
        state.take_back(region, tag.turn, amount)
    }

    /// The most that is granted in a window.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// The length of a window.
    #[must_use]
    pub const fn window(&self) -> Duration {
        Duration::from_micros(self.window)
    }

    /// How long a region that does not ask keeps its claim.
    #[must_use]
    pub const fn idle_after(&self) -> Duration {
        Duration::from_micros(self.idle_after)
    }

    /// Steps 3 to 6: what `region` may have drawn in total.
    fn entitled(&self, state: &PoolState, region: &str, now: u64) -> u64 {
        let peaks = sum(state.regions.values().map(|other| other.peak));
        let mut claims: Vec<_> = (state.regions.iter())
            .map(|(name, other)| Claim {
                own: &**name == region,
                active: other.is_active(self, now),
                weight: other.weight,
                settled: other.settled,
                drawn: other.drawn(),
                promised: muldiv(other.base, self.limit, peaks),
                fair: 0,
            })
            .collect();
        fill(&mut claims, self.limit);
        let reserved = |claim: &Claim| {
            if claim.active {
                claim.drawn.max(claim.promised).max(claim.fair)
            } else {
                claim.drawn
            }
        };
        let (own, others): (Vec<&Claim>, Vec<&Claim>) = claims.iter().partition(|claim| claim.own);
        let taken = sum(others.into_iter().map(reserved));
        let promised = own
            .iter()
            .filter(|claim| claim.active)
            .map(|claim| claim.promised);
        let active = own.iter().any(|claim| claim.active);
        let rest = if active {
            self.limit.saturating_sub(taken)
        } else {
            0
        };
        promised.max().unwrap_or(0).max(rest)
    }

    /// When the first claim of another region lapses.
    fn next_idle(&self, state: &PoolState, region: &str, now: u64) -> u64 {
        let others = state.regions.iter().filter(|(name, _)| &***name != region);
        others
            .filter(|(_, other)| other.is_active(self, now))
            .map(|(_, other)| other.asked.saturating_add(self.idle_after))
            .min()
            .unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests;
