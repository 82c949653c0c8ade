//! A flat table from fingerprints to what is kept under them.
//!
//! Open addressing with linear probing: with a million keys a lookup waits for memory once, for the place itself, where a table
//! with its tags apart waits for a tag first and then for the place. The place of a fingerprint is its low 64 bits times the
//! capacity, divided by 2^64, so the capacity need not be a power of two and can grow in steps of a quarter. At most half of the
//! places are taken, for each place is a cache line: at three quarters a hit over a million keys took a tenth longer. Removal
//! closes the gap by moving later entries back: there are no tombstones to pile up.

use tk_core::Fingerprint;

/// What lies in a table.
pub(super) trait Keyed {
    fn fingerprint(&self) -> Fingerprint;
}

#[derive(Debug)]
pub(super) struct Table<T> {
    /// Half of them are vacant, so that every search ends.
    places: Box<[Option<T>]>,
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

    #[inline(always)]
    pub(super) fn find(&mut self, fingerprint: Fingerprint) -> Option<&mut T> {
        let mut at = self.home(fingerprint);
        loop {
            match self.places.get(at) {
                Some(Some(entry)) if entry.fingerprint() == fingerprint => break,
                Some(Some(_)) => at += 1,
                None if at > 0 => at = 0,
                // A vacant place, or none at all.
                Some(None) | None => return None,
            }
        }
        self.get_mut(at)
    }

    pub(super) fn get(&self, at: usize) -> Option<&T> {
        self.places.get(at)?.as_ref()
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.places.get_mut(at)?.as_mut()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.places.iter_mut().flatten()
    }

    /// Adds what is not in the table.
    pub(super) fn insert(&mut self, entry: T) {
        if (self.len + 1) * 2 > self.places.len() {
            self.grow();
        }
        self.put(entry);
        self.len += 1;
    }

    /// Empties a place, and moves later entries back so that every search still finds its end.
    ///
    /// Then another entry may be in that place, and whoever goes through all places has yet to look at it.
    pub(super) fn remove(&mut self, at: usize) -> Option<T> {
        let removed = self.places.get_mut(at)?.take()?;
        self.len -= 1;
        let (mut gap, mut next) = (at, self.after(at));
        while let Some(entry) = &self.places[next] {
            let home = self.home(entry.fingerprint());
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
    fn home(&self, fingerprint: Fingerprint) -> usize {
        let low = u128::from(fingerprint.bits() as u64);
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
        let places = (0..capacity).map(|_| None).collect();
        for entry in std::mem::replace(&mut self.places, places)
            .into_iter()
            .flatten()
        {
            self.put(entry);
        }
    }

    fn put(&mut self, entry: T) {
        let mut at = self.home(entry.fingerprint());
        while self.places[at].is_some() {
            at = self.after(at);
        }
        self.places[at] = Some(entry);
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

    #[derive(Debug, PartialEq)]
    struct Entry(Fingerprint, u64);

    impl Keyed for Entry {
        fn fingerprint(&self) -> Fingerprint {
            self.0
        }
    }

    fn place(table: &Table<Entry>, key: u64) -> Option<usize> {
        let is_it = |at: &usize| {
            let entry = table.get(*at);
            entry.is_some_and(|entry| entry.0 == fingerprint(key))
        };
        (0..table.places()).find(is_it)
    }

    fn agree(table: &mut Table<Entry>, model: &HashMap<u64, u64>) -> bool {
        let mut found = |(&key, &value): (&u64, &u64)| {
            let entry = table.find(fingerprint(key));
            entry.map(|entry| entry.1) == Some(value)
        };
        model.iter().all(&mut found)
            && table.iter_mut().count() == model.len()
            && table.len() == model.len()
    }

    quickcheck! {
        /// Keys come in a few narrow bands, so that they collide, and at both ends, so that they wrap around.
        fn the_table_is_a_map(ops: Vec<(u8, u8, u64)>) -> bool {
            let (mut table, mut model) = (Table::default(), HashMap::new());
            ops.into_iter().all(|(key, op, value)| {
                let band = [0, u64::MAX / 3, u64::MAX - 255][usize::from(op % 3)];
                let key = (band + u64::from(key)).max(1);
                if op / 3 % 3 == 0 {
                    let removed = place(&table, key).and_then(|at| table.remove(at));
                    assert_eq!(removed.map(|entry| entry.1), model.remove(&key));
                } else {
                    match table.find(fingerprint(key)) {
                        Some(entry) => entry.1 = value,
                        None => table.insert(Entry(fingerprint(key), value)),
                    }
                    model.insert(key, value);
                }
                agree(&mut table, &model)
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
