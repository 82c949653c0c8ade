//! One shard: a lock, what it guards, and what can be read without it.

mod locked;
mod sweep;
mod update;

pub(crate) use sweep::Swept;
pub(crate) use update::{Outcome, Wrote};

use locked::Locked;
use tk_core::{Decision, Fingerprint, Strategy, Timestamp};

use crate::{
    denied::Denied,
    generations::Generations,
    population::Population,
    sync::Mutex,
    word::{Generation, Incarnation},
};

/// What all shards of a store have in common.
#[derive(Debug)]
pub(crate) struct Common<S> {
    pub(crate) generations: Generations<S>,
    pub(crate) population: Population,
    /// The entry that newcomers share when the store is full. It takes no place of its own.
    pub(crate) overflow: Fingerprint,
}

/// What one call brings along.
#[derive(Debug)]
pub(crate) struct Call<'a, S> {
    pub(crate) common: &'a Common<S>,
    pub(crate) strategy: &'a S,
    pub(crate) generation: Generation,
    pub(crate) now: Timestamp,
}

/// The store is full, so a new key cannot be added.
#[derive(Debug)]
pub(crate) struct Full;

/// In lines of its own: two, since processors fetch lines in pairs.
#[repr(align(128))]
pub(crate) struct Shard<S: Strategy> {
    denied: Denied,
    locked: Mutex<Locked<S>>,
}

impl<S: Strategy> Shard<S> {
    /// An empty shard; `lives` is where it begins to count lives.
    pub(crate) fn new(lives: u64) -> Self {
        Self {
            denied: Denied::new(),
            locked: Mutex::new(Locked::new(lives)),
        }
    }

    /// The denial of a key whose state is at hand, without the lock.
    ///
    /// `None` means only that it is to be decided under the lock.
    #[inline]
    pub(crate) fn deny(
        &self,
        call: &Call<'_, S>,
        fingerprint: Fingerprint,
        cost: u64,
    ) -> Option<Decision> {
        let word = self.denied.read(fingerprint)?;
        if word.generation() != call.generation {
            return None;
        }
        let mut state = call.strategy.unpack(word.state());
        let decision = call.strategy.decide(&mut state, call.now, cost);
        decision.is_denied().then_some(decision)
    }

    /// [`Locked::update`] under the lock. Also answers whether it is time to look for stale keys elsewhere.
    #[inline]
    pub(crate) fn update<R>(
        &self,
        call: &Call<'_, S>,
        fingerprint: Fingerprint,
        act: impl FnOnce(&mut S::State, Incarnation) -> Outcome<R>,
    ) -> (Result<R, Full>, bool) {
        let mut locked = self.locked.lock();
        let answer = locked.update(call, &self.denied, fingerprint, act);
        let paced = locked.pace(call, &self.denied, fingerprint);
        (answer, paced)
    }

    /// Calls `read` with the state of a key; with a new one and `false` if there is no such key.
    pub(crate) fn read<R>(
        &self,
        call: &Call<'_, S>,
        fingerprint: Fingerprint,
        read: impl FnOnce(&S::State, bool) -> R,
    ) -> R {
        self.locked.lock().read(call, fingerprint, read)
    }

    /// Forgets a key.
    pub(crate) fn forget(&self, call: &Call<'_, S>, fingerprint: Fingerprint) {
        self.locked.lock().forget(call, &self.denied, fingerprint);
    }

    /// Looks for stale keys, unless the shard is locked: then it is in use, and looks after itself.
    pub(crate) fn try_sweep(&self, call: &Call<'_, S>, spared: Fingerprint) -> Option<Swept> {
        let mut locked = self.locked.try_lock()?;
        Some(locked.sweep(call, &self.denied, spared))
    }
}
