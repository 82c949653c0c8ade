//! A key's place in the table.

use std::{
    ops::{Deref, DerefMut},
    time::Duration,
};

use tk_core::{Fingerprint, Monotonic, Store};

use super::{entry::Entry, table::Keyed};
use crate::{Served, ledger::Purse};

/// What a hit needs, in one cache line; the rest of the entry is behind a pointer.
#[repr(align(64))]
pub(crate) struct Slot<L2: Store> {
    fingerprint: Fingerprint,
    used_at: Monotonic,
    /// What the entry's ledger holds. Only [`Opened`] touches the ledger, and books what was spent from the purse before.
    purse: Purse,
    entry: Box<Entry<L2>>,
}

impl<L2: Store> Slot<L2> {
    pub(super) fn new(fingerprint: Fingerprint, entry: Entry<L2>, now: Monotonic) -> Self {
        Self {
            fingerprint,
            used_at: now,
            purse: Purse::default(),
            entry: Box::new(entry),
        }
    }

    pub(super) const fn used_at(&self) -> Monotonic {
        self.used_at
    }

    /// Charges `cost` to the credits at hand, unless the ledger has to decide.
    #[inline(always)]
    pub(super) fn spend(&mut self, now: Monotonic, cost: u64) -> Option<Served> {
        let served = self.purse.spend(now, cost)?;
        self.used_at = now;
        Some(served)
    }

    pub(super) fn open(&mut self) -> Opened<'_, L2> {
        self.entry.line.ledger.settle(&self.purse);
        Opened(self)
    }

    /// Whether nobody has asked for it for so long, and nothing is under way.
    pub(super) fn is_idle(&self, now: Monotonic, idle: Duration) -> bool {
        now.since(self.used_at) >= idle && self.entry.is_calm()
    }

    /// The entry as it was when it was last open, for what spending does not change.
    pub(super) fn peek(&self) -> &Entry<L2> {
        &self.entry
    }
}

impl<L2: Store> Keyed for Slot<L2> {
    #[inline(always)]
    fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }
}

/// An entry whose ledger is up to date, and lends its credits again when it is let go.
pub(crate) struct Opened<'a, L2: Store>(&'a mut Slot<L2>);

impl<L2: Store> Opened<'_, L2> {
    pub(super) fn touch(&mut self, now: Monotonic) {
        self.0.used_at = now;
    }

    pub(super) const fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint
    }
}

impl<L2: Store> Deref for Opened<'_, L2> {
    type Target = Entry<L2>;

    fn deref(&self) -> &Entry<L2> {
        &self.0.entry
    }
}

impl<L2: Store> DerefMut for Opened<'_, L2> {
    fn deref_mut(&mut self) -> &mut Entry<L2> {
        &mut self.0.entry
    }
}

impl<L2: Store> Drop for Opened<'_, L2> {
    fn drop(&mut self) {
        self.0.purse = self.0.entry.line.ledger.lend();
    }
}
