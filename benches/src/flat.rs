//! The floor: what a table of states costs at least.

use std::hint::black_box;

use ahash::RandomState;
use tk_core::{Clock, Decision, Fingerprint, Gcra, Strategy, TatState, Timestamp};

/// How many requests [`FlatTable::check_many`] takes at most.
const AHEAD: usize = 16;

/// One flat array, one thread, no lock, no growth, no removal, GCRA alone.
#[derive(Debug)]
pub struct FlatTable<C> {
    slots: Vec<Slot>,
    hash: [RandomState; 2],
    strategy: Gcra,
    clock: C,
}

/// A fingerprint and a state, never on two cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Slot(u128, u128);

impl<C: Clock> FlatTable<C> {
    /// A table with room for `keys` keys at 70 percent.
    #[must_use]
    pub fn new(keys: usize, strategy: Gcra, clock: C) -> Self {
        Self {
            slots: vec![Slot(0, 0); keys * 10 / 7 + 2],
            hash: [RandomState::new(), RandomState::new()],
            strategy,
            clock,
        }
    }

    /// Decides on a request of cost 1.
    #[inline]
    pub fn check(&mut self, key: &str) -> Decision {
        let fingerprint = Fingerprint::of(key, &self.hash).bits();
        let now: Timestamp = self.clock.now();
        self.decide(fingerprint, now)
    }

    /// Decides on requests of cost 1: first all slots are asked for, by a look at each, so that they come together.
    #[inline]
    pub fn check_many<'a>(&mut self, keys: impl Iterator<Item = &'a str> + Clone) -> Vec<Decision> {
        let now = self.clock.now();
        let mut fingerprints = [0; AHEAD];
        let last = self.slots.len() - 1;
        let mut seen = 0;
        let mut count = 0;
        for (key, place) in keys.zip(&mut fingerprints) {
            *place = Fingerprint::of(key, &self.hash).bits();
            let home = self.home(*place);
            seen ^= self.slots[home].0 as u64 ^ self.slots[(home + 2).min(last)].0 as u64;
            count += 1;
        }
        black_box(seen);
        let mut answers = Vec::with_capacity(count);
        for fingerprint in &fingerprints[..count] {
            answers.push(self.decide(*fingerprint, now));
        }
        answers
    }

    #[inline(always)]
    fn home(&self, fingerprint: u128) -> usize {
        ((u128::from(fingerprint as u64) * self.slots.len() as u128) >> 64) as usize
    }

    #[inline(always)]
    fn decide(&mut self, fingerprint: u128, now: Timestamp) -> Decision {
        let capacity = self.slots.len();
        let mut at = self.home(fingerprint);
        while self.slots[at].0 != fingerprint && self.slots[at].0 != 0 {
            at = if at + 1 == capacity { 0 } else { at + 1 };
        }
        let mut state: TatState = self.strategy.unpack(self.slots[at].1);
        let decision = self.strategy.decide(&mut state, now, 1);
        if decision.allowed
            && let Some(packed) = self.strategy.pack(&state)
        {
            self.slots[at] = Slot(fingerprint, packed);
        }
        decision
    }
}
