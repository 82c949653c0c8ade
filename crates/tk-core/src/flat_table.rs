//! A flat table from fingerprints to small values.
//!
//! Open addressing with linear probing over lines of two slots: if a slot takes 32 bytes, a line is a cache line, most lookups touch
//! one and some the next too. The line of a fingerprint is its low 64 bits times the number of lines, divided by 2^64, so the
//! capacity need not be a power of two and can grow in steps of a quarter; and as the places of all fingerprints keep their
//! order under every capacity, moving to a larger table reads and writes both from front to back. Removal closes
//! the gap by moving later slots back: there are no tombstones to pile up. At three quarters full, growing by a quarter,
//! a slot of 32 bytes takes 43 to 54. (Knuth, The Art of Computer Programming, volume 3, section 6.4: linear probing with
//! buckets, and algorithm R for the removal.)

mod hint;
#[cfg(test)]
mod tests;

pub use hint::TableHint;

use alloc::{boxed::Box, vec};

use crate::Fingerprint;

/// What lies in a [`FlatTable`]; the default is vacant.
pub trait Keyed: Copy + Default {
    /// The bits of its fingerprint; 0, which no key has, if it is vacant.
    fn bits(&self) -> u128;
}

/// A map from fingerprints to small values, for stores of keys: one that keeps its slots side by side and grows by a quarter.
///
/// Its hashes are those in the fingerprints, so it is as safe from chosen keys as they are.
///
/// ```
/// use std::hash::RandomState;
/// use tk_core::{FlatTable, Fingerprint, Keyed};
///
/// #[derive(Clone, Copy, Default)]
/// struct Count(u128, u64);
///
/// impl Keyed for Count {
///     fn bits(&self) -> u128 {
///         self.0
///     }
/// }
///
/// let key = Fingerprint::of("alice", &[RandomState::new(), RandomState::new()]);
/// let mut table = FlatTable::default();
/// if let Err(vacant) = table.find(key) {
///     table.insert(vacant, Count(key.bits(), 1));
/// }
/// let count = table.find(key).ok().and_then(|at| table.get(at));
/// assert_eq!(count.map(|count| count.1), Some(1));
/// ```
#[derive(Debug)]
pub struct FlatTable<T> {
    /// A quarter of the slots is vacant, so that every search ends.
    lines: Box<[Line<T>]>,
    len: usize,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Line<T>([T; PER_LINE]);

const PER_LINE: usize = 2;
/// Lines of the smallest table that holds something.
const LEAST: usize = 2;

impl<T> Default for FlatTable<T> {
    fn default() -> Self {
        Self {
            lines: Box::default(),
            len: 0,
        }
    }
}

impl<T: Keyed> FlatTable<T> {
    /// How many fingerprints are in it.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds nothing.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many slots it has, of which some are vacant.
    #[must_use]
    pub const fn capacity(&self) -> usize {
        self.lines.len() * PER_LINE
    }

    /// The place of `fingerprint`; if it is not in the table, the vacant place where the search for it ended.
    ///
    /// # Errors
    ///
    /// As with [`slice::binary_search`], an error is no failure: it says where to [`insert`](FlatTable::insert).
    #[inline(always)]
    pub fn find(&self, fingerprint: Fingerprint) -> Result<usize, usize> {
        let at = |(line, index)| line * PER_LINE + index;
        self.search(fingerprint).map(at).map_err(at)
    }

    /// What has this fingerprint, if it is in the table. Its fingerprint must not be changed: whoever looks for it would not find it.
    #[must_use]
    #[inline(always)]
    pub fn find_mut(&mut self, fingerprint: Fingerprint) -> Option<&mut T> {
        let (line, index) = self.search(fingerprint).ok()?;
        Some(&mut self.lines[line].0[index])
    }

    /// As [`FlatTable::find`], but the line and the place in it: from them the compiler knows that the place is in the table.
    #[inline(always)]
    fn search(&self, fingerprint: Fingerprint) -> Result<(usize, usize), (usize, usize)> {
        let mut number = home(fingerprint.bits(), self.lines.len());
        // Where few keys are asked for again and again, their places can be foreseen, and waiting for a comparison costs a tenth.
        let foreseen = self.lines.len() <= LEAST;
        loop {
            let Some(Line(slots)) = self.lines.get(number) else {
                if number == 0 {
                    // There are no slots at all.
                    return Err((0, 0));
                }
                number = 0;
                continue;
            };
            let is_it = |slot: &T| slot.bits() == fingerprint.bits();
            let found = if foreseen {
                slots.iter().position(is_it)
            } else {
                unforeseen_position(slots, is_it)
            };
            if let Some(index) = found {
                return Ok((number, index));
            }
            if let Some(index) = slots.iter().position(|slot| slot.bits() == 0) {
                return Err((number, index));
            }
            number += 1;
        }
    }

