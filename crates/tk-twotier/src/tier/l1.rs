//! The keys that a node remembers, and how room is made for more.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use ahash::RandomState;
use tk_core::{Fingerprint, Key, Monotonic, OwnedKey, Store, TableHint, Timestamp};

use super::{
    entry::{Entry, GivenUp},
    key_sizer::KeySizer,
    mode::LeasePlan,
    shard::{Hits, Shard},
    slot::{Opened, Slot},
};
use crate::sync::{Mutex, MutexGuard};

/// Slots by key, in shards with a lock each that is never held across an await.
pub(crate) struct L1<L2: Store> {
    shards: Box<[Guarded<L2>]>,
    hashes: [RandomState; 2],
    keys: AtomicUsize,
    max_keys: usize,
}

/// Cache lines of its own, so that a hit writes these and its slot's, and no neighbour's.
#[repr(C, align(64))]
struct Guarded<L2: Store> {
    shard: Mutex<Shard<L2>>,
    hint: TableHint,
}

/// Makes room with regard to what keys still hold.
pub(crate) struct Room<'a, L2: Store> {
    pub(crate) lease: Option<&'a LeasePlan>,
    pub(crate) strategy: &'a L2::Strategy,
    pub(crate) now: Monotonic,
    pub(crate) wall: Timestamp,
    /// Keys that nobody has asked for so long may go.
    pub(crate) idle: Duration,
}

/// Slots visited per newcomer, which forgets those that are of no use any more.
const VISITED: usize = 2;
/// Slots looked at to find one that may go for a newcomer.
const SAMPLED: usize = 8;
/// Fewer keys than this are not worth another shard.
const KEYS_PER_SHARD: usize = 64;
const MAX_SHARDS: usize = 64;
/// Slots of a table that does not stay in the caches: as large as this, all shards take two megabytes.
const FAR: usize = 1_024;

impl<L2: Store> L1<L2> {
    pub(crate) fn new(max_keys: u32) -> Self {
        let max_keys = max_keys as usize;
        let shards = (max_keys / KEYS_PER_SHARD)
            .clamp(1, MAX_SHARDS)
            .next_power_of_two();
        Self {
            shards: (0..shards)
                .map(|_| Guarded {
                    shard: Mutex::new(Shard::new()),
                    hint: TableHint::new(),
                })
                .collect(),
            hashes: [RandomState::new(), RandomState::new()],
            keys: AtomicUsize::new(0),
            max_keys,
        }
    }

    #[inline(always)]
    pub(crate) fn fingerprint<K: Key + ?Sized>(&self, key: &K) -> Fingerprint {
        Fingerprint::of(key, &self.hashes)
    }

    /// Asks for the slot of a key in advance, so that it comes while the clock is read.
    #[inline(always)]
    pub(crate) fn prefetch(&self, fingerprint: Fingerprint) {
        self.guarded(fingerprint)
            .hint
            .prefetch::<Slot>(fingerprint, FAR);
    }

    #[inline(always)]
    pub(crate) fn lock(&self, fingerprint: Fingerprint) -> MutexGuard<'_, Shard<L2>> {
        self.guarded(fingerprint).shard.lock()
    }

    #[inline(always)]
    fn guarded(&self, fingerprint: Fingerprint) -> &Guarded<L2> {
        // The index within the shard uses the other half of the bits.
        let shard = (fingerprint.bits() >> 64) as usize & (self.shards.len() - 1);
        &self.shards[shard]
    }

    pub(crate) fn shards(&self) -> impl Iterator<Item = MutexGuard<'_, Shard<L2>>> {
        self.shards.iter().map(|guarded| guarded.shard.lock())
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
        room: &Room<'_, L2>,
        evicted: &mut Vec<GivenUp>,
    ) -> Option<(Opened<'a, L2>, &'a mut Hits)> {
        if shard.find(fingerprint).is_none() {
            // First, for it reads the key, which may be of a user's making: a panic must not cost a place.
            let key = OwnedKey::of(key);
            self.sweep(shard, room, evicted);
            if !self.reserve() && !self.evict(shard, room, evicted) {
                return None;
            }
            let entry = Entry::new(key, KeySizer::of(room.lease), room.now);
            shard.insert(fingerprint, entry);
            shard.note_place(&self.guarded(fingerprint).hint);
        }
        shard.open(fingerprint, room.now)
    }

    /// Counts one key more, if there may be one more.
    fn reserve(&self) -> bool {
        self.keys
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |keys| {
                (keys < self.max_keys).then_some(keys + 1)
            })
            .is_ok()
    }

    /// Forgets what is idle among the next few slots.
    fn sweep(&self, shard: &mut Shard<L2>, room: &Room<'_, L2>, evicted: &mut Vec<GivenUp>) {
        for place in shard.next_places(VISITED) {
            if room.is_spent(shard, place) {
                self.forget(shard, place, room, evicted);
            }
        }
    }

    /// Puts the newcomer in the place of a key that may go; the count stays the same.
    fn evict(
        &self,
        shard: &mut Shard<L2>,
        room: &Room<'_, L2>,
        evicted: &mut Vec<GivenUp>,
    ) -> bool {
        let mut longest: Option<(Monotonic, usize)> = None;
        for place in shard.next_places(SAMPLED) {
            if let Some(entry) = shard.open_at(place, room.now)
                && room.may_go(&entry)
                && longest.is_none_or(|(used_at, _)| entry.used_at < used_at)
            {
                longest = Some((entry.used_at, place));
            }
        }
        let gone = longest.and_then(|(_, place)| shard.remove(place, room.now));
        let Some(mut entry) = gone else {
            return false;
        };
        room.give_up(&mut entry, evicted);
        true
    }

    /// Hands back the credits of idle keys, and forgets the keys.
    pub(crate) fn return_idle(&self, shard: &mut Shard<L2>, room: &Room<'_, L2>) -> Vec<GivenUp> {
        let mut given_up = Vec::new();
        for place in 0..shard.places() {
            // Another key may have moved into the place of one that was forgotten.
            while room.is_spent(shard, place) {
                self.forget(shard, place, room, &mut given_up);
            }
            if let Some(mut entry) = shard.open_at(place, room.now)
                && entry.is_idle(room.now, room.idle)
            {
                room.give_up(&mut entry, &mut given_up);
            }
        }
        given_up
    }

    fn forget(
        &self,
        shard: &mut Shard<L2>,
        place: usize,
        room: &Room<'_, L2>,
        evicted: &mut Vec<GivenUp>,
    ) {
        if let Some(mut entry) = shard.remove(place, room.now) {
            self.keys.fetch_sub(1, Ordering::Relaxed);
            room.give_up(&mut entry, evicted);
        }
    }
}

impl<L2: Store> Room<'_, L2> {
    /// Whether a key may give way to a newcomer.
    fn may_go(&self, entry: &Entry<L2>) -> bool {
        entry.is_calm() && !entry.holds_back(self.strategy, self.wall)
    }

    /// Whether there is a key at a place that is of no use any more.
    fn is_spent(&self, shard: &mut Shard<L2>, place: usize) -> bool {
        let Some(entry) = shard.open_at(place, self.now) else {
            return false;
        };
        let denies = entry.denial.is_some_and(|denial| !denial.is_over(self.now));
        entry.is_idle(self.now, self.idle) && !denies && self.may_go(&entry)
    }

    fn give_up(&self, entry: &mut Entry<L2>, given_up: &mut Vec<GivenUp>) {
        if let Some(lease) = self.lease {
            given_up.push(entry.give_up(&lease.rules, self.now));
        }
    }
}
