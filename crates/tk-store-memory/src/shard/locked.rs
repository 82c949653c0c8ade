//! What the lock guards.
//!
//! Nothing here waits, nothing allocates for a known key whose state packs, and the work is bounded, apart from moving to a
//! larger or smaller table, which takes as long as one shard is large.

use tk_core::{Fingerprint, Keyed, Strategy};

use super::{Call, Common, sweep::Sweep};
use crate::{denied::Denied, slab::Slab, table::Table, word::Word};

/// In the order of use: the first line of the shard ends before the slab.
#[repr(C)]
pub(super) struct Locked<S: Strategy> {
    pub(super) table: Table,
    pub(super) sweep: Sweep,
    /// The low bits of the key that was denied last.
    pub(super) denied_last: u64,
    /// Lives begun so far, counted from a random number, so that tags from before a restart mean nothing.
    pub(super) lives: u64,
    /// Boxed, so that a shard takes two cache lines, which processors fetch together.
    pub(super) slab: Box<Slab<S>>,
}

impl<S: Strategy> Locked<S> {
    pub(super) fn new(lives: u64) -> Self {
        Self {
            table: Table::default(),
            sweep: Sweep::default(),
            denied_last: 0,
            lives,
            slab: Box::new(Slab::new()),
        }
    }

    pub(super) fn read<R>(
        &self,
        call: &Call<'_, S>,
        fingerprint: Fingerprint,
        read: impl FnOnce(&S::State, bool) -> R,
    ) -> R {
        let Some(word) = self.word(fingerprint) else {
            return read(&S::State::default(), false);
        };
        match word.slab_index().and_then(|index| self.slab.get(index)) {
            Some(entry) => read(&entry.state, true),
            None => read(&call.unpacked(word), true),
        }
    }

    pub(super) fn forget(&mut self, call: &Call<'_, S>, denied: &Denied, fingerprint: Fingerprint) {
        if let Ok(at) = self.table.find(fingerprint) {
            self.remove(call.common, denied, at);
        }
    }

    /// Removes the key at a taken place, with its slab entry.
    pub(super) fn remove(&mut self, common: &Common<S>, denied: &Denied, at: usize) {
        let Some(slot) = self.table.remove(at) else {
            return;
        };
        denied.withdraw(slot.bits());
        if let Some(index) = slot.word.slab_index() {
            self.vacate(index);
        }
        self.sweep.rescale(self.table.shrink());
        if slot.bits() != common.overflow.bits() {
            common.population.free();
        }
    }

    /// Removes a slab entry, and tells the word of the one that moves into its place.
    pub(super) fn vacate(&mut self, index: usize) {
        if let Some(moved) = self.slab.remove(index)
            && let Ok(at) = self.table.find(moved)
        {
            self.set(at, Word::in_slab(index));
        }
    }

    fn word(&self, fingerprint: Fingerprint) -> Option<Word> {
        let at = self.table.find(fingerprint).ok()?;
        self.table.get(at).map(|slot| slot.word)
    }

    /// Overwrites the word at a taken place.
    #[inline(always)]
    pub(super) fn set(&mut self, at: usize, word: Word) {
        if let Some(slot) = self.table.get_mut(at) {
            slot.word = word;
        }
    }
}

impl<S: Strategy> Call<'_, S> {
    /// The state in a packed word, unpacked by the strategy that packed it.
    #[inline]
    pub(super) fn unpacked(&self, word: Word) -> S::State {
        if word.generation() == self.generation {
            return self.strategy.unpack(word.state());
        }
        let packer = self.common.generations.get(word.generation());
        // What is registered stays registered, so there is a packer.
        packer.map_or_else(S::State::default, |packer| packer.unpack(word.state()))
    }

    /// The state packed, if it can be and its generation has a number.
    #[inline]
    pub(super) fn packed(&self, state: &S::State) -> Option<u128> {
        self.generation.index()?;
        self.strategy.pack(state)
    }
}
