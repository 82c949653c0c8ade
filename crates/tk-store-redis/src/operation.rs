//! What is asked of a script.

use fred::types::Value;
use tk_core::{Mark, Strategy, Timestamp};

/// One call of a script, apart from the strategy's own numbers.
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    /// Charge a cost of at least 1.
    Check { cost: u64 },
    /// Find out what a check of a cost would say.
    Peek { cost: u64 },
    /// Charge `want` or what there is, if that is `at_least`.
    Lease { want: u64, at_least: u64 },
    /// Take back units of the grant at `mark`.
    GiveBack { mark: Mark, amount: u64 },
}

impl Operation {
    pub(crate) const fn check(cost: u64) -> Self {
        if cost == 0 {
            Self::Peek { cost }
        } else {
            Self::Check { cost }
        }
    }

    /// By the rule of [`Grant::charge`](tk_core::Grant::charge): `at_least` counts as at least 1, and `want` as at least `at_least` and at
    /// most the capacity.
    pub(crate) fn lease<S: Strategy>(strategy: &S, want: u64, at_least: u64) -> Self {
        let at_least = at_least.max(1);
        let want = want.max(at_least).min(strategy.capacity());
        Self::Lease { want, at_least }
    }
}

/// The arguments of a script, in their order. All numbers are below 2^53.
#[derive(Debug)]
pub struct Arguments(Vec<Value>);

impl Arguments {
    /// The arguments that all scripts share: the caller's clock, if that is to be used, the slack in milliseconds, and the
    /// incarnation.
    pub(crate) fn new(now: Option<Timestamp>, slack: u64, incarnation: u64) -> Self {
        let mut arguments = Self(Vec::with_capacity(12));
        match now {
            Some(now) => arguments.push(now.as_micros()),
            None => arguments.0.push(Value::from_static_str("")),
        }
        arguments.push(slack);
        arguments.push(incarnation);
        arguments
    }

    pub(crate) fn push(&mut self, number: u64) {
        // Within the ranges of input all numbers are below 2^53; one beyond is as good as the largest.
        self.0
            .push(Value::Integer(i64::try_from(number).unwrap_or(i64::MAX)));
    }

    #[cfg(feature = "fair")]
    pub(crate) fn push_text(&mut self, text: String) {
        self.0.push(text.into());
    }

    pub(crate) fn into_values(self) -> Vec<Value> {
        self.0
    }
}
