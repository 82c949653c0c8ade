//! One shard: a lock, what it guards, and what can be read without it.

mod locked;
mod sweep;
mod update;

pub(crate) use sweep::{Search, Swept, Turn};

use locked::Locked;
use tk_core::{Decision, Fingerprint, Strategy, TableHint, Timestamp, prefetch};

use crate::{
    action::Action, denied::Denied, generations::Generations, population::Population, sync::Mutex,
    table::Slot, word::Generation,
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

/// All that a check under the lock writes here lies in the first cache line, with the lock, so that threads that contend for
/// a key pass on that line and the key's slot, and nothing else.
#[repr(C, align(128))]
pub(crate) struct Shard<S: Strategy> {
    locked: Mutex<Locked<S>>,
    denied: Denied,
    hint: TableHint,
}

impl<S: Strategy> Shard<S> {
    /// Slots of a table that does not stay in the caches: as large as this, 256 shards take two megabytes.
    const FAR: usize = 256;

    /// An empty shard; `lives` is where it begins to count lives.
    pub(crate) fn new(lives: u64) -> Self {
        Self {
            locked: Mutex::new(Locked::new(lives)),
            denied: Denied::new(),
            hint: TableHint::new(),
        }
    }

    /// Asks for the lock and the slot of a key in advance, unless the table is so small that they are at hand.
    #[inline(always)]
    pub(crate) fn prefetch(&self, fingerprint: Fingerprint) {
        // Nothing that is decided depends on a hint, so loom need not try its loads in every order.
        if cfg!(loom) {
            return;
        }
        if self.hint.prefetch::<Slot>(fingerprint, Self::FAR) {
            prefetch(core::ptr::from_ref(self).cast());
        }
    }

    /// Calls `work` under the lock; afterwards the table may lie elsewhere.
    fn locked<R>(&self, work: impl FnOnce(&mut Locked<S>) -> R) -> R {
        let mut locked = self.locked.lock();
        let result = work(&mut locked);
        self.hint.note(&locked.table);
        result
    }

    /// The denial of a key whose state is at hand, without the lock.
    ///
    /// `None` means only that it is to be decided under the lock.
    #[inline(always)]
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
        let (decision, _) = call.strategy.decide_packed(word.state(), call.now, cost);
        decision.is_denied().then_some(decision)
    }

    /// Decides on a known key as most are, and answers whether it is time to [`Shard::look`]; `None` for others.
    #[inline(always)]
    pub(crate) fn charge(
        &self,
        call: &Call<'_, S>,
        fingerprint: Fingerprint,
        cost: u64,
    ) -> Option<(Decision, bool)> {
        let mut locked = self.locked.lock();
        let decision = locked.charge(call, &self.denied, fingerprint, cost)?;
        Some((decision, locked.sweep.is_due()))
    }

    /// Performs any action on any key, and answers whether it is time to [`Shard::look`].
    pub(crate) fn update<A: Action<S>>(
        &self,
        call: &Call<'_, S>,
        fingerprint: Fingerprint,
        action: &A,
    ) -> (Result<A::Answer, Full>, bool) {
        self.locked(|locked| {
            let answer = locked.update(call, &self.denied, fingerprint, action);
            (answer, locked.sweep.is_due())
        })
    }

    /// Looks for stale keys. If some were found, here or elsewhere, it will soon be time again; answers whether.
    pub(crate) fn look(&self, call: &Call<'_, S>, search: Search, found: bool) -> bool {
        self.locked(|locked| locked.look(call, &self.denied, search, found))
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
        self.locked(|locked| locked.forget(call, &self.denied, fingerprint));
    }

    /// Looks for stale keys, unless the shard is locked: then it is in use, and looks after itself.
    pub(crate) fn try_sweep(&self, call: &Call<'_, S>, search: Search) -> Option<Swept> {
        let mut locked = self.locked.try_lock()?;
        let swept = locked.sweep(call, &self.denied, search);
        self.hint.note(&locked.table);
        Some(swept)
    }
}
