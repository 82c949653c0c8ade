//! A part of the keys in memory.

use tk_core::{Fingerprint, FlatTable, Monotonic, Store, TableHint};

use super::{
    entry::Entry,
    slab::Slab,
    slot::{Opened, Slot},
};

/// Slots in a table, which are also visited a few at a time, by their place in it, and the entries that they lead to.
///
/// In the order of use: with the lock, what a hit touches here is one cache line.
#[repr(C)]
pub(crate) struct Shard<L2: Store> {
    pub(super) hits: Hits,
    slots: FlatTable<Slot>,
    /// The place that is visited next.
    cursor: usize,
    entries: Slab<Entry<L2>>,
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
            hits: Hits::default(),
            slots: FlatTable::default(),
            cursor: 0,
            entries: Slab::new(),
        }
    }

    #[inline(always)]
    pub(super) fn find(&mut self, fingerprint: Fingerprint) -> Option<(&mut Slot, &mut Hits)> {
        let slot = self.slots.find_mut(fingerprint)?;
        Some((slot, &mut self.hits))
    }

    pub(super) fn open(
        &mut self,
        fingerprint: Fingerprint,
        now: Monotonic,
    ) -> Option<(Opened<'_, L2>, &mut Hits)> {
        let slot = self.slots.find_mut(fingerprint)?;
        let entry = self.entries.get_mut(slot.entry())?;
        Some((Opened::new(slot, entry, now), &mut self.hits))
    }

    /// Opens what is at a place, if it is taken.
    pub(super) fn open_at(&mut self, place: usize, now: Monotonic) -> Option<Opened<'_, L2>> {
        let slot = self.slots.get_mut(place)?;
        let entry = self.entries.get_mut(slot.entry())?;
        Some(Opened::new(slot, entry, now))
    }

    /// Adds a key that is not in it.
    pub(super) fn insert(&mut self, fingerprint: Fingerprint, entry: Entry<L2>) {
        if let Err(at) = self.slots.find(fingerprint) {
            let entry = self.entries.insert(entry);
            self.slots.insert(at, Slot::new(fingerprint, entry));
        }
    }

    /// Tells where the slots lie.
    pub(super) fn note_place(&self, hint: &TableHint) {
        hint.note(&self.slots);
    }

    /// Forgets the key at a place. Another one may then be there.
    pub(super) fn remove(&mut self, place: usize, now: Monotonic) -> Option<Box<Entry<L2>>> {
        let slot = self.slots.remove(place)?;
        let mut entry = self.entries.remove(slot.entry())?;
        slot.settle(&mut entry, now);
        Some(entry)
    }

    /// The entries as they were when they were last open, for what spending does not change.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry<L2>> {
        self.entries.iter()
    }

    /// Places, of which some may be empty.
    pub(super) const fn places(&self) -> usize {
        self.slots.capacity()
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
            if self.slots.get(self.cursor).is_some() {
                found.push(self.cursor);
            }
        }
        found
    }
}
