//! Finds records by identity, with one wait for memory.
//!
//! At a million tenants a check is mostly waiting. A table that keeps its marks apart from its entries waits twice before it has the
//! place of a record. Here both are one word: a slot holds 32 bits of the identity and the place, and whoever has
//! another identity is passed over without looking at its record.
//!
//! The index is cut into many small tables, each of which grows by itself: a single one would move a million
//! entries in the call that happens to need one place more.

/// Tables of the index.
const TABLES: usize = 256;

/// A slot that nobody is in. No record has the place in it.
const EMPTY: u64 = u64::MAX;

/// Places of records by identity. Identities are random bits.
#[derive(Debug)]
pub(crate) struct Index {
    tables: Box<[Table]>,
}

impl Index {
    pub(crate) fn new() -> Self {
        Self {
            tables: (0..TABLES).map(|_| Table::default()).collect(),
        }
    }

    /// The place of `id`, if there is one of which that `is` true.
    #[inline]
    pub(crate) fn find(&self, id: u128, is: impl Fn(u32) -> bool) -> Option<u32> {
        let (table, tag) = address(id);
        let table = &self.tables[table];
        let at = table.find(tag, is)?;
        Some(table.slots[at] as u32)
    }

    /// Puts in `id`, which is not there.
    pub(crate) fn insert(&mut self, id: u128, place: u32) {
        let (table, tag) = address(id);
        self.tables[table].insert(slot(tag, place));
    }

    /// Takes out `id`, which is at `place`.
    pub(crate) fn remove(&mut self, id: u128, place: u32) {
        let (table, tag) = address(id);
        let table = &mut self.tables[table];
        if let Some(at) = table.find(tag, |other| other == place) {
            table.remove(at);
        }
    }
}

/// The table of an identity, and what stands for it there.
const fn address(id: u128) -> (usize, u32) {
    ((id >> 64) as usize % TABLES, id as u32)
}

const fn slot(tag: u32, place: u32) -> u64 {
    (tag as u64) << 32 | place as u64
}

const fn tag_of(slot: u64) -> u32 {
    (slot >> 32) as u32
}

/// Open addressing, one slot after another. At most three of four slots are taken.
#[derive(Debug, Default)]
struct Table {
    /// None, or a power of two.
    slots: Box<[u64]>,
    len: usize,
}

impl Table {
    /// Where `tag` belongs.
    const fn home(&self, tag: u32) -> usize {
        tag as usize & self.slots.len().wrapping_sub(1)
    }

    const fn next(&self, at: usize) -> usize {
        (at + 1) & (self.slots.len() - 1)
    }

    #[inline]
    fn find(&self, tag: u32, is: impl Fn(u32) -> bool) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let mut at = self.home(tag);
        loop {
            let slot = self.slots[at];
            if slot == EMPTY {
                return None;
            }
            if tag_of(slot) == tag && is(slot as u32) {
                return Some(at);
            }
            at = self.next(at);
        }
    }

    fn insert(&mut self, slot: u64) {
        if (self.len + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        self.put(slot);
        self.len += 1;
    }

    fn put(&mut self, slot: u64) {
        let mut at = self.home(tag_of(slot));
        while self.slots[at] != EMPTY {
            at = self.next(at);
        }
        self.slots[at] = slot;
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(4);
        let slots = vec![EMPTY; size].into_boxed_slice();
        for slot in std::mem::replace(&mut self.slots, slots) {
            if slot != EMPTY {
                self.put(slot);
            }
        }
    }

    /// Empties a slot, and moves up those behind it that would not be found any more.
    fn remove(&mut self, mut hole: usize) {
        self.len -= 1;
        let mask = self.slots.len() - 1;
        let mut at = self.next(hole);
        while self.slots[at] != EMPTY {
            let home = self.home(tag_of(self.slots[at]));
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(hole) & mask {
                self.slots[hole] = self.slots[at];
                hole = at;
            }
            at = self.next(at);
        }
        self.slots[hole] = EMPTY;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use quickcheck::quickcheck;

    use super::*;

    /// Identities of which many share a table, a tag or both.
    const fn crowded(name: u16) -> u128 {
        let (table, tag, rest) = (name % 3, name / 3 % 40, name / 120);
        (table as u128) << 64 | (rest as u128) << 80 | tag as u128
    }

    quickcheck! {
        fn finds_what_a_map_finds(steps: Vec<(bool, u16)>) -> bool {
            let mut index = Index::new();
            let mut twin: BTreeMap<u128, u32> = BTreeMap::new();
            let mut ids: Vec<u128> = Vec::new();
            steps.iter().all(|(insert, name)| {
                let id = crowded(name % 400);
                if *insert && !twin.contains_key(&id) {
                    let place = ids.len() as u32;
                    ids.push(id);
                    twin.insert(id, place);
                    index.insert(id, place);
                } else if let Some(place) = twin.remove(&id) {
                    index.remove(id, place);
                }
                (0..400).map(crowded).all(|id| {
                    index.find(id, |place| ids[place as usize] == id) == twin.get(&id).copied()
                })
            })
        }
    }
}
