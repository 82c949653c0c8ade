//! A slot of the table: a key's fingerprint and what is remembered of it, in half a cache line.

use tk_core::{Fingerprint, FlatTable, Keyed};

use crate::word::Word;

pub(crate) type Table = FlatTable<Slot>;

/// A fingerprint and its word.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slot {
    fingerprint: u128,
    pub(crate) word: Word,
}

impl Slot {
    pub(crate) const fn new(fingerprint: Fingerprint, word: Word) -> Self {
        Self {
            fingerprint: fingerprint.bits(),
            word,
        }
    }
}

impl Keyed for Slot {
    #[inline(always)]
    fn bits(&self) -> u128 {
        self.fingerprint
    }
}
