//! Who is known: records by identity, and the lines in which tenants grow idle and are forgotten.
//!
//! The index is cut into many small tables, each of which grows by itself: a single one would move a million
//! entries in the call that happens to need one place more.

use std::ops::{Index, IndexMut};

use hashbrown::HashTable;

use super::slab::Slab;

/// Tables of the index.
const TABLES: usize = 1_024;

/// No tenant.
const NOBODY: u32 = u32::MAX;

/// What is remembered of a tenant. Epochs count windows; what was written in another epoch is void.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tenant {
    id: u128,
    /// The life of the trees in which it is; it is active if that is the present one.
    pub(crate) life: u64,
    pub(crate) weight: u32,
    /// The weight that counts in the window's sum, if that sum is the one it was `counted_in`.
    pub(crate) counted: u32,
    pub(crate) counted_in: u64,
    /// What it last asked for.
    pub(crate) cost: u64,
    /// When it last asked.
    pub(crate) asked: u64,
    pub(crate) used: u64,
    pub(crate) used_epoch: u64,
    /// The epoch in which it joined or came back.
    pub(crate) late_epoch: u64,
    /// Its turn among equals: the lower, the longer it has waited.
    pub(crate) turn: u64,
    /// The epoch in which it last went to the end.
    pub(crate) turned_in: u64,
    /// It is in the trees, if it is active.
    pub(crate) entered: bool,
    before: u32,
    behind: u32,
}

/// A line of tenants; the first has been in it longest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    first: u32,
    last: u32,
}

impl Line {
    pub(crate) const EMPTY: Self = Self {
        first: NOBODY,
        last: NOBODY,
    };

    pub(crate) fn first(&self) -> Option<u32> {
        (self.first != NOBODY).then_some(self.first)
    }

    pub(crate) fn last(&self) -> Option<u32> {
        (self.last != NOBODY).then_some(self.last)
    }
}

/// All records.
#[derive(Debug)]
pub(crate) struct Tenants {
    index: Box<[HashTable<u32>]>,
    records: Slab<Tenant>,
    len: usize,
}

impl Tenants {
    pub(crate) fn new() -> Self {
        Self {
            index: (0..TABLES).map(|_| HashTable::new()).collect(),
            records: Slab::new(),
            len: 0,
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn find(&self, id: u128) -> Option<u32> {
        let (table, hash) = address(id);
        let same = |place: &u32| self.records[*place].id == id;
        self.index[table].find(hash, same).copied()
    }

    /// A record for somebody new, in no line yet.
    pub(crate) fn insert(&mut self, id: u128) -> u32 {
        let place = self.records.take();
        self.records[place] = Tenant {
            id,
            before: NOBODY,
            behind: NOBODY,
            ..Tenant::default()
        };
        let (table, hash) = address(id);
        let records = &self.records;
        let rehash = |place: &u32| address(records[*place].id).1;
        self.index[table].insert_unique(hash, place, rehash);
        self.len += 1;
        place
    }

    /// Forgets a tenant that is in no line.
    pub(crate) fn remove(&mut self, place: u32) {
        let (table, hash) = address(self.records[place].id);
        let entry = self.index[table].find_entry(hash, |other| *other == place);
        if let Ok(entry) = entry {
            entry.remove();
            self.records.give(place);
            self.len -= 1;
        }
    }

    pub(crate) fn join(&mut self, line: &mut Line, place: u32) {
        self.records[place].before = line.last;
        self.records[place].behind = NOBODY;
        if line.last == NOBODY {
            line.first = place;
        } else {
            self.records[line.last].behind = place;
        }
        line.last = place;
    }

    pub(crate) fn leave(&mut self, line: &mut Line, place: u32) {
        let Tenant { before, behind, .. } = self.records[place];
        if before == NOBODY {
            line.first = behind;
        } else {
            self.records[before].behind = behind;
        }
        if behind == NOBODY {
            line.last = before;
        } else {
            self.records[behind].before = before;
        }
    }

    /// Moves everyone in `from` to the end of `to`, in one step.
    pub(crate) fn move_all(&mut self, from: &mut Line, to: &mut Line) {
        if from.first == NOBODY {
            return;
        }
        self.records[from.first].before = to.last;
        if to.last == NOBODY {
            to.first = from.first;
        } else {
            self.records[to.last].behind = from.first;
        }
        to.last = from.last;
        *from = Line::EMPTY;
    }

    /// The places in a line, from last to first.
    pub(crate) fn last_to_first(&self, line: &Line) -> impl Iterator<Item = u32> {
        let step = |&place: &u32| Some(self.records[place].before).filter(|next| *next != NOBODY);
        std::iter::successors(line.last(), step)
    }

    /// The tenants of a line, from first to last.
    pub(crate) fn iter(&self, line: &Line) -> impl Iterator<Item = (u128, &Tenant)> {
        let step = |&place: &u32| Some(self.records[place].behind).filter(|next| *next != NOBODY);
        std::iter::successors(line.first(), step).map(|place| {
            let tenant = &self.records[place];
            (tenant.id, tenant)
        })
    }
}

impl Index<u32> for Tenants {
    type Output = Tenant;

    #[inline]
    fn index(&self, place: u32) -> &Tenant {
        &self.records[place]
    }
}

impl IndexMut<u32> for Tenants {
    #[inline]
    fn index_mut(&mut self, place: u32) -> &mut Tenant {
        &mut self.records[place]
    }
}

/// The table of an identity, and its hash in there. Identities are random bits.
const fn address(id: u128) -> (usize, u64) {
    ((id >> 64) as usize % TABLES, id as u64)
}
