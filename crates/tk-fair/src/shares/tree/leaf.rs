//! Tenants in order: what a tree has at the bottom.
//!
//! Standings are kept in masks: adding up the part of a leaf that is before a key is then a straight loop without branches. Whose the
//! entries are is kept apart from them, so that hiding somebody's looks at two lines of the cache.

use std::hint::black_box;

use super::{
    node::position,
    sums::{Item, Key, Standing, Sums, Total},
};

/// Entries of a leaf.
pub(crate) const LEAF: usize = 16;

/// A tenant in its place.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    key: Key,
    used: u64,
    cost: u64,
    weight: u32,
}

/// Tenants in order.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Leaf {
    pub(crate) len: usize,
    /// The epoch in which the masks were written.
    epoch: u64,
    late: u32,
    hidden: u32,
    /// The inner node that it is below, unless it is the root.
    pub(crate) parent: u32,
    /// Whose the entries are.
    pub(crate) owners: [u32; LEAF],
    entries: [Entry; LEAF],
}

impl Leaf {
    /// Where the entry of `owner` is, who has one.
    #[inline]
    pub(crate) fn position(&self, owner: u32) -> usize {
        position(&self.owners, owner)
    }

    /// Where `key` is or belongs: how many keys are before it.
    ///
    /// Halving would wait for one cache miss after another, and so would whoever moves the entries. So all that a leaf is made of is asked for
    /// at once, and then it is halved without a branch that a processor could only guess.
    #[inline]
    pub(crate) fn find(&self, key: &Key) -> usize {
        self.touch();
        let before = |at: usize| (at < self.len) & self.entries[at & (LEAF - 1)].key.is_before(key);
        let mut at = 0;
        let mut step = LEAF / 2;
        while step > 0 {
            at += step * usize::from(before(at + step - 1));
            step /= 2;
        }
        at + usize::from(before(at))
    }

    /// Has the processor fetch all that it is made of.
    #[inline(always)]
    fn touch(&self) {
        let turns = self.entries.iter().map(|entry| entry.key.turn);
        black_box(turns.fold(self.len as u64, |all, turn| all | turn));
    }

    /// The least key in it, which is not empty.
    pub(crate) const fn least(&self) -> Key {
        self.entries[0].key
    }

    /// The late and the hidden, as they stand in `epoch`.
    #[inline]
    const fn masks(&self, epoch: u64) -> (u32, u32) {
        if self.epoch == epoch {
            (self.late, self.hidden)
        } else {
            (0, 0)
        }
    }

    /// The item at `at`, as it stands in `epoch`.
    pub(crate) fn item(&self, at: usize, epoch: u64) -> Item {
        let (late, hidden) = self.masks(epoch);
        let standing = if hidden >> at & 1 == 1 {
            Standing::Hidden
        } else if late >> at & 1 == 1 {
            Standing::Late
        } else {
            Standing::Early
        };
        let Entry {
            used, cost, weight, ..
        } = self.entries[at];
        Item {
            weight,
            standing,
            used,
            cost,
        }
    }

    /// Writes out what the marks are in `epoch`.
    #[inline]
    pub(crate) const fn refresh(&mut self, epoch: u64) {
        (self.late, self.hidden) = self.masks(epoch);
        self.epoch = epoch;
    }

    /// Adds up those of the first `end` that count and whose cost is at most `fits`.
    #[inline]
    pub(crate) fn add_fitting(&self, end: usize, fits: u64, epoch: u64, sums: &mut Sums) {
        let (late, hidden) = self.masks(epoch);
        for (at, entry) in self.entries.iter().enumerate().take(end) {
            let counts = u64::from(entry.cost <= fits) & u64::from(!hidden >> at & 1);
            let late = counts & u64::from(late >> at & 1);
            let (early, late) = ((counts ^ late).wrapping_neg(), late.wrapping_neg());
            let (weight, used) = (u64::from(entry.weight), entry.used);
            sums.early.weight += weight & early;
            sums.early.used += used & early;
            sums.late.weight += weight & late;
            sums.late.used += used & late;
        }
    }

    /// The largest cost in it.
    pub(crate) fn dearest(&self) -> u64 {
        let costs = self.entries[..self.len].iter().map(|entry| entry.cost);
        costs.max().unwrap_or(0)
    }

    pub(crate) fn insert(&mut self, at: usize, key: Key, item: &Item, owner: u32) {
        let mask = (1 << at) - 1;
        self.owners.copy_within(at..self.len, at + 1);
        self.owners[at] = owner;
        self.entries.copy_within(at..self.len, at + 1);
        self.entries[at] = Entry {
            key,
            used: item.used,
            cost: item.cost,
            weight: item.weight,
        };
        let open =
            |marks: u32, mark: bool| marks & mask | (marks & !mask) << 1 | u32::from(mark) << at;
        self.late = open(self.late, item.standing == Standing::Late);
        self.hidden = open(self.hidden, item.standing == Standing::Hidden);
        self.len += 1;
    }

    pub(crate) fn remove(&mut self, at: usize) {
        let mask = (1 << at) - 1;
        self.owners.copy_within(at + 1..self.len, at);
        self.entries.copy_within(at + 1..self.len, at);
        self.late = self.late & mask | self.late >> 1 & !mask;
        self.hidden = self.hidden & mask | self.hidden >> 1 & !mask;
        self.len -= 1;
    }

    /// Hides the item at `at`.
    pub(crate) const fn hide(&mut self, at: usize) {
        self.late &= !(1 << at);
        self.hidden |= 1 << at;
    }

    /// Parts with everything from `at` on.
    pub(crate) fn split_to(&mut self, at: usize, right: &mut Self) {
        right.len = self.len - at;
        right.epoch = self.epoch;
        right.late = self.late >> at;
        right.hidden = self.hidden >> at;
        right.owners[..right.len].copy_from_slice(&self.owners[at..self.len]);
        right.entries[..right.len].copy_from_slice(&self.entries[at..self.len]);
        self.late &= (1 << at) - 1;
        self.hidden &= (1 << at) - 1;
        self.len = at;
    }

    /// Takes over everything from `right`, which follows.
    pub(crate) fn append(&mut self, right: &Self) {
        let (at, end) = (self.len, self.len + right.len);
        self.late |= right.late << at;
        self.hidden |= right.hidden << at;
        self.owners[at..end].copy_from_slice(&right.owners[..right.len]);
        self.entries[at..end].copy_from_slice(&right.entries[..right.len]);
        self.len = end;
    }

    /// What is in it, in the epoch of its marks.
    pub(crate) fn total(&self) -> Total {
        let mut total = Total::default();
        for at in 0..self.len {
            total.count(&self.item(at, self.epoch));
        }
        total
    }
}
