//! A flat table from fingerprints to words.
//!
//! Open addressing with linear probing over cache lines of two slots: most lookups touch one line, some the next too. The line of
//! a fingerprint is its low 64 bits times the number of lines, divided by 2^64, so the capacity need not be a power of two and
//! can grow in steps of a quarter; and as the places of all fingerprints keep their order under every capacity, moving to
//! a larger table reads and writes both from front to back. Removal closes the gap by moving later slots back: there
//! are no tombstones to pile up. At three quarters full, growing by a quarter, a key takes 43 to 54 bytes.

use tk_core::Fingerprint;

use crate::word::Word;

/// An empty one has fingerprint 0, which no key has.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    fingerprint: u128,
    word: Word,
}

/// A cache line of slots.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Line([Slot; PER_LINE]);

const PER_LINE: usize = 2;

/// Where a fingerprint is, or where it would go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Taken(usize),
    Vacant(usize),
}

#[derive(Debug, Default)]
pub(crate) struct Table {
    lines: Box<[Line]>,
    len: usize,
}

impl Table {
    /// Lines of the smallest table that holds something.
    const LEAST: usize = 2;

    pub(crate) const fn capacity(&self) -> usize {
        self.lines.len() * PER_LINE
    }

    /// Where the slots lie, for a [`Hint`](crate::prefetch::Hint).
    pub(crate) fn base(&self) -> *const u8 {
        self.lines.as_ptr().cast()
    }

    /// Where `fingerprint` is, or the vacant place where the search for it ended.
    #[inline]
    pub(crate) fn find(&self, fingerprint: Fingerprint) -> Place {
        let mut number = home(fingerprint.bits(), self.lines.len());
        loop {
            let Some(Line(slots)) = self.lines.get(number) else {
                if number == 0 {
                    // There are no slots at all.
                    return Place::Vacant(0);
                }
                number = 0;
                continue;
            };
            for (index, slot) in slots.iter().enumerate() {
                if slot.fingerprint == fingerprint.bits() {
                    return Place::Taken(number * PER_LINE + index);
                }
                // A quarter of the slots is empty, so the search ends.
                if slot.fingerprint == 0 {
                    return Place::Vacant(number * PER_LINE + index);
                }
            }
            number += 1;
        }
    }

    /// The fingerprint bits and word at `at`, if a key is there.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<(u128, Word)> {
        let slot = self.lines.get(at / PER_LINE)?.0[at % PER_LINE];
        (slot.fingerprint != 0).then_some((slot.fingerprint, slot.word))
    }

    /// The word at a taken place.
    #[inline]
    pub(crate) fn word(&self, at: usize) -> Word {
        self.slot(at).word
    }

    #[inline]
    fn slot(&self, at: usize) -> &Slot {
        &self.lines[at / PER_LINE].0[at % PER_LINE]
    }

    #[inline]
    fn slot_mut(&mut self, at: usize) -> &mut Slot {
        &mut self.lines[at / PER_LINE].0[at % PER_LINE]
    }

    /// Overwrites the word at a taken place.
    #[inline]
    pub(crate) fn set(&mut self, at: usize, word: Word) {
        self.slot_mut(at).word = word;
    }

    /// Adds a fingerprint that is not in the table; `vacant` is where the search for it ended.
    pub(crate) fn insert(&mut self, vacant: usize, fingerprint: Fingerprint, word: Word) {
        let mut at = vacant;
        if (self.len + 1) * 4 > self.capacity() * 3 {
            self.resize(grown(self.lines.len()));
            at = match self.find(fingerprint) {
                Place::Vacant(at) | Place::Taken(at) => at,
            };
        }
        *self.slot_mut(at) = Slot {
            fingerprint: fingerprint.bits(),
            word,
        };
        self.len += 1;
    }

    /// Empties a taken place, and moves later slots back so that every search still finds its end.
    pub(crate) fn remove(&mut self, at: usize) {
        let lines = self.lines.len();
        let distance = |from: usize, to: usize| {
            if to >= from {
                to - from
            } else {
                to + lines - from
            }
        };
        let (mut gap, mut next) = (at, at);
        loop {
            next = if next + 1 == self.capacity() {
                0
            } else {
                next + 1
            };
            let slot = *self.slot(next);
            if slot.fingerprint == 0 {
                break;
            }
            // A slot may move to any line that its search passes: those from its home to where it is.
            let (home, line) = (home(slot.fingerprint, lines), next / PER_LINE);
            if distance(home, line) >= distance(gap / PER_LINE, line) {
                *self.slot_mut(gap) = slot;
                gap = next;
            }
        }
        *self.slot_mut(gap) = Slot::default();
        self.len -= 1;
    }

    /// Gives memory back if less than a fifth is in use. Answers the capacities before and after.
    pub(crate) fn shrink(&mut self) -> [usize; 2] {
        let before = self.capacity();
        if before > 2 * Self::LEAST * PER_LINE && self.len * 5 < before {
            self.resize((self.len * 2).div_ceil(PER_LINE).max(Self::LEAST));
        }
        [before, self.capacity()]
    }

    fn resize(&mut self, lines: usize) {
        let lines = vec![Line::default(); lines].into_boxed_slice();
        let old = core::mem::replace(&mut self.lines, lines);
        let slots = old.iter().flat_map(|line| line.0);
        for slot in slots.filter(|slot| slot.fingerprint != 0) {
            self.put(slot);
        }
    }

    fn put(&mut self, slot: Slot) {
        let mut at = home(slot.fingerprint, self.lines.len()) * PER_LINE;
        while self.slot(at).fingerprint != 0 {
            at = if at + 1 == self.capacity() { 0 } else { at + 1 };
        }
        *self.slot_mut(at) = slot;
    }
}

