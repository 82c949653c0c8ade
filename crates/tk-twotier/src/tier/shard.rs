//! A part of the keys in memory.

use hashbrown::HashTable;
use tk_core::{Fingerprint, Store};

use super::entry::Entry;

/// Entries lie dense, so that they can be visited a few at a time; the index holds their places.
pub(crate) struct Shard<L2: Store> {
    index: HashTable<u32>,
    entries: Vec<Entry<L2>>,
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

const fn hash(fingerprint: Fingerprint) -> u64 {
    fingerprint.bits() as u64
}

impl<L2: Store> Shard<L2> {
    pub(super) const fn new() -> Self {
        Self {
            index: HashTable::new(),
            entries: Vec::new(),
            cursor: 0,
            hits: Hits {
                admitted: 0,
                denied: 0,
                served: 0,
            },
        }
    }

    #[inline]
    pub(super) fn find(&mut self, fingerprint: Fingerprint) -> Option<(&mut Entry<L2>, &mut Hits)> {
        let place = self.place(fingerprint)?;
        Some((self.entries.get_mut(place)?, &mut self.hits))
    }

    #[inline]
    fn place(&self, fingerprint: Fingerprint) -> Option<usize> {
        let is_it = |place: &u32| self.entries[*place as usize].fingerprint == fingerprint;
        let place = self.index.find(hash(fingerprint), is_it)?;
        Some(*place as usize)
    }

    pub(super) const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds the entry of a key that has none.
    pub(super) fn insert(&mut self, entry: Entry<L2>) {
        // The number of keys is bounded by `max_keys`, which is a `u32`.
        let place = self.entries.len() as u32;
        let fingerprint = entry.fingerprint;
        self.entries.push(entry);
        let entries = &self.entries;
        let rehash = |place: &u32| hash(entries[*place as usize].fingerprint);
        self.index.insert_unique(hash(fingerprint), place, rehash);
    }

    /// Takes out the entry at `place`, which must be there.
    pub(super) fn remove(&mut self, place: usize) -> Entry<L2> {
        self.forget(self.entries[place].fingerprint, place);
        let entry = self.entries.swap_remove(place);
        if let Some(moved) = self.entries.get(place) {
            let (was, key) = (self.entries.len(), hash(moved.fingerprint));
            if let Some(slot) = self.index.find_mut(key, |slot| *slot as usize == was) {
                *slot = place as u32;
            }
        }
        entry
    }

    fn forget(&mut self, fingerprint: Fingerprint, place: usize) {
        let slot = self
            .index
            .find_entry(hash(fingerprint), |slot| *slot as usize == place);
        if let Ok(slot) = slot {
            slot.remove();
        }
    }

    pub(super) fn entries(&mut self) -> &mut [Entry<L2>] {
        &mut self.entries
    }

    /// The next few places, round robin; fewer if there are fewer.
    pub(super) fn next_places(&mut self, count: usize) -> impl Iterator<Item = usize> + use<L2> {
        let (start, len) = (self.cursor, self.entries.len());
        self.cursor = (start + count) % len.max(1);
        (0..count.min(len)).map(move |step| (start + step) % len)
    }
}
