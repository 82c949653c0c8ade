//! What a tenant is told.

use std::time::Duration;

use tk_core::{Decision, Timestamp};

use crate::shares::{Shares, Verdict};

/// The window in which a decision falls, by the clock that the shares are kept by. Microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocking {
    pub(crate) now: u64,
    pub(crate) window_end: u64,
    /// The limit of which a tenant's share is told.
    pub(crate) limit: u64,
}

/// The decision that tells of `verdict` a tenant that has used so much after it.
pub(crate) fn decision(
    shares: &Shares,
    weight: u32,
    used: u64,
    verdict: Verdict,
    clocking: Clocking,
) -> Decision {
    let told = match verdict {
        Verdict::Full { .. } => unplaced(shares, weight, clocking),
        _ => free(shares, weight, used, clocking),
    };
    if verdict == Verdict::Admitted {
        return told;
    }
    Decision {
        allowed: false,
        retry_after: Duration::from_micros(
            earliest_change(shares, verdict, clocking)
                .saturating_sub(clocking.now)
                .max(1),
        ),
        ..told
    }
}

/// What is told of a tenant that has used so much, without asking for anything.
pub(crate) fn free(shares: &Shares, weight: u32, used: u64, clocking: Clocking) -> Decision {
    let share = share(shares.weight(), weight, clocking.limit);
    let left = clocking.limit.saturating_sub(shares.used());
    Decision {
        allowed: true,
        limit: share,
        remaining: share.saturating_sub(used).min(left),
        reset_at: Timestamp::from_micros(if used > 0 {
            clocking.window_end
        } else {
            clocking.now
        }),
        retry_after: Duration::ZERO,
    }
}

/// What is told of a tenant for which there is no room: what its share would be, and that nothing of it is to be had.
fn unplaced(shares: &Shares, weight: u32, clocking: Clocking) -> Decision {
    Decision {
        allowed: false,
        limit: share(shares.weight() + u64::from(weight), weight, clocking.limit),
        remaining: 0,
        reset_at: Timestamp::from_micros(clocking.window_end),
        retry_after: Duration::ZERO,
    }
}

/// What of `limit` is promised to `weight`, if those who were active in this window weigh `all` together.
fn share(all: u64, weight: u32, limit: u64) -> u64 {
    let all = all.max(u64::from(weight)).max(1);
    let share = u128::from(weight) * u128::from(limit) / u128::from(all);
    // At most `limit`, since `weight` is at most `all`.
    share as u64
}

/// The first instant at which a request that was refused might be admitted, and its tenant is still active.
fn earliest_change(shares: &Shares, verdict: Verdict, clocking: Clocking) -> u64 {
    let Clocking { window_end, .. } = clocking;
    match verdict {
        Verdict::Admitted => clocking.now,
        Verdict::Exhausted { .. } | Verdict::Unfunded { .. } => {
            window_end.min(shares.last_active())
        }
        Verdict::Kept { until, .. } => window_end.min(until).min(shares.last_active()),
        Verdict::Full { until } => window_end.min(until),
        Verdict::Weightless => window_end,
    }
}
