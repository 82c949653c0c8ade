//! Small inputs on which real limiters have gone wrong, with the right answers.

#![expect(
    unused_must_use,
    reason = "`allows` has looked at the decision that it returns"
)]
#![expect(clippy::unwrap_used, reason = "a test ends where something fails")]

mod arithmetic;
mod input;
mod windows;

use std::time::Duration;

use tk_core::{ConfigError, Decision, Strategy, Timestamp};

/// A strategy whose parameters are in range.
fn built<S>(strategy: Result<S, ConfigError>) -> S {
    strategy.unwrap()
}

const fn ms(millis: u64) -> u64 {
    millis * 1_000
}

const fn secs(secs: u64) -> u64 {
    secs * 1_000_000
}

/// One key under one strategy.
struct Key<S: Strategy> {
    strategy: S,
    state: S::State,
}

impl<S: Strategy> Key<S> {
    fn of(strategy: Result<S, ConfigError>) -> Self {
        let (strategy, state) = (built(strategy), S::State::default());
        Self { strategy, state }
    }

    /// Decides at `at`, in microseconds.
    fn at(&mut self, at: u64, cost: u64) -> Decision {
        let now = Timestamp::from_micros(at);
        self.strategy.decide(&mut self.state, now, cost)
    }

    #[track_caller]
    fn allows(&mut self, at: u64, cost: u64) -> Decision {
        let decision = self.at(at, cost);
        assert!(decision.allowed, "denied: {decision:?}");
        decision
    }

    /// Denies, to be asked again after `retry` microseconds.
    #[track_caller]
    fn denies(&mut self, at: u64, cost: u64, retry: u64) {
        let decision = self.at(at, cost);
        assert!(decision.is_denied(), "allowed: {decision:?}");
        assert_eq!(decision.retry_after, Duration::from_micros(retry));
    }

    /// Says that a cost can never be admitted, and changes nothing.
    #[track_caller]
    fn never(&mut self, cost: u64)
    where
        S::State: PartialEq + std::fmt::Debug,
    {
        let limit = self.strategy.capacity();
        assert_eq!(
            self.strategy.fits::<()>(cost),
            Err(tk_core::Error::ExceedsCapacity { cost, limit })
        );
        // Should a store forget to ask first, the cost is denied all the same.
        let before = self.state.clone();
        assert!(self.at(secs(1_000_000), cost).is_denied());
        assert_eq!(self.state, before);
    }

    /// How many calls of cost 1 at one instant are allowed.
    fn admitted(&mut self, at: u64, calls: usize) -> usize {
        (0..calls).filter(|_| self.at(at, 1).allowed).count()
    }
}