    /// What is at a place, if it is taken.
    #[must_use]
    #[inline(always)]
    pub fn get(&self, at: usize) -> Option<&T> {
        let slot = &self.lines.get(at / PER_LINE)?.0[at % PER_LINE];
        (slot.bits() != 0).then_some(slot)
    }

    /// What is at a place, if it is taken. Its fingerprint must not be changed: whoever looks for it would not find it.
    #[must_use]
    #[inline(always)]
    pub fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        let slot = &mut self.lines.get_mut(at / PER_LINE)?.0[at % PER_LINE];
        (slot.bits() != 0).then_some(slot)
    }

    /// Adds what is not in the table; `vacant` is where the search for it ended.
    pub fn insert(&mut self, vacant: usize, slot: T) {
        if (self.len + 1) * 4 > self.capacity() * 3 {
            self.resize(grown(self.lines.len()));
            self.put(slot);
        } else {
            *self.slot_mut(vacant) = slot;
        }
        self.len += 1;
    }

    /// Empties a place if it is taken, and moves later slots back so that every search still finds its end.
    ///
    /// Then another slot may be in that place, and whoever goes through all places has yet to look at it.
    pub fn remove(&mut self, at: usize) -> Option<T> {
        let removed = *self.get(at)?;
        let (mut gap, mut next) = (at, at);
        loop {
            next = self.after(next);
            let slot = *self.slot(next);
            if slot.bits() == 0 {
                break;
            }
            // It may move to any line that its search passes: those from its home to where it is.
            let (home, line) = (home(slot.bits(), self.lines.len()), next / PER_LINE);
            if self.lines_from(home, line) >= self.lines_from(gap / PER_LINE, line) {
                *self.slot_mut(gap) = slot;
                gap = next;
            }
        }
        *self.slot_mut(gap) = T::default();
        self.len -= 1;
        Some(removed)
    }

    /// Gives memory back if less than a fifth is in use. Answers the capacities before and after; places are others if they differ.
    pub fn shrink(&mut self) -> [usize; 2] {
        let before = self.capacity();
        if before > 2 * LEAST * PER_LINE && self.len * 5 < before {
            self.resize((self.len * 2).div_ceil(PER_LINE).max(LEAST));
        }
        [before, self.capacity()]
    }

    /// The two lines in which the search for a fingerprint begins, if the table lies at `base` and has `capacity` slots: to be prefetched,
    /// and nothing else.
    #[inline(always)]
    fn addresses(base: *const u8, capacity: usize, fingerprint: Fingerprint) -> [*const u8; 2] {
        let home = home(fingerprint.bits(), capacity / PER_LINE);
        [home, home + 1].map(|line| base.wrapping_add(line * size_of::<Line<T>>()))
    }

    /// Where its slots lie, for [`FlatTable::addresses`]; they move when it grows or shrinks.
    fn base(&self) -> *const u8 {
        self.lines.as_ptr().cast()
    }

    #[inline(always)]
    fn slot(&self, at: usize) -> &T {
        &self.lines[at / PER_LINE].0[at % PER_LINE]
    }

    #[inline(always)]
    fn slot_mut(&mut self, at: usize) -> &mut T {
        &mut self.lines[at / PER_LINE].0[at % PER_LINE]
    }

    fn after(&self, at: usize) -> usize {
        if at + 1 == self.capacity() { 0 } else { at + 1 }
    }

    /// Steps from one line to another.
    fn lines_from(&self, from: usize, to: usize) -> usize {
        if to >= from {
            to - from
        } else {
            to + self.lines.len() - from
        }
    }

    fn resize(&mut self, lines: usize) {
        let lines = vec![Line::default(); lines].into_boxed_slice();
        let old = core::mem::replace(&mut self.lines, lines);
        let slots = old.iter().flat_map(|line| line.0);
        for slot in slots.filter(|slot| slot.bits() != 0) {
            self.put(slot);
        }
    }

    fn put(&mut self, slot: T) {
        let mut at = home(slot.bits(), self.lines.len()) * PER_LINE;
        while self.slot(at).bits() != 0 {
            at = self.after(at);
        }
        *self.slot_mut(at) = slot;
    }
}

/// The line where the search for a fingerprint begins.
#[inline(always)]
fn home(bits: u128, lines: usize) -> usize {
    ((u128::from(bits as u64) * lines as u128) >> 64) as usize
}

/// As `position`, without a branch for each slot: which slot of a line it is cannot be foreseen, and a branch that goes wrong once in
/// two searches takes longer than both comparisons.
#[inline(always)]
fn unforeseen_position<T>(slots: &[T; PER_LINE], is_it: impl Fn(&T) -> bool) -> Option<usize> {
    let mask = (0..PER_LINE).fold(0, |mask, index| {
        mask | u32::from(is_it(&slots[index])) << index
    });
    (mask != 0).then(|| mask.trailing_zeros() as usize)
}

/// Doubles a small table and adds a quarter to others.
const fn grown(lines: usize) -> usize {
    match lines {
        0 => LEAST,
        1..32 => lines * 2,
        _ => lines + lines / 4,
    }
}
