//! What a store may answer.
//!
//! The rule itself with a map of states would be the whole model, were it not that a store may forget a key once its state
//! equals a new one's: that is unseen as long as time advances, but after a step back of the clock the forgotten state
//! would have counted, and a hand-back from before is refused. When the store forgets is its own affair, so
//! the model keeps each state that the store may have, and an answer is right if one of them gives it.

use std::collections::HashMap;

use tk_core::{OwnedKey, Strategy, Timestamp};

/// The states that a store may have.
pub(super) struct Model<S: Strategy> {
    keys: HashMap<OwnedKey, Vec<Candidate<S>>>,
    /// The largest instant seen: a store may forget by it.
    largest: Timestamp,
    lives: u64,
}

/// A state that a store may have for a key.
struct Candidate<S: Strategy> {
    state: S::State,
    /// Names of the lives that this state may be in; a grant is taken back only in the life it was made in.
    lives: Vec<u64>,
    /// Nothing was ever charged to it.
    new: bool,
    /// A store may have forgotten it.
    forgettable: bool,
}

impl<S: Strategy> Clone for Candidate<S> {
    fn clone(&self) -> Self {
        Self {
            state: self.state.clone(),
            lives: self.lives.clone(),
            ..*self
        }
    }
}

impl<S: Strategy> Model<S> {
    pub(super) fn new() -> Self {
        Self {
            keys: HashMap::new(),
            largest: Timestamp::EPOCH,
            lives: 0,
        }
    }

    /// Applies `step` to each state that the store may have for `key`, keeps those whose outcome is `right`, and returns the
    /// lives they may be in; or all outcomes, if none is right.
    ///
    /// `step` also says whether it wrote.
    pub(super) fn settle<R>(
        &mut self,
        strategy: &S,
        key: &OwnedKey,
        now: Timestamp,
        step: impl Fn(&mut S::State, &[u64]) -> (R, bool),
        right: impl Fn(&R) -> bool,
    ) -> Result<Vec<u64>, Vec<R>> {
        self.pass(strategy, now);
        let before = self.candidates(key);
        let (mut kept, mut outcomes) = (Vec::new(), Vec::new());
        let mut same: Option<usize> = None;
        for mut candidate in before {
            let like_new = now == self.largest && candidate.is_fresh(strategy, now);
            let (outcome, wrote) = step(&mut candidate.state, &candidate.lives);
            if !right(&outcome) {
                outcomes.push(outcome);
                continue;
            }
            if wrote {
                candidate.new = false;
                candidate.forgettable = false;
            }
            // States that were like new before the same charge are alike after it.
            match same {
                Some(first) if wrote && like_new => {
                    let merged: &mut Candidate<S> = &mut kept[first];
                    merged.lives.append(&mut candidate.lives);
                }
                _ => {
                    if wrote && like_new {
                        same = Some(kept.len());
                    }
                    kept.push(candidate);
                }
            }
        }
        if kept.is_empty() {
            return Err(outcomes);
        }
        let lives = kept.iter().flat_map(|c| c.lives.iter().copied()).collect();
        self.keys.insert(key.clone(), kept);
        self.pass(strategy, now);
        Ok(lives)
    }

    /// Begins a new life for `key`.
    pub(super) fn reset(&mut self, strategy: &S, key: &OwnedKey, now: Timestamp) {
        self.keys.remove(key);
        self.pass(strategy, now);
    }

    /// Notes which states a store may have forgotten by now.
    fn pass(&mut self, strategy: &S, now: Timestamp) {
        self.largest = self.largest.max(now);
        for candidate in self.keys.values_mut().flatten() {
            candidate.forgettable |= candidate.is_fresh(strategy, self.largest);
        }
    }

    fn candidates(&mut self, key: &OwnedKey) -> Vec<Candidate<S>> {
        let mut candidates = self.keys.get(key).cloned().unwrap_or_default();
        let forgotten =
            candidates.iter().any(|c| c.forgettable) && !candidates.iter().any(|c| c.new);
        if candidates.is_empty() || forgotten {
            self.lives += 1;
            candidates.push(Candidate {
                state: S::State::default(),
                lives: vec![self.lives],
                new: true,
                forgettable: true,
            });
        }
        candidates
    }
}

impl<S: Strategy> Candidate<S> {
    fn is_fresh(&self, strategy: &S, now: Timestamp) -> bool {
        self.new || strategy.is_fresh(&self.state, now)
    }
}
