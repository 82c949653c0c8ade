//! Who is known: records by identity, and the lines in which tenants grow idle and are forgotten.
//!
//! What joins a tenant to its neighbours in line is kept apart from the records. A tenant that asks goes to the end of the line, and its
//! neighbours close up: of a million of them that is two more places in memory, which are sooner there if they are small.

use std::ops;

use super::{index::Index, slab::Slab};

/// No tenant.
const NOBODY: u32 = u32::MAX;

/// What is remembered of a tenant. Epochs count windows; what was written in another epoch is void.
///
/// It fills two lines of a cache that come from memory together.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(128))]
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
    /// When it went into the queue of those who were refused, counted in comers; 0 if it is not in it.
    pub(crate) queued: u64,
    /// What it asked for then.
    pub(crate) queued_cost: u64,
    /// It is in the trees, if it is active.
    pub(crate) entered: bool,
}

/// Who is next to a tenant in its line.
#[derive(Clone, Copy, Debug)]
struct Neighbours {
    before: u32,
    behind: u32,
}

impl Default for Neighbours {
    fn default() -> Self {
        Self {
            before: NOBODY,
            behind: NOBODY,
        }
    }
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

/// What joins the tenants of some lines. Nobody is in two of them.
#[derive(Debug)]
struct Links(Slab<Neighbours>);

impl Links {
    fn join(&mut self, line: &mut Line, place: u32) {
        self.0[place] = Neighbours {
            before: line.last,
            behind: NOBODY,
        };
        if line.last == NOBODY {
            line.first = place;
        } else {
            self.0[line.last].behind = place;
        }
        line.last = place;
    }

    fn leave(&mut self, line: &mut Line, place: u32) {
        let Neighbours { before, behind } = self.0[place];
        self.0.expect(before, 1);
        self.0.expect(behind, 1);
        if before == NOBODY {
            line.first = behind;
        } else {
            self.0[before].behind = behind;
        }
        if behind == NOBODY {
            line.last = before;
        } else {
            self.0[behind].before = before;
        }
    }

    /// Moves everyone in `from` to the end of `to`, in one step.
    fn move_all(&mut self, from: &mut Line, to: &mut Line) {
        if from.first == NOBODY {
            return;
        }
        self.0[from.first].before = to.last;
        if to.last == NOBODY {
            to.first = from.first;
        } else {
            self.0[to.last].behind = from.first;
        }
        to.last = from.last;
        *from = Line::EMPTY;
    }
}

/// All records. What belongs to one tenant has the same place everywhere.
#[derive(Debug)]
pub(crate) struct Tenants {
    index: Index,
    records: Slab<Tenant>,
    /// Of the active and the idle.
    lines: Links,
    /// Of those who were refused.
    queue: Links,
    len: usize,
}

impl Tenants {
    pub(crate) fn new() -> Self {
        Self {
            index: Index::new(),
            records: Slab::new(),
            lines: Links(Slab::new()),
            queue: Links(Slab::new()),
            len: 0,
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn find(&self, id: u128) -> Option<u32> {
        self.index.find(id, |place| self.records[place].id == id)
    }

    /// A record for somebody new, in no line yet.
    pub(crate) fn insert(&mut self, id: u128) -> u32 {
        let place = self.records.take();
        let same = (self.lines.0.take(), self.queue.0.take());
        debug_assert_eq!((place, place), same, "places are taken and given together");
        self.records[place].id = id;
        self.index.insert(id, place);
        self.len += 1;
        place
    }

    /// Forgets a tenant that is in no line.
    pub(crate) fn remove(&mut self, place: u32) {
        self.index.remove(self.records[place].id, place);
        self.records.give(place);
        self.lines.0.give(place);
        self.queue.0.give(place);
        self.len -= 1;
    }

    pub(crate) fn join(&mut self, line: &mut Line, place: u32) {
        self.lines.join(line, place);
    }

    pub(crate) fn leave(&mut self, line: &mut Line, place: u32) {
        self.lines.leave(line, place);
    }

    /// Moves everyone in `from` to the end of `to`, in one step.
    pub(crate) fn move_all(&mut self, from: &mut Line, to: &mut Line) {
        self.lines.move_all(from, to);
    }

    pub(crate) fn queue(&mut self, queue: &mut Line, place: u32) {
        self.queue.join(queue, place);
    }

    pub(crate) fn unqueue(&mut self, queue: &mut Line, place: u32) {
        self.queue.leave(queue, place);
    }

    /// The places in a line, from last to first.
    pub(crate) fn last_to_first(&self, line: &Line) -> impl Iterator<Item = u32> {
        let step = |&place: &u32| Some(self.lines.0[place].before).filter(|next| *next != NOBODY);
        std::iter::successors(line.last(), step)
    }

    /// The tenants of a line, from first to last.
    pub(crate) fn iter(&self, line: &Line) -> impl Iterator<Item = (u128, &Tenant)> {
        let step = |&place: &u32| Some(self.lines.0[place].behind).filter(|next| *next != NOBODY);
        std::iter::successors(line.first(), step).map(|place| {
            let tenant = &self.records[place];
            (tenant.id, tenant)
        })
    }
}

impl ops::Index<u32> for Tenants {
    type Output = Tenant;

    #[inline]
    fn index(&self, place: u32) -> &Tenant {
        &self.records[place]
    }
}

impl ops::IndexMut<u32> for Tenants {
    #[inline]
    fn index_mut(&mut self, place: u32) -> &mut Tenant {
        &mut self.records[place]
    }
}
