//! The one way to change a state.

use tk_core::{Fingerprint, Strategy};

use super::{Call, Full, Shard, unpacked};
use crate::{
    slab::{Entry, Writer},
    table::Place,
    word::{Incarnation, Word},
};

/// What an action answers, and what it did to the state that it was given.
#[derive(Debug)]
pub(crate) struct Outcome<R> {
    pub(crate) answer: R,
    pub(crate) wrote: Wrote,
}

/// Whether an action wrote the state.
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

    #[inline]
    const fn is_kept(self, converted: bool) -> bool {
        match self {
            Self::Yes => true,
            Self::Conversion => converted,
            Self::No => false,
        }
    }
}

impl<S: Strategy> Shard<S> {
    /// Calls `act` with the state of a key, and stores the state if it was written.
    ///
    /// A new key is added only if its state was written and the population has room.
    #[inline]
    pub(crate) fn update<R>(
        &mut self,
        call: &Call<'_, S>,
        fingerprint: Fingerprint,
        act: impl FnOnce(&mut S::State, Incarnation) -> Outcome<R>,
    ) -> Result<R, Full> {
        self.newest = self.newest.max(call.now);
        let at = match self.table.find(fingerprint) {
            Place::Taken(at) => at,
            Place::Vacant(at) => return self.admit(call, fingerprint, at, act),
        };
        let word = self.table.word(at);
        if let Some(index) = word.slab_index() {
            return Ok(self.update_slab(call, at, index, act));
        }
        let native = word.generation() == call.generation;
        let mut state = unpacked(call, word);
        let outcome = act(&mut state, word.incarnation());
        if outcome.wrote.is_kept(!native) {
            match call.strategy.pack(&state) {
                Some(packed) if native => self.table.set(at, word.with_state(packed)),
                packed => self.restyle(call, (at, fingerprint), word.incarnation(), state, packed),
            }
        }
        Ok(outcome.answer)
    }

    /// Adds a key, if its state is written.
    fn admit<R>(
        &mut self,
        call: &Call<'_, S>,
        fingerprint: Fingerprint,
        vacant: usize,
        act: impl FnOnce(&mut S::State, Incarnation) -> Outcome<R>,
    ) -> Result<R, Full> {
        let incarnation = Incarnation::full(self.lives.wrapping_add(1));
        let mut state = S::State::default();
        let outcome = act(&mut state, incarnation);
        if outcome.wrote != Wrote::Yes {
            return Ok(outcome.answer);
        }
        let exempt = fingerprint == call.common.overflow;
        if !exempt && !call.common.population.reserve() {
            return Err(Full);
        }
        self.lives = incarnation.value();
        let packed = call.strategy.pack(&state);
        let word = self.stored(call, fingerprint, incarnation, state, packed);
        self.table.insert(vacant, fingerprint, word);
        Ok(outcome.answer)
    }

    fn update_slab<R>(
        &mut self,
        call: &Call<'_, S>,
        at: usize,
        index: usize,
        act: impl FnOnce(&mut S::State, Incarnation) -> Outcome<R>,
    ) -> R {
        let Some(entry) = self.slab.get_mut(index) else {
            // Words and entries come and go together, so this is unreachable; it decides like a new key.
            return act(&mut S::State::default(), Incarnation::full(0)).answer;
        };
        let converted = !entry.writer.is_that_of(call.strategy, call.generation);
        let outcome = act(&mut entry.state, entry.incarnation);
        if outcome.wrote.is_kept(converted) {
            match call.packed(&entry.state) {
                Some(packed) => {
                    let word = Word::packed(packed, call.generation, entry.incarnation);
                    self.table.set(at, word);
                    self.vacate(index);
                }
                None => entry.writer.become_that_of(call.strategy, call.generation),
            }
        }
        outcome.answer
    }

    /// Stores a state that was packed by another generation, or no longer packs.
    #[cold]
    fn restyle(
        &mut self,
        call: &Call<'_, S>,
        (at, fingerprint): (usize, Fingerprint),
        incarnation: Incarnation,
        state: S::State,
        packed: Option<u128>,
    ) {
        let word = self.stored(call, fingerprint, incarnation, state, packed);
        self.table.set(at, word);
    }

    /// The word for a state: the state itself if it packs, else a place in the slab.
    #[inline]
    fn stored(
        &mut self,
        call: &Call<'_, S>,
        fingerprint: Fingerprint,
        incarnation: Incarnation,
        state: S::State,
        packed: Option<u128>,
    ) -> Word {
        match packed {
            Some(packed) if call.generation.index().is_some() => {
                Word::packed(packed, call.generation, incarnation)
            }
            _ => Word::in_slab(self.slab.push(Entry {
                state,
                fingerprint,
                incarnation,
                writer: Writer::new(call.strategy, call.generation),
            })),
        }
    }
}

impl<S: Strategy> Call<'_, S> {
    /// The state packed, if it can be and its generation has a number.
    fn packed(&self, state: &S::State) -> Option<u128> {
        self.generation.index()?;
        self.strategy.pack(state)
    }
}
