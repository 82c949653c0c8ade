//! The one way to change a state.

use tk_core::{Decision, Fingerprint, Strategy};

use super::{Call, Full, locked::Locked};
use crate::{
    action::{Action, Wrote},
    denied::Denied,
    slab::{Entry, Writer},
    table::Slot,
    word::{Incarnation, Word},
};

impl<S: Strategy> Locked<S> {
    /// Decides on a key whose state was packed by the caller's generation: nearly all calls. `None` for others.
    ///
    /// Inlined always, with all that it calls, and apart from what others need, so that the decision stays in registers until
    /// it is written to where the caller wants it. Each copy on the way stalls on the stores just made, and costs as
    /// much as the lock.
    #[inline(always)]
    pub(super) fn charge(
        &mut self,
        call: &Call<'_, S>,
        denied: &Denied,
        fingerprint: Fingerprint,
        cost: u64,
    ) -> Option<Decision> {
        let slot = self.table.find_mut(fingerprint)?;
        let word = slot.word;
        if word.generation() != call.generation {
            return None;
        }
        let (decision, packed) = call.strategy.decide_packed(word.state(), call.now, cost);
        match Wrote::decided(decision.allowed, cost) {
            Wrote::Yes => {
                // A state that no longer packs is decided anew, where there is a place for it.
                let packed = packed?;
                denied.withdraw(fingerprint.bits());
                slot.word = word.with_state(packed);
            }
            // There was nothing to convert: it was a denial. A second one in a row may be the beginning of a flood; to publish the
            // first of each key would have threads fight for the copy's line though nobody reads it.
            Wrote::Conversion if self.denied_last == fingerprint.bits() as u64 => {
                denied.publish(fingerprint, word);
            }
            Wrote::Conversion => self.denied_last = fingerprint.bits() as u64,
            Wrote::No => {}
        }
        Some(decision)
    }

    /// Lets an action act on the state of a key, and stores the state if it was written.
    ///
    /// A new key is added only if its state was written and the population has room.
    pub(super) fn update<A: Action<S>>(
        &mut self,
        call: &Call<'_, S>,
        denied: &Denied,
        fingerprint: Fingerprint,
        action: &A,
    ) -> Result<A::Answer, Full> {
        let place = self.table.find(fingerprint);
        let (Ok(at) | Err(at)) = place;
        let Some(word) = self.table.get(at).map(|slot| slot.word) else {
            return self.admit(call, fingerprint, at, action);
        };
        if let Some(index) = word.slab_index() {
            return Ok(self.update_slab(call, (at, index), action));
        }
        let converted = word.generation() != call.generation;
        let mut state = call.unpacked(word);
        let (answer, wrote) = action.act(call, &mut state, word.incarnation());
        if wrote.is_kept(converted) {
            denied.withdraw(fingerprint.bits());
            let word = self.stored(call, fingerprint, word.incarnation(), state);
            self.set(at, word);
        }
        Ok(answer)
    }

    /// Adds a key, if its state is written. What a new key would be told is no answer if it could not be added.
    fn admit<A: Action<S>>(
        &mut self,
        call: &Call<'_, S>,
        fingerprint: Fingerprint,
        vacant: usize,
        action: &A,
    ) -> Result<A::Answer, Full> {
        let incarnation = Incarnation::full(self.lives.wrapping_add(1));
        let mut state = S::State::default();
        let (answer, wrote) = action.act(call, &mut state, incarnation);
        let exempt = fingerprint == call.common.overflow;
        if wrote != Wrote::Yes {
            let is_full = !exempt && call.common.population.is_full();
            return if is_full { Err(Full) } else { Ok(answer) };
        }
        if !exempt && !call.common.population.reserve() {
            return Err(Full);
        }
        self.lives = incarnation.value();
        let word = self.stored(call, fingerprint, incarnation, state);
        self.table.insert(vacant, Slot::new(fingerprint, word));
        Ok(answer)
    }

    fn update_slab<A: Action<S>>(
        &mut self,
        call: &Call<'_, S>,
        (at, index): (usize, usize),
        action: &A,
    ) -> A::Answer {
        let Some(entry) = self.slab.get_mut(index) else {
            // Words and entries come and go together, so this is unreachable; it decides like a new key.
            let mut state = S::State::default();
            return action.act(call, &mut state, Incarnation::full(0)).0;
        };
        let converted = !entry.writer.is_that_of(call.strategy, call.generation);
        let (answer, wrote) = action.act(call, &mut entry.state, entry.incarnation);
        if wrote.is_kept(converted) {
            match call.packed(&entry.state) {
                Some(packed) => {
                    let word = Word::packed(packed, call.generation, entry.incarnation);
                    self.set(at, word);
                    self.vacate(index);
                }
                None => entry.writer.become_that_of(call.strategy, call.generation),
            }
        }
        answer
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
