//! What is asked of a script.

use fred::{bytes::Bytes, types::Value};
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

    /// Whether its script may write.
    pub(crate) const fn writes(self) -> bool {
        !matches!(self, Self::Peek { .. })
    }

    /// By the rule of [`Grant::charge`](tk_core::Grant::charge): `at_least` counts as at least 1, and `want` as at least `at_least` and at
    /// most the capacity.
    pub(crate) fn lease<S: Strategy>(strategy: &S, want: u64, at_least: u64) -> Self {
        let at_least = at_least.max(1);
        let want = want.max(at_least).min(strategy.capacity());
        Self::Lease { want, at_least }
    }
}

/// How many numbers a script is sent: as many as the one that needs the most.
const NUMBERS: usize = 11;

/// The arguments of a script: numbers, which are all below 2^53 and go as doubles, and perhaps a text. See `script/shared/time.lua`.
#[derive(Debug)]
pub struct Arguments {
    numbers: [u8; 8 * NUMBERS],
    count: usize,
    #[cfg(feature = "fair")]
    text: Option<String>,
}

impl Arguments {
    /// The arguments that all scripts share: the caller's clock, if that is to be used, the slack in milliseconds, and the
    /// incarnation.
    pub(crate) fn new(now: Option<Timestamp>, slack: u64, incarnation: u64) -> Self {
        let mut arguments = Self {
            numbers: [0; 8 * NUMBERS],
            count: 0,
            #[cfg(feature = "fair")]
            text: None,
        };
        arguments.push(now.map_or(0, |now| now.as_micros().saturating_add(1)));
        arguments.push(slack);
        arguments.push(incarnation);
        arguments
    }

    /// No script takes more than there is room for.
    pub(crate) fn push(&mut self, number: u64) {
        debug_assert!(self.count < NUMBERS, "a script takes {NUMBERS} numbers");
        if let Some(place) = self.numbers.chunks_exact_mut(8).nth(self.count) {
            place.copy_from_slice(&(number as f64).to_le_bytes());
        }
        self.count += 1;
    }

    #[cfg(feature = "fair")]
    pub(crate) fn push_text(&mut self, text: String) {
        self.text = Some(text);
    }

    /// Appends them to what is sent.
    pub(crate) fn append_to(&self, values: &mut Vec<Value>) {
        values.push(Value::Bytes(Bytes::copy_from_slice(&self.numbers)));
        #[cfg(feature = "fair")]
        if let Some(text) = &self.text {
            values.push(text.as_str().into());
        }
    }
}
