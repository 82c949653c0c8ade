//! The state that was denied last, readable without the lock.
//!
//! A denial changes nothing, so a flood of requests for a key that has used up its limit need not take turns: each can
//! decide on a copy of the state. Every shard keeps one such copy, that of the key it last denied twice in a row, since floods come from
//! few keys at a time. It is a sequence lock of plain atomics: writers hold the shard's lock, make the sequence odd, write, and
//! make it even again; a reader that saw the same even number before and after has read one copy whole.
//!
//! The copy is of a state that its key still has. Whoever changes that state, or removes the key, withdraws the copy
//! before letting go of the lock. So a reader that finds its key here decides on a state that was in force at the
//! moment when it read the sequence, which is all that a lock would have given it.

use tk_core::Fingerprint;

use crate::{
    sync::{AtomicU64, Ordering, fence},
    word::Word,
};

#[derive(Debug)]
pub(crate) struct Denied {
    /// Odd while somebody writes.
    sequence: AtomicU64,
    /// All zero if there is no copy.
    fingerprint: [AtomicU64; 2],
    word: [AtomicU64; 2],
}

/// Low half and high half.
#[inline]
const fn halves(bits: u128) -> [u64; 2] {
    [bits as u64, (bits >> 64) as u64]
}

impl Denied {
    pub(crate) fn new() -> Self {
        let pair = || [AtomicU64::new(0), AtomicU64::new(0)];
        Self {
            sequence: AtomicU64::new(0),
            fingerprint: pair(),
            word: pair(),
        }
    }

    /// The word of `fingerprint`, if the copy is of that key.
    #[inline]
    pub(crate) fn read(&self, fingerprint: Fingerprint) -> Option<Word> {
        // Nearly always it is another key, or none, and one load tells.
        let [low, high] = halves(fingerprint.bits());
        if self.fingerprint[0].load(Ordering::Relaxed) != low {
            return None;
        }
        let before = self.sequence.load(Ordering::Acquire);
        let found = [0, 1].map(|half: usize| self.fingerprint[half].load(Ordering::Relaxed));
        let word = [0, 1].map(|half: usize| self.word[half].load(Ordering::Relaxed));
        // The loads above come before the one below.
        fence(Ordering::Acquire);
        let after = self.sequence.load(Ordering::Relaxed);
        if before != after || before % 2 == 1 || found != [low, high] {
            return None;
        }
        Some(Word::from_halves(word))
    }

    /// Copies the word of a key that has just been denied again. The caller holds the shard's lock.
    #[inline]
    pub(crate) fn publish(&self, fingerprint: Fingerprint, word: Word) {
        if !self.is_of(fingerprint.bits()) {
            self.write(halves(fingerprint.bits()), word.halves());
        }
    }

    /// Forgets the copy if it is of the key with these fingerprint bits. The caller holds the shard's lock.
    #[inline]
    pub(crate) fn withdraw(&self, bits: u128) {
        if self.is_of(bits) {
            self.write([0; 2], [0; 2]);
        }
    }

    #[inline]
    fn is_of(&self, bits: u128) -> bool {
        let [low, high] = halves(bits);
        self.fingerprint[0].load(Ordering::Relaxed) == low
            && self.fingerprint[1].load(Ordering::Relaxed) == high
    }

    fn write(&self, fingerprint: [u64; 2], word: [u64; 2]) {
        let sequence = self.sequence.load(Ordering::Relaxed);
        self.sequence
            .store(sequence.wrapping_add(1), Ordering::Relaxed);
        // The store above comes before those below.
        fence(Ordering::Release);
        for half in [0, 1] {
            self.fingerprint[half].store(fingerprint[half], Ordering::Relaxed);
            self.word[half].store(word[half], Ordering::Relaxed);
        }
        self.sequence
            .store(sequence.wrapping_add(2), Ordering::Release);
    }
}
