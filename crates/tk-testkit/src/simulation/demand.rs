//! How much is asked of a node, and when that changes.

use super::plan::Plan;
use crate::Random;

/// What a node lives through for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Idle,
    /// A request about every so many microseconds.
    Every(u64),
    /// So many requests, in all, each after up to so many microseconds.
    Few(u64, u64),
}

impl Phase {
    /// From nothing at all to twice the whole limit at this node alone.
    pub(super) fn draw(random: &mut Random, plan: &Plan, now: u64) -> Self {
        if plan.is_hungry {
            return Self::Every(plan.window * plan.nodes / (3 * plan.limit));
        }
        // Tides are the worst for credits that are carried over: in a quiet window all nodes lease and keep what
        // they have, and in the next they spend it and the whole limit.
        if plan.is_tidal && random.chance(90) {
            let is_ebb = (now / plan.window).is_multiple_of(2);
            // Enough to lease, and to be low on credits if that matters.
            let few = plan.batch.saturating_sub(plan.low_water).max(1);
            let few = if plan.low_water == 0 { 1 } else { few };
            return if is_ebb {
                Self::Few(few, plan.window / (2 * few))
            } else {
                Self::Every((plan.window / (2 * plan.limit)).max(1))
            };
        }
        let per_window = match random.within(0, 9) {
            0..=2 => return Self::Idle,
            3..=5 => random.within(1, plan.limit),
            6 => 1,
            _ => 2 * plan.limit,
        };
        Self::Every((plan.window / per_window).max(1))
    }

    /// When the phase ends: at any time, or close to an edge, which is where a fleet can go wrong.
    pub(super) fn end(random: &mut Random, plan: &Plan, now: u64) -> u64 {
        let window = plan.window;
        if plan.is_tidal {
            return (now / window + 1) * window;
        }
        if random.chance(40) {
            return now + random.within(window / 10, 2 * window);
        }
        let edge = (now / window + random.within(1, 2)) * window;
        let around = random.within(0, window / 10);
        (edge + around).saturating_sub(window / 20).max(now + 1)
    }

    /// The time until the next request; `None` if there is none in this phase.
    pub(super) fn gap(&mut self, random: &mut Random) -> Option<u64> {
        match self {
            Self::Idle | Self::Few(0, _) => None,
            Self::Every(mean) => Some(random.within(1, 2 * *mean)),
            Self::Few(left, longest) => {
                *left -= 1;
                Some(random.within(1, *longest))
            }
        }
    }
}
