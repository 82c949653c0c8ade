//! The arithmetic of a theoretical arrival time, shared by GCRA and token bucket.
//!
//! The *emission interval* T is the time in which one unit replenishes: `period / limit`, seldom a whole
//! number of microseconds. Rounding it makes every limit a little wrong and some badly so, hence it stays a fraction
//! p/q in lowest terms. A state is one instant, the *theoretical arrival time* (TAT), kept as whole microseconds and a
//! numerator over q. The *debt* is how far the TAT lies ahead of now. A cost fits if the debt, with `cost` intervals added,
//! stays within `capacity` intervals.
//!
//! Debts are computed in units of 1/q microsecond, in 64 bits where they fit, which they nearly always do, and
//! else in 128: one generic rule, two widths.

#[cfg(test)]
mod tests;

use core::{
    ops::{Add, Div, Mul, Rem, Sub},
    time::Duration,
};

use crate::{ConfigError, Decision, Mark, Range, Timestamp};

/// The time in which one unit replenishes, as a fraction of microseconds in lowest terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Emission {
    /// Microseconds, times the denominator.
    pub numerator: u64,
    /// At least 1; 0 only in a state that was never written.
    pub denominator: u64,
}

/// What [`Gcra`](crate::Gcra) and [`TokenBucket`](crate::TokenBucket) remember: the theoretical arrival time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TatState {
    /// Whole microseconds of the theoretical arrival time since the epoch.
    pub micros: u64,
    /// The rest of it, in units of 1/denominator microsecond; less than the denominator.
    pub fraction: u64,
    /// The interval the state was written under.
    pub emission: Emission,
}

/// Microseconds beyond any time that counts: a state from outside may hold a TAT that lies further ahead.
const FAR: u64 = 1 << 60;

/// `capacity` units, one of which replenishes in each emission interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TatRule {
    pub(super) emission: Emission,
    pub(super) capacity: u64,
    /// For leads of a TAT below this, in microseconds, all sums fit in 64 bits; at most [`FAR`], and 0 if there are none.
    narrow: u64,
}

impl Emission {
    const fn new(period: u64, limit: u64) -> Self {
        let divisor = gcd(period, limit);
        Self {
            numerator: period / divisor,
            denominator: limit / divisor,
        }
    }

