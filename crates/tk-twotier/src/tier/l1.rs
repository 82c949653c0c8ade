//! The keys that a node remembers, and how room is made for more.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use ahash::RandomState;
use tk_core::{Fingerprint, Key, Monotonic, OwnedKey, Store, Timestamp};

use super::{
    entry::{Entry, GivenUp},
    shard::{Hits, Shard},
};
use crate::{
    LeaseRules, Sizer,
    sync::{Mutex, MutexGuard},
};

/// Entries by key, in shards with a lock each that is never held across an await.
pub(crate) struct L1<L2: Store> {
    shards: Box<[Mutex<Shard<L2>>]>,
    hashes: [RandomState; 2],
    keys: AtomicUsize,
    max_keys: usize,
}

/// Makes room with regard to what entries still hold.
pub(crate) struct Room<'a, L2: Store> {
    pub(crate) rules: Option<&'a LeaseRules>,
    pub(crate) strategy: &'a L2::Strategy,
    pub(crate) now: Monotonic,
    pub(crate) wall: Timestamp,
    /// Entries that nobody has asked for so long may go.
    pub(crate) idle: Duration,
}

/// Entries visited per newcomer, which forgets those that are of no use any more.
const VISITED: usize = 2;
/// Entries looked at to find one that may go for a newcomer.
const SAMPLED: usize = 8;
/// Fewer keys than this are not worth another shard.
const KEYS_PER_SHARD: usize = 64;
const MAX_SHARDS: usize = 64;

impl<L2: Store> L1<L2> {
    pub(crate) fn new(max_keys: u32) -> Self {
        let max_keys = max_keys as usize;
        let shards = (max_keys / KEYS_PER_SHARD)
            .clamp(1, MAX_SHARDS)
            .next_power_of_two();
        Self {
            shards: (0..shards).map(|_| Mutex::new(Shard::new())).collect(),
            hashes: [RandomState::new(), RandomState::new()],
            keys: AtomicUsize::new(0),
            max_keys,
        }
    }

    #[inline]
    pub(crate) fn fingerprint<K: Key + ?Sized>(&self, key: &K) -> Fingerprint {
        Fingerprint::of(key, &self.hashes)
    }

    #[inline]
    pub(crate) fn lock(&self, fingerprint: Fingerprint) -> MutexGuard<'_, Shard<L2>> {
        // The index within the shard uses the other half of the bits.
        let shard = (fingerprint.bits() >> 64) as usize & (self.shards.len() - 1);
        self.shards[shard].lock()
    }

    pub(crate) fn shards(&self) -> impl Iterator<Item = MutexGuard<'_, Shard<L2>>> {
        self.shards.iter().map(|shard| shard.lock())
    }

    pub(crate) fn keys(&self) -> usize {
        self.keys.load(Ordering::Relaxed)
    }

    /// The entry of `key`, made if there is none and there is room.
    ///
    /// What gave way is added to `evicted`.
    pub(crate) fn enter<'a, K: Key + ?Sized>(
        &self,
        shard: &'a mut Shard<L2>,
        fingerprint: Fingerprint,
        key: &K,
        sizer: impl FnOnce() -> Option<Box<dyn Sizer>>,
        room: &Room<'_, L2>,
        evicted: &mut Vec<GivenUp>,
    ) -> Option<(&'a mut Entry<L2>, &'a mut Hits)> {
        if shard.find(fingerprint).is_none() {
            self.sweep(shard, room, evicted);
            if !self.reserve() && !self.evict(shard, room, evicted) {
                return None;
            }
            let entry = Entry::new(fingerprint, OwnedKey::of(key), sizer(), room.now);
            shard.insert(entry);
        }
        shard.find(fingerprint)
    }

    /// Counts one key more, if there may be one more.
    fn reserve(&self) -> bool {
        self.keys
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |keys| {
                (keys < self.max_keys).then_some(keys + 1)
            })
            .is_ok()
    }

    /// Forgets what is idle among the next few entries.
    fn sweep(&self, shard: &mut Shard<L2>, room: &Room<'_, L2>, evicted: &mut Vec<GivenUp>) {
        for place in shard.next_places(VISITED) {
            let entry = shard.entries().get(place);
            if entry.is_some_and(|entry| room.is_spent(entry)) {
                self.forget(shard, place, room, evicted);
            }
        }
    }

    /// Puts the newcomer in the place of an entry that may go; the count stays the same.
    fn evict(
        &self,
        shard: &mut Shard<L2>,
        room: &Room<'_, L2>,
        evicted: &mut Vec<GivenUp>,
    ) -> bool {
        let places = shard.next_places(SAMPLED);
        let entries = shard.entries();
        let oldest = places
            .filter(|place| entries.get(*place).is_some_and(|entry| room.may_go(entry)))
            .min_by_key(|place| entries[*place].used_at);
        let Some(place) = oldest else {
            return false;
        };
        let mut entry = shard.remove(place);
        room.give_up(&mut entry, evicted);
        true
    }

    /// Hands back the credits of idle keys, and forgets the keys.
    pub(crate) fn return_idle(&self, shard: &mut Shard<L2>, room: &Room<'_, L2>) -> Vec<GivenUp> {
        let mut backs = Vec::new();
        for place in (0..shard.len()).rev() {
            let Some(entry) = shard.entries().get_mut(place) else {
                continue;
            };
            if room.is_spent(entry) {
                self.forget(shard, place, room, &mut backs);
            } else if entry.is_idle(room.now, room.idle) {
                room.give_up(entry, &mut backs);
            }
        }
        backs
    }

    fn forget(
        &self,
        shard: &mut Shard<L2>,
        place: usize,
        room: &Room<'_, L2>,
        evicted: &mut Vec<GivenUp>,
    ) {
        let mut entry = shard.remove(place);
        self.keys.fetch_sub(1, Ordering::Relaxed);
        room.give_up(&mut entry, evicted);
    }
}

impl<L2: Store> Room<'_, L2> {
    /// Whether an entry may give way to a newcomer.
    fn may_go(&self, entry: &Entry<L2>) -> bool {
        entry.is_calm() && !entry.holds_back(self.strategy, self.wall)
    }

    /// Whether an entry is of no use any more.
    fn is_spent(&self, entry: &Entry<L2>) -> bool {
        let denies = entry.denial.is_some_and(|denial| !denial.is_over(self.now));
        entry.is_idle(self.now, self.idle) && !denies && self.may_go(entry)
    }

    fn give_up(&self, entry: &mut Entry<L2>, backs: &mut Vec<GivenUp>) {
        if let Some(rules) = self.rules {
            backs.push(entry.give_up(rules, self.now));
        }
    }
}