/// The two lines in memory where the search for `fingerprint` begins in a table of `capacity` slots at `base`: to be prefetched.
#[inline(always)]
pub(crate) fn addresses(
    base: *const u8,
    capacity: usize,
    fingerprint: Fingerprint,
) -> [*const u8; 2] {
    let home = home(fingerprint.bits(), capacity / PER_LINE);
    [home, home + 1].map(|line| base.wrapping_add(line * size_of::<Line>()))
}

/// The line where the search for a fingerprint begins.
#[inline]
fn home(bits: u128, lines: usize) -> usize {
    ((u128::from(bits as u64) * lines as u128) >> 64) as usize
}

/// Doubles small tables and adds a quarter to others.
const fn grown(lines: usize) -> usize {
    match lines {
        0 => Table::LEAST,
        1..32 => lines * 2,
        _ => lines + lines / 4,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use quickcheck::{TestResult, quickcheck};
    use tk_core::Fingerprint;

    use super::*;

    /// Hashes a number to itself, so that tests can aim at places.
    #[derive(Clone, Default)]
    struct Identity(u64);

    impl core::hash::Hasher for Identity {
        fn write(&mut self, _: &[u8]) {}
        fn write_u128(&mut self, number: u128) {
            self.0 = number as u64;
        }
        fn write_u64(&mut self, _: u64) {}
        fn finish(&self) -> u64 {
            self.0
        }
    }

    type Hash = core::hash::BuildHasherDefault<Identity>;

    fn fingerprint(number: u64) -> Fingerprint {
        Fingerprint::of(&number, &[Hash::default(), Hash::default()])
    }

    fn word(number: u64) -> Word {
        Word::default().with_state(number.into())
    }

    fn agree(table: &Table, model: &HashMap<u64, u64>) -> bool {
        let found = |(&key, &value): (&u64, &u64)| match table.find(fingerprint(key)) {
            Place::Taken(at) => table.word(at) == word(value),
            Place::Vacant(_) => false,
        };
        let taken = (0..table.capacity()).filter(|&at| table.get(at).is_some());
        table.len == model.len() && taken.count() == model.len() && model.iter().all(found)
    }

    quickcheck! {
        /// Keys come in a few narrow bands, so that they collide, and at both ends, so that they wrap around.
        fn the_table_is_a_map(ops: Vec<(u8, u8, u64)>) -> TestResult {
            let (mut table, mut model) = (Table::default(), HashMap::new());
            for (key, op, value) in ops {
                let band = [0, u64::MAX / 3, u64::MAX - 255][usize::from(op % 3)];
                let key = (band + u64::from(key)).max(1);
                match (table.find(fingerprint(key)), op / 3 % 3) {
                    (Place::Taken(at), 0) => {
                        table.remove(at);
                        table.shrink();
                        model.remove(&key);
                    }
                    (Place::Taken(at), _) => {
                        table.set(at, word(value));
                        model.insert(key, value);
                    }
                    (Place::Vacant(at), _) => {
                        table.insert(at, fingerprint(key), word(value));
                        model.insert(key, value);
                    }
                }
                if !agree(&table, &model) {
                    return TestResult::failed();
                }
            }
            TestResult::passed()
        }
    }

    #[test]
    fn the_table_shrinks_to_almost_nothing() {
        let mut table = Table::default();
        let spread = |i: u64| fingerprint(i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut insert = |i| {
            let Place::Vacant(at) = table.find(spread(i)) else {
                panic!("{i} is new");
            };
            table.insert(at, spread(i), word(i));
            assert!(table.len * 4 <= table.capacity() * 3);
        };
        (1..=10_000).for_each(&mut insert);
        for i in 1..=10_000 {
            let Place::Taken(at) = table.find(spread(i)) else {
                panic!("{i} is there");
            };
            table.remove(at);
            table.shrink();
        }
        assert_eq!(table.len, 0);
        let least = 2 * Table::LEAST * PER_LINE;
        assert!(table.capacity() <= least, "{}", table.capacity());
    }
}
