//! A part of the keys in memory.

use tk_core::{Fingerprint, Store};

use super::{
    slot::{Opened, Slot},
    table::Table,
};

/// Slots in a table, which are also visited a few at a time, by their place in it.
pub(crate) struct Shard<L2: Store> {
    slots: Table<Slot<L2>>,
    /// The place that is visited next.
    cursor: usize,
    pub(super) hits: Hits,
}

/// What is counted without asking the shared store: under the shard's lock, so that cores do not share a counter.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hits {
    pub(super) admitted: u64,
    pub(super) denied: u64,
    /// Units served, to those who waited too.
    pub(super) served: u64,
}

impl<L2: Store> Shard<L2> {
    pub(super) fn new() -> Self {
        Self {
            slots: Table::default(),
            cursor: 0,
            hits: Hits::default(),
        }
    }

    #[inline(always)]
    pub(super) fn find(&mut self, fingerprint: Fingerprint) -> Option<(&mut Slot<L2>, &mut Hits)> {
        let slot = self.slots.find(fingerprint)?;
        Some((slot, &mut self.hits))
    }

    pub(super) fn open(&mut self, fingerprint: Fingerprint) -> Option<(Opened<'_, L2>, &mut Hits)> {
        let (slot, hits) = self.find(fingerprint)?;
        Some((slot.open(), hits))
    }

    /// Adds the slot of a key that has none.
    pub(super) fn insert(&mut self, slot: Slot<L2>) {
        self.slots.insert(slot);
    }

    pub(super) fn remove(&mut self, place: usize) -> Option<Slot<L2>> {
        self.slots.remove(place)
    }

    pub(super) fn get(&self, place: usize) -> Option<&Slot<L2>> {
        self.slots.get(place)
    }

    pub(super) fn get_mut(&mut self, place: usize) -> Option<&mut Slot<L2>> {
        self.slots.get_mut(place)
    }

    pub(super) fn slots(&mut self) -> impl Iterator<Item = &mut Slot<L2>> {
        self.slots.iter_mut()
    }

    /// Places, of which some may be empty.
    pub(super) fn places(&self) -> usize {
        self.slots.places()
    }

    /// The next `count` places that are taken, round robin; fewer if there are fewer.
    pub(super) fn next_places(&mut self, count: usize) -> Vec<usize> {
        let places = self.places();
        let count = count.min(self.slots.len());
        let mut found = Vec::with_capacity(count);
        for _ in 0..places {
            if found.len() == count {
                break;
            }
            self.cursor = (self.cursor + 1) % places;
            if self.get(self.cursor).is_some() {
                found.push(self.cursor);
            }
        }
        found
    }
}
