//! A flat table from fingerprints to what is kept under them.
//!
//! Open addressing with linear probing: with a million keys a lookup waits for memory once, for the place itself, where a table
//! with its tags apart waits for a tag first and then for the place. The place of a fingerprint is its low 64 bits times the
//! capacity, divided by 2^64, so the capacity need not be a power of two and can grow in steps of a quarter. Removal
//! closes the gap by moving later entries back: there are no tombstones to pile up.

use tk_core::Fingerprint;

/// What lies in a table; the default is vacant.
pub(super) trait Keyed: Copy + Default {
    /// The bits of its fingerprint; 0, which no key has, if it is vacant.
    fn bits(&self) -> u128;
}

#[derive(Debug)]
pub(super) struct Table<T> {
    /// A quarter of them is vacant, so that every search ends.
    places: Box<[T]>,
    len: usize,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            places: Box::default(),
            len: 0,
        }
    }
}

impl<T: Keyed> Table<T> {
    /// The least capacity of a table that holds something.
    const LEAST: usize = 4;

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Places, of which some are vacant.
    pub(super) const fn places(&self) -> usize {
        self.places.len()
    }

    /// Where `fingerprint` is.
    #[inline(always)]
    pub(super) fn find(&self, fingerprint: Fingerprint) -> Option<usize> {
        let mut at = self.home(fingerprint.bits());
        loop {
            let Some(entry) = self.places.get(at) else {
                if at == 0 {
                    // There are no places at all.
                    return None;
                }
                at = 0;
                continue;
            };
            if entry.bits() == fingerprint.bits() {
                return Some(at);
            }
            if entry.bits() == 0 {
                return None;
            }
            at += 1;
        }
    }

    pub(super) fn get(&self, at: usize) -> Option<&T> {
        self.places.get(at).filter(|entry| entry.bits() != 0)
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.places.get_mut(at).filter(|entry| entry.bits() != 0)
    }

    /// Adds what is not in the table.
    pub(super) fn insert(&mut self, entry: T) {
        if (self.len + 1) * 4 > self.places.len() * 3 {
            self.grow();
        }
        self.put(entry);
        self.len += 1;
    }

    /// Empties a place, and moves later entries back so that every search still finds its end.
    ///
    /// Then another entry may be in that place, and whoever goes through all places has yet to look at it.
    pub(super) fn remove(&mut self, at: usize) -> Option<T> {
        let removed = std::mem::take(self.get_mut(at)?);
        self.len -= 1;
        let (mut gap, mut next) = (at, self.after(at));
        while self.places[next].bits() != 0 {
            let home = self.home(self.places[next].bits());
            if self.distance(home, next) >= self.distance(gap, next) {
                self.places.swap(gap, next);
                gap = next;
            }
            next = self.after(next);
        }
        Some(removed)
    }

    /// Where the search for a fingerprint begins.
    #[inline(always)]
    fn home(&self, bits: u128) -> usize {
        let low = u128::from(bits as u64);
        ((low * self.places.len() as u128) >> 64) as usize
    }

    fn after(&self, at: usize) -> usize {
        if at + 1 == self.places.len() {
            0
        } else {
            at + 1
        }
    }

    /// Steps from one place to another.
    fn distance(&self, from: usize, to: usize) -> usize {
        if to >= from {
            to - from
        } else {
            to + self.places.len() - from
        }
    }

    /// Doubles a small table and adds a quarter to others.
    fn grow(&mut self) {
        let capacity = match self.places.len() {
            0 => Self::LEAST,
            capacity @ 1..64 => capacity * 2,
            capacity => capacity + capacity / 4,
        };
        let places = vec![T::default(); capacity].into_boxed_slice();
        let old = std::mem::replace(&mut self.places, places);
        for entry in old.iter().filter(|entry| entry.bits() != 0) {
            self.put(*entry);
        }
    }

    fn put(&mut self, entry: T) {
        let mut at = self.home(entry.bits());
        while self.places[at].bits() != 0 {
            at = self.after(at);
        }
        self.places[at] = entry;
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::HashMap,
        hash::{BuildHasherDefault, Hasher},
    };

    use quickcheck::quickcheck;

    use super::*;

    /// Hashes a number to itself, so that tests can aim at places.
    #[derive(Clone, Default)]
    struct Identity(u64);

    impl Hasher for Identity {
        fn write(&mut self, _: &[u8]) {}
        fn write_u128(&mut self, number: u128) {
            self.0 = number as u64;
        }
        fn write_u64(&mut self, _: u64) {}
        fn finish(&self) -> u64 {
            self.0
        }
    }

    type Hash = BuildHasherDefault<Identity>;

    fn fingerprint(number: u64) -> Fingerprint {
        Fingerprint::of(&number, &[Hash::default(), Hash::default()])
    }

    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct Entry(u128, u64);

    impl Keyed for Entry {
        fn bits(&self) -> u128 {
            self.0
        }
    }

    fn agree(table: &Table<Entry>, model: &HashMap<u64, u64>) -> bool {
        let found = |(&key, &value): (&u64, &u64)| {
            let at = table.find(fingerprint(key));
            at.and_then(|at| table.get(at)).map(|entry| entry.1) == Some(value)
        };
        let taken = (0..table.places()).filter(|at| table.get(*at).is_some());
        model.iter().all(found) && taken.count() == model.len() && table.len() == model.len()
    }

    quickcheck! {
        /// Keys come in a few narrow bands, so that they collide, and at both ends, so that they wrap around.
        fn the_table_is_a_map(ops: Vec<(u8, u8, u64)>) -> bool {
            let mut table = Table::<Entry>::default();
            let mut model = HashMap::new();
            ops.into_iter().all(|(key, op, value)| {
                let band = [0, u64::MAX / 3, u64::MAX - 255][usize::from(op % 3)];
                let key = (band + u64::from(key)).max(1);
                match table.find(fingerprint(key)) {
                    Some(at) if op / 3 % 3 == 0 => {
                        let removed = table.remove(at).map(|entry| entry.1);
                        assert_eq!(removed, model.remove(&key));
                    }
                    Some(at) => {
                        table.get_mut(at).expect("it was found").1 = value;
                        model.insert(key, value);
                    }
                    None => {
                        table.insert(Entry(fingerprint(key).bits(), value));
                        model.insert(key, value);
                    }
                }
                agree(&table, &model)
            })
        }
    }

    #[test]
    fn an_empty_table_holds_nothing_and_ends_every_search() {
        let mut table = Table::<Entry>::default();
        assert_eq!(table.find(fingerprint(7)), None);
        assert_eq!(table.remove(0), None);
        assert_eq!((table.places(), table.len()), (0, 0));
    }
}
