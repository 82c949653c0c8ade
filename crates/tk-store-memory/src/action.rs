//! What a call does to a state.
//!
//! Actions are values rather than closures, since a full store performs them a second time, on another state.

use tk_core::{Decision, Error, Grant, Strategy, Tag};

use crate::{full, shard::Call, word::Incarnation};

/// Whether an action wrote the state that it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrote {
    Yes,
    /// Only if the state was of another scale: then it is now of the caller's.
    Conversion,
    No,
}

impl Wrote {
    /// What `Strategy::decide` does for `cost`.
    #[inline]
    pub(crate) const fn decided(allowed: bool, cost: u64) -> Self {
        match (allowed, cost) {
            (_, 0) => Self::No,
            (true, _) => Self::Yes,
            (false, _) => Self::Conversion,
        }
    }

    /// Whether there is something to store, given that the state was of another scale or not.
    #[inline]
    pub(crate) const fn is_kept(self, converted: bool) -> bool {
        match self {
            Self::Yes => true,
            Self::Conversion => converted,
            Self::No => false,
        }
    }
}

pub(crate) trait Action<S: Strategy> {
    type Answer;

    /// Acts on a state in the life that `life` names.
    fn act(
        &self,
        call: &Call<'_, S>,
        state: &mut S::State,
        life: Incarnation,
    ) -> (Self::Answer, Wrote);

    /// The answer for a new key that cannot be added.
    fn refuse(&self, call: &Call<'_, S>) -> Self::Answer;
}

/// Decides, and charges if the answer is yes.
#[derive(Debug)]
pub(crate) struct Charge {
    pub(crate) cost: u64,
}

impl<S: Strategy> Action<S> for Charge {
    type Answer = Decision;

    fn act(&self, call: &Call<'_, S>, state: &mut S::State, _: Incarnation) -> (Decision, Wrote) {
        let decision = call.strategy.decide(state, call.now, self.cost);
        (decision, Wrote::decided(decision.allowed, self.cost))
    }

    fn refuse(&self, call: &Call<'_, S>) -> Decision {
        full::denial(call.strategy, call.now, self.cost)
    }
}

/// Charges a partial grant.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(crate) want: u64,
    pub(crate) at_least: u64,
}

impl<S: Strategy> Action<S> for Lease {
    type Answer = Result<Grant, Error>;

    fn act(
        &self,
        call: &Call<'_, S>,
        state: &mut S::State,
        life: Incarnation,
    ) -> (Self::Answer, Wrote) {
        let (want, at_least) = (self.want, self.at_least);
        let answer = Grant::charge(call.strategy, state, call.now, want, at_least, life.value());
        let wrote = match &answer {
            Ok(grant) => Wrote::decided(grant.amount > 0, self.at_least.max(1)),
            Err(_) => Wrote::No,
        };
        (answer, wrote)
    }

    fn refuse(&self, call: &Call<'_, S>) -> Self::Answer {
        let decision = full::denial(call.strategy, call.now, self.at_least.max(1));
        Ok(Grant {
            amount: 0,
            span: decision.reset_at.since(call.now),
            tag: Tag::default(),
            decision,
        })
    }
}

/// Takes units of a grant back.
#[derive(Debug)]
pub(crate) struct GiveBack {
    pub(crate) tag: Tag,
    pub(crate) amount: u64,
}

impl<S: Strategy> Action<S> for GiveBack {
    type Answer = u64;

    fn act(&self, call: &Call<'_, S>, state: &mut S::State, life: Incarnation) -> (u64, Wrote) {
        // A word remembers only the low bits of the life, so it is asked whether the tag names it.
        let named = self.tag.incarnation();
        let life = if life.is_named_by(named) {
            named
        } else {
            life.value()
        };
        let applied = self
            .tag
            .give_back(call.strategy, state, call.now, life, self.amount);
        (applied, if applied > 0 { Wrote::Yes } else { Wrote::No })
    }

    fn refuse(&self, _: &Call<'_, S>) -> u64 {
        0
    }
}
