//! A key as 128 bits.

use core::hash::{BuildHasher, Hasher};

use crate::{Key, KeySink};

/// A key as 128 bits under two keyed hashes, never zero.
///
/// A table of fingerprints needs no room for keys. Two keys share a fingerprint with a chance of about
/// 2^-128 per pair if the hashes are keyed at random, and nobody who does not know the hash keys can
/// look for such a pair. It is a hash in memory, not a digest to store or to send.
///
/// Fields are told apart by a word that goes with each of them: its length, and whether it is bytes or a number. It is hashed
/// between two fields, and laid over the result for the last one; so what was hashed can be taken apart again from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// The fingerprint of `key` under two independent hashes.
    #[inline(always)]
    pub fn of<K: Key + ?Sized, B: BuildHasher>(key: &K, [low, high]: &[B; 2]) -> Self {
        let mut sink = Sink {
            low: low.build_hasher(),
            high: high.build_hasher(),
            shape: 0,
        };
        key.feed(&mut sink);
        let [low, high] = [sink.low.finish(), sink.high.finish()].map(|half| half ^ sink.shape);
        Self(u128::from(high) << 64 | u128::from(low.max(1)))
    }

    /// The bits; never zero, so zero may mark an empty place in a table.
    #[must_use]
    #[inline]
    pub const fn bits(self) -> u128 {
        self.0
    }
}

struct Sink<H> {
    low: H,
    high: H,
    /// Length and kind of the field being written.
    shape: u64,
}

impl<H: Hasher> Sink<H> {
    #[inline(always)]
    fn word(&mut self, word: u128) {
        self.low.write_u128(word);
        self.high.write_u128(word);
    }
}

impl<H: Hasher> KeySink for Sink<H> {
    // By words, and not by the hasher's `write`: that is a call for each half, which holds the hasher in memory.
    #[inline(always)]
    fn bytes(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((first, others)) = rest.split_first_chunk()
            && !others.is_empty()
        {
            self.word(u128::from_le_bytes(*first));
            rest = others;
        }
        self.word(word_of(rest));
        self.shape = (bytes.len() as u64) << 1;
    }

    #[inline(always)]
    fn number(&mut self, number: u128) {
        self.word(number);
        self.shape = 1;
    }

    #[inline]
    fn next_field(&mut self) {
        self.low.write_u64(self.shape);
        self.high.write_u64(self.shape);
        self.shape = 0;
    }
}

/// At most 16 bytes as a word, each run of a given length as another.
#[inline(always)]
fn word_of(bytes: &[u8]) -> u128 {
    let [first, last] = if let Some(ends) = ends(bytes) {
        ends.map(u64::from_le_bytes)
    } else if let Some(ends) = ends(bytes) {
        ends.map(|end| u64::from(u32::from_le_bytes(end)))
    } else {
        let at = |index: usize| u64::from(bytes.get(index).copied().unwrap_or(0));
        [at(0) | at(1) << 8, at(2)]
    };
    u128::from(last) << 64 | u128::from(first)
}

/// The first `N` bytes and the last, which may overlap.
#[inline(always)]
fn ends<const N: usize>(bytes: &[u8]) -> Option<[[u8; N]; 2]> {
    Some([*bytes.first_chunk()?, *bytes.last_chunk()?])
}
