//! The one way to change a state.

use tk_core::{Fingerprint, Strategy};

use super::{Call, Full, locked::Locked};
use crate::{
    denied::Denied,
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

impl<S: Strategy> Locked<S> {
    /// Calls `act` with the state of a key, and stores the state if it was written.
    ///
    /// A new key is added only if its state was written and the population has room.
    #[inline]
    pub(super) fn update<R>(
        &mut self,
        call: &Call<'_, S>,
        denied: &Denied,
        fingerprint: Fingerprint,
        act: impl FnOnce(&mut S::State, Incarnation) -> Outcome<R>,
    ) -> Result<R, Full> {
        self.newest = self.newest.max(call.now);
        let at = match self.table.find(fingerprint) {
            Place::Taken(at) => at,
            Place::Vacant(at) => return self.admit(call, fingerprint, at, act),
        };
        let word = self.table.word(at);
        if word.generation() != call.generation {
            return Ok(self.update_foreign(call, denied, (at, fingerprint), act));
        }
        let mut state = call.strategy.unpack(word.state());
        let outcome = act(&mut state, word.incarnation());
        match outcome.wrote {
            Wrote::Yes => {
                denied.withdraw(fingerprint.bits());
                let word = match call.strategy.pack(&state) {
                    Some(packed) => word.with_state(packed),
                    None => self.stored(call, fingerprint, word.incarnation(), state),
                };
                self.table.set(at, word);
            }
            // There was nothing to convert: it was a denial.
            Wrote::Conversion => denied.publish(fingerprint, word),
            Wrote::No => {}
        }
        Ok(outcome.answer)
    }

    /// Adds a key, if its state is written.
    #[cold]
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
        let word = self.stored(call, fingerprint, incarnation, state);
        self.table.insert(vacant, fingerprint, word);
        Ok(outcome.answer)
    }

    /// Updates a state that lies in the slab, or was packed by another generation.
    #[cold]
    fn update_foreign<R>(
        &mut self,
        call: &Call<'_, S>,
        denied: &Denied,
        (at, fingerprint): (usize, Fingerprint),
        act: impl FnOnce(&mut S::State, Incarnation) -> Outcome<R>,
    ) -> R {
        let word = self.table.word(at);
        if let Some(index) = word.slab_index() {
            return self.update_slab(call, (at, index), act);
        }
        let mut state = call.unpacked(word);
        let outcome = act(&mut state, word.incarnation());
        if outcome.wrote != Wrote::No {
            denied.withdraw(fingerprint.bits());
            let word = self.stored(call, fingerprint, word.incarnation(), state);
            self.table.set(at, word);
        }
        outcome.answer
    }

    fn update_slab<R>(
        &mut self,
        call: &Call<'_, S>,
        (at, index): (usize, usize),
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

    /// The word for a state: the state itself if it packs, else a new place in the slab.
    fn stored(
        &mut self,
        call: &Call<'_, S>,
        fingerprint: Fingerprint,
        incarnation: Incarnation,
        state: S::State,
    ) -> Word {
        match call.packed(&state) {
            Some(packed) => Word::packed(packed, call.generation, incarnation),
            None => Word::in_slab(self.slab.push(Entry {
                state,
                fingerprint,
                incarnation,
                writer: Writer::new(call.strategy, call.generation),
            })),
        }
    }
}
