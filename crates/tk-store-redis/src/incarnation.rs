//! Names for the lives of states.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// Numbers from 1 to below 2^53 that hardly any two stores draw twice: a state made anew gets one, so that a hand-back
/// to its former life is refused.
#[derive(Debug)]
pub(crate) struct Incarnations {
    next: AtomicU64,
}

impl Incarnations {
    pub(crate) fn new() -> Self {
        // The only source of randomness in std; a hasher's keys are drawn from the operating system.
        let seed = RandomState::new().build_hasher().finish();
        Self {
            next: AtomicU64::new(seed),
        }
    }

    /// The next number of a Weyl sequence, mixed as in SplitMix64.
    pub(crate) fn draw(&self) -> u64 {
        let mut bits = self.next.fetch_add(0x9e37_79b9_7f4a_7c15, Relaxed);
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ bits >> 31) >> 11 | 1
    }
}
