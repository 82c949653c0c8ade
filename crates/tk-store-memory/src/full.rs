//! What becomes of new keys when the store is full.

use core::time::Duration;

use tk_core::{Decision, Strategy, Timestamp};

/// What happens to a new key when the store holds `max_keys` keys, all of them in use.
///
/// A key that has used some of its limit is never removed to make room: else a flood of new keys would
/// free those that are blocked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WhenFull {
    /// New keys are denied, as if they had used up their limit. The retry time is that of such a key, and a guess: nobody knows when a
    /// place will be free.
    #[default]
    DenyNewcomers,
    /// New keys share one entry: together they get the limit of one key.
    SharedOverflow,
}

/// The answer to a new key: what a key that has just used up its limit would be told. A cost of 0 is allowed, as always.
pub(crate) fn denial<S: Strategy>(strategy: &S, now: Timestamp, cost: u64) -> Decision {
    let mut exhausted = S::State::default();
    let _ = strategy.decide(&mut exhausted, now, strategy.capacity());
    let decision = strategy.decide(&mut exhausted, now, cost);
    let allowed = cost == 0;
    Decision {
        allowed,
        remaining: 0,
        retry_after: if allowed {
            Duration::ZERO
        } else {
            // A denial with no time to wait would make the caller try again at once.
            decision.retry_after.max(Duration::from_micros(1))
        },
        ..decision
    }
}
