//! A key's place in the table.

use std::ops::{Deref, DerefMut};

use tk_core::{Fingerprint, Keyed, Monotonic, Store};

use super::entry::Entry;
use crate::{
    Served,
    ledger::{Packed, WallOffset},
};

/// What a hit needs, in half a cache line: the fingerprint, the purse of the entry's ledger, and where the entry is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    fingerprint: u128,
    /// The purse, and above it where in the slab the entry is.
    word: u128,
}

impl Slot {
    pub(super) fn new(fingerprint: Fingerprint, entry: u32) -> Self {
        Self {
            fingerprint: fingerprint.bits(),
            word: u128::from(entry) << Packed::BITS,
        }
    }

    /// Where in the slab its entry is.
    pub(super) const fn entry(&self) -> u32 {
        (self.word >> Packed::BITS) as u32
    }

    /// Charges `cost` to the credits at hand, unless the ledger has to decide.
    #[inline(always)]
    pub(super) fn spend(&mut self, now: Monotonic, cost: u64, wall: WallOffset) -> Option<Served> {
        let mut purse = self.purse();
        let served = purse.spend(now, cost, wall)?;
        self.lend(purse);
        Some(served)
    }

    #[inline(always)]
    fn purse(&self) -> Packed {
        Packed::from_bits(self.word)
    }

    #[inline(always)]
    fn lend(&mut self, purse: Packed) {
        self.word = u128::from(self.entry()) << Packed::BITS | purse.bits();
    }

    /// Books what was spent from the purse since the entry was last open. That was a use of the key, at `now` or before.
    pub(super) fn settle<L2: Store>(&self, entry: &mut Entry<L2>, now: Monotonic) {
        let spent = entry.lent - self.purse().amount();
        if spent > 0 {
            entry.used_at = now;
            entry.line.ledger.settle(spent);
        }
    }
}

impl Keyed for Slot {
    #[inline(always)]
    fn bits(&self) -> u128 {
        self.fingerprint
    }
}

/// An entry whose ledger is up to date, and lends its credits again when it is let go.
pub(crate) struct Opened<'a, L2: Store> {
    slot: &'a mut Slot,
    entry: &'a mut Entry<L2>,
}

impl<'a, L2: Store> Opened<'a, L2> {
    pub(super) fn new(slot: &'a mut Slot, entry: &'a mut Entry<L2>, now: Monotonic) -> Self {
        slot.settle(entry, now);
        Self { slot, entry }
    }
}

impl<L2: Store> Deref for Opened<'_, L2> {
    type Target = Entry<L2>;

    fn deref(&self) -> &Entry<L2> {
        self.entry
    }
}

impl<L2: Store> DerefMut for Opened<'_, L2> {
    fn deref_mut(&mut self) -> &mut Entry<L2> {
        self.entry
    }
}

impl<L2: Store> Drop for Opened<'_, L2> {
    fn drop(&mut self) {
        let purse = Packed::of(&self.entry.line.ledger.lend());
        self.entry.lent = purse.amount();
        self.slot.lend(purse);
    }
}
