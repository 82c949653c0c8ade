//! One shard: a table, its slab, and the one way to change a state.
//!
//! Everything here runs under the shard's lock and does no waiting, no allocation for a known key whose state
//! packs, and a bounded amount of work, apart from moving to a larger or smaller table, which is as
//! long as one shard is large.

mod sweep;
mod update;

pub(crate) use update::{Outcome, Wrote};

use sweep::Sweep;

use tk_core::{Fingerprint, Strategy, Timestamp};

use crate::{
    generations::Generations,
    population::Population,
    slab::Slab,
    table::{Place, Table},
    word::{Generation, Incarnation, Word},
};

/// What all shards of a store have in common.
#[derive(Debug)]
pub(crate) struct Common<S> {
    pub(crate) generations: Generations<S>,
    pub(crate) population: Population,
    /// The entry that newcomers share when the store is full. It takes no place of its own.
    pub(crate) overflow: Fingerprint,
}

/// What one call brings along.
#[derive(Debug)]
pub(crate) struct Call<'a, S> {
    pub(crate) common: &'a Common<S>,
    pub(crate) strategy: &'a S,
    pub(crate) generation: Generation,
    pub(crate) now: Timestamp,
}

/// The store is full, so a new key cannot be added.
#[derive(Debug)]
pub(crate) struct Full;

pub(crate) struct Shard<S: Strategy> {
    table: Table,
    slab: Slab<S>,
    /// The largest `now` of any call.
    newest: Timestamp,
    /// Lives begun so far, counted from a random number, so that tags from before a restart mean nothing.
    lives: u64,
    sweep: Sweep,
}

impl<S: Strategy> Shard<S> {
    pub(crate) fn new(lives: u64) -> Self {
        Self {
            table: Table::default(),
            slab: Slab::new(),
            newest: Timestamp::EPOCH,
            lives,
            sweep: Sweep::default(),
        }
    }

    /// Keys in this shard.
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    /// Bytes allocated for slots, used or not, and for slab entries in use, without what their states point to.
    pub(crate) fn bytes(&self) -> usize {
        self.table.capacity() * 32 + self.slab.len() * size_of::<crate::slab::Entry<S>>()
    }

    /// Calls `read` with the state of a key, or with a new one and `None` for its life.
    pub(crate) fn read<R>(
        &self,
        call: &Call<'_, S>,
        fingerprint: Fingerprint,
        read: impl FnOnce(&S::State, Option<Incarnation>) -> R,
    ) -> R {
        let Place::Taken(at) = self.table.find(fingerprint) else {
            return read(&S::State::default(), None);
        };
        let word = self.table.word(at);
        if let Some(entry) = word.slab_index().and_then(|index| self.slab.get(index)) {
            return read(&entry.state, Some(entry.incarnation));
        }
        read(&unpacked(call, word), Some(word.incarnation()))
    }

    /// Forgets a key.
    pub(crate) fn forget(&mut self, call: &Call<'_, S>, fingerprint: Fingerprint) {
        if let Place::Taken(at) = self.table.find(fingerprint) {
            self.remove(call.common, at);
        }
    }

    /// Removes the key at a taken place, with its slab entry.
    fn remove(&mut self, common: &Common<S>, at: usize) {
        let Some((bits, word)) = self.table.get(at) else {
            return;
        };
        if let Some(index) = word.slab_index() {
            self.vacate(index);
        }
        self.table.remove(at);
        self.table.shrink();
        if bits != common.overflow.bits() {
            common.population.free();
        }
    }

    /// Removes a slab entry, and tells the word of the one that moves into its place.
    fn vacate(&mut self, index: usize) {
        if let Some(moved) = self.slab.remove(index)
            && let Place::Taken(at) = self.table.find(moved)
        {
            self.table.set(at, Word::in_slab(index));
        }
    }
}

/// The state in a packed word, unpacked by the strategy that packed it.
#[inline]
fn unpacked<S: Strategy>(call: &Call<'_, S>, word: Word) -> S::State {
    if word.generation() == call.generation {
        return call.strategy.unpack(word.state());
    }
    let packer = call.common.generations.get(word.generation());
    // What is registered stays registered, so there is a packer.
    packer.map_or_else(S::State::default, |packer| packer.unpack(word.state()))
}
