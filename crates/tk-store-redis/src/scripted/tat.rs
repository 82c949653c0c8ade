//! GCRA and token bucket.

use tk_core::{Emission, Gcra, Mark, Strategy, TatState, TokenBucket};

use super::sealed::Dialect;
use crate::{
    operation::{Arguments, Operation},
    reply::packed,
    script::{Scripts, TAT},
};

/// The time in which `units` replenish: whole microseconds, and the rest over the denominator.
fn push_time(emission: Emission, units: u64, arguments: &mut Arguments) {
    let (p, q) = (emission.numerator, emission.denominator);
    let (whole, rest) = match units.checked_mul(p) {
        Some(debt) => (debt / q, debt % q),
        None => {
            let (debt, q) = (u128::from(units) * u128::from(p), u128::from(q));
            let whole = u64::try_from(debt / q).unwrap_or(u64::MAX);
            (whole, (debt % q) as u64)
        }
    };
    arguments.push(whole);
    arguments.push(rest);
}

fn arguments<S: Strategy<State = TatState>>(
    strategy: &S,
    emission: Emission,
    operation: Operation,
    arguments: &mut Arguments,
) -> Option<()> {
    if let Operation::Peek { .. } = operation {
        return Some(());
    }
    arguments.push(emission.numerator);
    arguments.push(emission.denominator);
    if let Operation::GiveBack { mark, amount } = operation {
        let granted = arrival(strategy, emission, mark)?;
        arguments.push(granted.micros);
        arguments.push(granted.fraction);
        arguments.push(amount);
        push_time(emission, amount, arguments);
        return Some(());
    }
    let capacity = strategy.capacity();
    arguments.push(capacity);
    push_time(emission, capacity, arguments);
    if let Operation::Check { cost } = operation {
        arguments.push(cost);
        push_time(emission, cost, arguments);
    }
    if let Operation::Lease { want, at_least } = operation {
        arguments.push(want);
        arguments.push(at_least);
    }
    Some(())
}

/// The state right after the grant at `mark`; `None` if it was written under another interval, and is refused anyway.
fn arrival<S: Strategy<State = TatState>>(
    strategy: &S,
    emission: Emission,
    mark: Mark,
) -> Option<TatState> {
    let state = TatState {
        micros: (mark.0 >> 75) as u64,
        fraction: (mark.0 >> 27) as u64 & ((1 << 48) - 1),
        emission,
    };
    (strategy.mark(&state, tk_core::Timestamp::EPOCH) == mark).then_some(state)
}

fn read(state: &[u8]) -> Option<TatState> {
    if state.is_empty() {
        return Some(TatState::default());
    }
    let [micros, fraction, numerator, denominator, _incarnation] = packed(state)?;
    let emission = Emission {
        numerator,
        denominator,
    };
    let is_sound = numerator > 0 && fraction < denominator;
    is_sound.then_some(TatState {
        micros,
        fraction,
        emission,
    })
}

macro_rules! dialect {
    ($strategy:ty, $name:literal) => {
        impl Dialect for $strategy {
            type Rule = Self;

            const NAME: &'static str = $name;

            fn scripts() -> &'static Scripts {
                &TAT
            }

            fn rule(&self) -> Self {
                *self
            }

            fn arguments(&self, operation: Operation, to: &mut Arguments) -> Option<()> {
                arguments(self, self.emission(), operation, to)
            }

            fn read(state: &[u8]) -> Option<TatState> {
                read(state)
            }
        }
    };
}

dialect!(Gcra, "gcra");
dialect!(TokenBucket, "bucket");
