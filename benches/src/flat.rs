//! The floor: what a table of states costs at least.

use ahash::RandomState;
use tk_core::{Clock, Decision, Fingerprint, Gcra, Strategy, TatState, Timestamp};

/// One flat array, one thread, no lock, no growth, no removal, GCRA alone.
#[derive(Debug)]
pub struct FlatTable<C> {
    slots: Vec<(u128, u128)>,
    hash: [RandomState; 2],
    strategy: Gcra,
    clock: C,
}

impl<C: Clock> FlatTable<C> {
    /// A table with room for `keys` keys at 70 percent.
    #[must_use]
    pub fn new(keys: usize, strategy: Gcra, clock: C) -> Self {
        Self {
            slots: vec![(0, 0); keys * 10 / 7 + 2],
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
        let capacity = self.slots.len();
        let mut at = ((u128::from(fingerprint as u64) * capacity as u128) >> 64) as usize;
        while self.slots[at].0 != fingerprint && self.slots[at].0 != 0 {
            at = if at + 1 == capacity { 0 } else { at + 1 };
        }
        let mut state: TatState = self.strategy.unpack(self.slots[at].1);
        let decision = self.strategy.decide(&mut state, now, 1);
        if decision.allowed
            && let Some(packed) = self.strategy.pack(&state)
        {
            self.slots[at] = (fingerprint, packed);
        }
        decision
    }
}