    /// The largest capacity that replenishes within [`Range::MAX_REPLENISH_MICROS`].
    const fn most_units(self) -> u64 {
        let most =
            Range::MAX_REPLENISH_MICROS as u128 * self.denominator as u128 / self.numerator as u128;
        if most < Range::MAX_UNITS as u128 {
            most as u64
        } else {
            Range::MAX_UNITS
        }
    }
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl TatRule {
    pub(super) const fn new(
        period: u64,
        limit: u64,
        (field, capacity): (&'static str, u64),
    ) -> Result<Self, ConfigError> {
        let emission = Emission::new(period, limit);
        if let Err(error) = Range::between(field, capacity as u128, 1, emission.most_units()) {
            return Err(error);
        }
        Ok(Self {
            emission,
            capacity,
            narrow: narrow(emission, capacity),
        })
    }

    pub(super) const fn with_capacity(
        &self,
        field: &'static str,
        capacity: u64,
    ) -> Result<Self, ConfigError> {
        Self::new(
            self.emission.numerator,
            self.emission.denominator,
            (field, capacity),
        )
    }

    // Inlined always: a decision that is handed down through memory costs more than making it.
    #[inline(always)]
    pub(super) fn decide(&self, state: &mut TatState, now: Timestamp, cost: u64) -> Decision {
        let Emission {
            numerator: p,
            denominator: q,
        } = self.emission;
        let (lead, fraction) = self.lead(state, now);
        let verdict = if lead < self.narrow && cost <= self.capacity {
            weigh(lead * q + fraction, cost, self.capacity, p, q)
        } else {
            self.weigh_wide(lead, fraction, cost)
        };
        // A denial keeps what a change of rate made of the state, or its retry time would start anew with each call.
        let converted = state.emission != self.emission && (lead, fraction) > (0, 0);
        // At most about 2^60, so there is nothing to saturate.
        let micros = now.as_micros() + verdict.lead;
        if cost > 0 && (verdict.allowed || converted) {
            *state = TatState {
                micros,
                fraction: verdict.fraction,
                emission: self.emission,
            };
        }
        Decision {
            allowed: verdict.allowed,
            limit: self.capacity,
            remaining: verdict.remaining,
            reset_at: Timestamp::from_micros(micros + u64::from(verdict.fraction > 0)),
            retry_after: verdict.retry,
        }
    }

    #[cold]
    fn weigh_wide(&self, lead: u64, fraction: u64, cost: u64) -> Verdict {
        let (p, q) = (self.emission.numerator, self.emission.denominator);
        let debt = u128::from(lead) * u128::from(q) + u128::from(fraction);
        let verdict = weigh(debt, cost.into(), self.capacity.into(), p.into(), q.into());
        Verdict {
            lead: verdict.lead.min(FAR),
            ..verdict
        }
    }

    /// How far the TAT lies ahead of `now`: whole microseconds, and the rest over the denominator.
    #[inline(always)]
    fn lead(&self, state: &TatState, now: Timestamp) -> (u64, u64) {
        let now = now.as_micros();
        if state.micros < now {
            return (0, 0);
        }
        if state.emission != self.emission {
            return self.converted(state, now);
        }
        // A state from outside may hold a fraction that is none.
        (
            state.micros - now,
            state.fraction.min(self.emission.denominator - 1),
        )
    }

    /// Units used under another interval, rounded up, count as used now, up to the capacity: nobody
    /// gets a free burst, and nobody is locked out by a rate that was slower.
    #[cold]
    fn converted(&self, state: &TatState, now: u64) -> (u64, u64) {
        let old = state.emission;
        let (p, q) = (
            u128::from(old.numerator.max(1)),
            u128::from(old.denominator.max(1)),
        );
        let debt = u128::from(state.micros - now) * q + u128::from(state.fraction);
        let used = debt.div_ceil(p).min(self.capacity.into());
        let debt = used * u128::from(self.emission.numerator);
        let q = u128::from(self.emission.denominator);
        // Within 2^52 microseconds, as checked when the rule was built.
        ((debt / q) as u64, (debt % q) as u64)
    }

    /// The arrival time right after the grant, with some bits of the interval.
    pub(super) fn mark(&self, state: &TatState) -> Mark {
        let Emission {
            numerator,
            denominator,
        } = state.emission;
        let scale = numerator.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ denominator.rotate_left(32);
        let scale = scale.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 37;
        Mark(u128::from(state.micros) << 75 | u128::from(state.fraction) << 27 | u128::from(scale))
    }

    /// Undoes `amount` units of the last charge, if it was the one at `mark`.
    pub(super) fn give_back(
        &self,
        state: &mut TatState,
        now: Timestamp,
        mark: Mark,
        amount: u64,
    ) -> u64 {
        let scaled = state.emission == self.emission;
        if !scaled || self.is_fresh(state, now) || self.mark(state) != mark {
            return 0;
        }
        let q = u128::from(self.emission.denominator);
        let tat = u128::from(state.micros) * q + u128::from(state.fraction);
        let tat = tat.saturating_sub(u128::from(amount) * u128::from(self.emission.numerator));
        state.micros = (tat / q) as u64;
        state.fraction = (tat % q) as u64;
        amount
    }

    #[inline]
    pub(super) fn is_fresh(&self, state: &TatState, now: Timestamp) -> bool {
        (state.micros, state.fraction) <= (now.as_micros(), 0)
    }

    #[inline(always)]
    pub(super) fn pack(&self, state: &TatState) -> Option<u128> {
        let fits =
            state.emission == self.emission && state.micros < 1 << 54 && state.fraction < 1 << 50;
        fits.then(|| u128::from(state.micros) << 50 | u128::from(state.fraction))
    }

    #[inline(always)]
    pub(super) fn unpack(&self, packed: u128) -> TatState {
        let fraction = (packed & ((1 << 50) - 1)) as u64;
        TatState {
            micros: (packed >> 50) as u64,
            fraction,
            emission: self.emission,
        }
    }
}

/// For leads below this `lead * q + fraction + capacity * p` fits in 64 bits, as it does for no others that are not far.
const fn narrow(emission: Emission, capacity: u64) -> u64 {
    let tolerance = capacity as u128 * emission.numerator as u128;
    let room = (u64::MAX as u128).saturating_sub(tolerance) / emission.denominator as u128;
    match room {
        ..2 => 0,
        _ if room < FAR as u128 => room as u64,
        _ => FAR,
    }
}

struct Verdict {
    allowed: bool,
    /// The TAT's lead after the decision.
    lead: u64,
    fraction: u64,
    remaining: u64,
    retry: Duration,
}

/// The rule itself, in units of 1/q microsecond.
#[inline(always)]
fn weigh<N: Width>(debt: N, cost: N, capacity: N, p: N, q: N) -> Verdict {
    let tolerance = capacity * p;
    let charged = debt + cost * p;
    let allowed = charged <= tolerance || cost == N::ZERO;
    let after = if allowed { charged } else { debt };
    let (lead, fraction) = after.divide(q);
    let room = if after < tolerance {
        tolerance - after
    } else {
        N::ZERO
    };
    Verdict {
        allowed,
        lead: lead.narrow(),
        fraction: fraction.narrow(),
        remaining: if room < p { 0 } else { (room / p).narrow() },
        retry: if allowed {
            Duration::ZERO
        } else {
            Duration::from_micros((charged - tolerance).divide_up(q).narrow())
        },
    }
}

/// An unsigned integer that is wide enough.
trait Width:
    Copy
    + Ord
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
{
    const ZERO: Self;
    const ONE: Self;
    fn narrow(self) -> u64;

    /// Quotient and remainder; most intervals are whole, and then there is nothing to divide.
    #[inline]
    fn divide(self, by: Self) -> (Self, Self) {
        if by == Self::ONE {
            (self, Self::ZERO)
        } else {
            (self / by, self % by)
        }
    }

    #[inline]
    fn divide_up(self, by: Self) -> Self {
        let (quotient, remainder) = self.divide(by);
        if remainder > Self::ZERO {
            quotient + Self::ONE
        } else {
            quotient
        }
    }
}

impl Width for u64 {
    const ZERO: Self = 0;
    const ONE: Self = 1;

    #[inline]
    fn narrow(self) -> u64 {
        self
    }
}

impl Width for u128 {
    const ZERO: Self = 0;
    const ONE: Self = 1;

    /// Saturates: only a cost above the capacity, which callers refuse beforehand, can wait that long.
    #[inline]
    fn narrow(self) -> u64 {
        u64::try_from(self).unwrap_or(u64::MAX)
    }
}

/// Implements [`Strategy`](crate::Strategy) for a type whose field `rule` is a [`TatRule`].
macro_rules! tat_strategy {
    ($strategy:ident) => {
        impl Strategy for $strategy {
            type State = TatState;

            fn has_edges(&self) -> bool {
                false
            }

            #[inline]
            fn capacity(&self) -> u64 {
                self.rule.capacity
            }

            #[inline(always)]
            fn decide(&self, state: &mut TatState, now: Timestamp, cost: u64) -> Decision {
                self.rule.decide(state, now, cost)
            }

            fn mark(&self, state: &TatState, _now: Timestamp) -> Mark {
                self.rule.mark(state)
            }

            fn give_back(
                &self,
                state: &mut TatState,
                now: Timestamp,
                mark: Mark,
                amount: u64,
            ) -> u64 {
                self.rule.give_back(state, now, mark, amount)
            }

            #[inline]
            fn is_fresh(&self, state: &TatState, now: Timestamp) -> bool {
                self.rule.is_fresh(state, now)
            }

            fn same_scale(&self, other: &Self) -> bool {
                self.rule.emission == other.rule.emission
            }

            #[inline]
            fn pack(&self, state: &TatState) -> Option<u128> {
                self.rule.pack(state)
            }

            #[inline]
            fn unpack(&self, packed: u128) -> TatState {
                self.rule.unpack(packed)
            }

            // By a copy of the rule, of which the compiler knows that it stays the same from the first step to the last.
            #[inline(always)]
            fn decide_packed(
                &self,
                packed: u128,
                now: Timestamp,
                cost: u64,
            ) -> (Decision, Option<u128>) {
                let rule = self.rule;
                let mut state = rule.unpack(packed);
                let decision = rule.decide(&mut state, now, cost);
                (decision, rule.pack(&state))
            }
        }
    };
}
pub(super) use tat_strategy;
