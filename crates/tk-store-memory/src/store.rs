//! The store: from a call to a shard and back.

use core::convert::Infallible;

use ahash::RandomState;
use tk_core::{
    Clock, Decision, Error, Fingerprint, Grant, Key, QuantaClock, Strategy, SyncStore, Tag,
};

use crate::{
    Builder, WhenFull,
    action::{Action, Charge, GiveBack, Lease},
    full::denial,
    generations::Generations,
    population::Population,
    shard::{Call, Common, Full, Search, Shard, Turn},
    sync::{AtomicUsize, Ordering, keyed_hash},
};

/// Keeps states in this process's memory.
///
/// Share one store by reference or in an `Arc`. Keys are not kept, only their keyed fingerprints: a key can be checked and
/// [reset](SyncStore::reset_sync), but keys cannot be listed. Keys whose state equals a new one's go away
/// by themselves, a few per call; there is no background thread and nothing to call. Should the clock
/// be set back, a key that has gone away starts as new.
///
/// Limiters with different strategies may share a store, if they use different key prefixes; so may one limiter
/// whose strategy changes. Up to 15 scales (emission intervals, windows) are kept in the most compact form.
///
/// ```
/// use tk_core::{Gcra, RateLimiter};
/// use tk_store_memory::MemoryStore;
///
/// let limiter = RateLimiter::new(Gcra::per_second(10)?.burst(1)?, MemoryStore::new());
/// assert!(limiter.check("alice")?.allowed);
/// assert!(limiter.check("alice")?.is_denied());
/// assert!(limiter.check("bob")?.allowed);
/// assert_eq!(limiter.store().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MemoryStore<S: Strategy, C = QuantaClock> {
    shards: Box<[Shard<S>]>,
    common: Common<S>,
    hash: [RandomState; 2],
    when_full: WhenFull,
    clock: C,
    /// The shard that calls for other shards look into next, in search of stale keys.
    next: Padded<AtomicUsize>,
}

/// Two cache lines of its own, since processors fetch lines in pairs.
#[derive(Debug)]
#[repr(align(128))]
struct Padded<T>(T);

/// How many slots of a batch are asked for in advance: about as many as a processor can wait for at once.
const AHEAD: usize = 16;
/// How many looks a call may spend on other shards while they pay.
const LOOKS: usize = 4;
/// How many looks a new key is worth when the store is full.
const LOOKS_WHEN_FULL: usize = 8;
/// How many shards one look may pass by.
const SHARDS_PER_LOOK: usize = 8;

impl<S: Strategy> MemoryStore<S> {
    /// A store without bound that reads the system's time by way of a [`QuantaClock`].
    #[must_use]
    pub fn new() -> Self {
        Self::with_clock(QuantaClock::new())
    }

    /// Sets up a store: bounded, with another clock, or divided otherwise.
    pub fn builder() -> Builder<S> {
        Builder::new()
    }
}

impl<S: Strategy> Default for MemoryStore<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Strategy, C: Clock> MemoryStore<S, C> {
    /// A store without bound that reads `clock`.
    #[must_use]
    pub fn with_clock(clock: C) -> Self {
        Builder::new().clock(clock).build_checked()
    }

    pub(crate) fn of(shards: usize, max_keys: usize, when_full: WhenFull, clock: C) -> Self {
        let hash = [keyed_hash(), keyed_hash()];
        let shard = |index| Shard::new(hash[0].hash_one(index));
        Self {
            shards: (0..shards).map(shard).collect(),
            common: Common {
                generations: Generations::new(),
                population: Population::at_most(max_keys),
                overflow: Fingerprint::of("", &[keyed_hash(), keyed_hash()]),
            },
            hash,
            when_full,
            clock,
            next: Padded(AtomicUsize::new(0)),
        }
    }

    /// How many keys are held; exact when no call is under way.
    #[must_use]
    pub fn len(&self) -> usize {
        self.common.population.keys()
    }

    /// Whether no key is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The clock that it reads.
    #[must_use]
    pub const fn clock(&self) -> &C {
        &self.clock
    }

    /// The clock is read before any lock is taken.
    #[inline]
    fn call<'a>(&'a self, strategy: &'a S) -> Call<'a, S> {
        Call {
            common: &self.common,
            strategy,
            generation: self.common.generations.of(strategy),
            now: self.clock.now(),
        }
    }

    #[inline]
    fn fingerprint<K: Key + ?Sized>(&self, key: &K) -> Result<Fingerprint, Error> {
        if key.is_empty() {
            return Err(Error::EmptyKey);
        }
        Ok(Fingerprint::of(key, &self.hash))
    }

    /// The high half picks the shard, and the low half the slot.
    #[inline]
    fn shard(&self, fingerprint: Fingerprint) -> &Shard<S> {
        let high = (fingerprint.bits() >> 64) as usize;
        &self.shards[high & (self.shards.len() - 1)]
    }

    /// Decides on `cost`. The parts that most calls go through are inlined, the others apart.
    #[inline(always)]
    fn decide(
        &self,
        call: &Call<'_, S>,
        shard: &Shard<S>,
        fingerprint: Fingerprint,
        cost: u64,
    ) -> Result<Decision, Error> {
        match self.decide_on_known(call, shard, fingerprint, cost) {
            Some(decision) => Ok(decision),
            None => self.decide_on_others(call, fingerprint, cost),
        }
    }

    /// Decides on a key whose state was packed by the caller's generation; `None` for others.
    #[inline(always)]
    fn decide_on_known(
        &self,
        call: &Call<'_, S>,
        shard: &Shard<S>,
        fingerprint: Fingerprint,
        cost: u64,
    ) -> Option<Decision> {
        if let Some(denial) = shard.deny(call, fingerprint, cost) {
            if Turn::is_due() && self.tend(call, fingerprint) {
                Turn::come_again();
            }
            return Some(denial);
        }
        let (decision, due) = shard.charge(call, fingerprint, cost)?;
        if due {
            self.tend(call, fingerprint);
        }
        Some(decision)
    }

    /// Decides on a key that is new, or whose state is not packed by the caller's generation.
    #[inline(never)]
    fn decide_on_others(
        &self,
        call: &Call<'_, S>,
        fingerprint: Fingerprint,
        cost: u64,
    ) -> Result<Decision, Error> {
        Ok(self.perform(call, fingerprint, &Charge { cost }))
    }

    /// Performs an action on the state of a key, or what the policy says if the key is new and the store full.
    fn perform<A: Action<S>>(
        &self,
        call: &Call<'_, S>,
        fingerprint: Fingerprint,
        action: &A,
    ) -> A::Answer {
        match self.update(call, fingerprint, action) {
            Ok(answer) => answer,
            Err(Full) => self.squeeze(call, fingerprint, action),
        }
    }

    /// Updates a state under its shard's lock, and looks after stale keys.
    fn update<A: Action<S>>(
        &self,
        call: &Call<'_, S>,
        fingerprint: Fingerprint,
        action: &A,
    ) -> Result<A::Answer, Full> {
        let (answer, due) = self.shard(fingerprint).update(call, fingerprint, action);
        if due {
            self.tend(call, fingerprint);
        }
        answer
    }

    /// Finds a place for a new key in a full store, or does with it what the policy says.
    #[cold]
    fn squeeze<A: Action<S>>(
        &self,
        call: &Call<'_, S>,
        fingerprint: Fingerprint,
        action: &A,
    ) -> A::Answer {
        if self.make_room(call, fingerprint)
            && let Ok(answer) = self.update(call, fingerprint, action)
        {
            return answer;
        }
        match self.when_full {
            WhenFull::DenyNewcomers => action.refuse(call),
            WhenFull::SharedOverflow => self
                .update(call, self.common.overflow, action)
                .unwrap_or_else(|Full| action.refuse(call)),
        }
    }

    /// Looks for a key that is as good as new, and removes it.
    fn make_room(&self, call: &Call<'_, S>, newcomer: Fingerprint) -> bool {
        let search = Search::pressing(newcomer);
        (0..LOOKS_WHEN_FULL).any(|_| self.look(call, search) > 0)
    }

    /// Looks for stale keys in other shards, where perhaps nobody calls any more, and in the key's own.
    #[cold]
    #[inline(never)]
    fn tend(&self, call: &Call<'_, S>, spared: Fingerprint) -> bool {
        let search = Search::unhurried(spared);
        let mut looks = 0;
        while looks < LOOKS && self.look(call, search) > 0 {
            looks += 1;
        }
        self.shard(spared).look(call, search, looks > 0)
    }

    /// Examines a handful of slots of the next shard that has any, and answers how many keys it removed.
    fn look(&self, call: &Call<'_, S>, search: Search) -> usize {
        for _ in 0..SHARDS_PER_LOOK {
            let index = self.next.0.load(Ordering::Relaxed);
            let swept = self.shards[index & (self.shards.len() - 1)].try_sweep(call, search);
            if swept.is_none_or(|swept| swept.done) {
                // If another thread moves on at the same time, a shard is passed by; its turn comes again.
                self.next.0.store(index.wrapping_add(1), Ordering::Relaxed);
            }
            match swept {
                Some(swept) if swept.removed > 0 || !swept.done => return swept.removed,
                _ => {}
            }
        }
        0
    }
}

impl<S: Strategy, C: Clock + 'static> SyncStore for MemoryStore<S, C> {
    type Strategy = S;
    type Error = Infallible;

    // Inlined always: the fronts make one function of it for each kind of key, with the strategy and the cost in registers.
    #[inline(always)]
    fn check_sync<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
        cost: u64,
    ) -> Result<Decision, Error> {
        strategy.fits(cost)?;
        let fingerprint = self.fingerprint(key)?;
        let shard = self.shard(fingerprint);
        // They come while the clock is read.
        shard.prefetch(fingerprint);
        self.decide(&self.call(strategy), shard, fingerprint, cost)
    }

    fn peek_sync<K: Key + ?Sized>(&self, strategy: &S, key: &K) -> Result<Decision, Error> {
        let fingerprint = self.fingerprint(key)?;
        let call = self.call(strategy);
        let peek = |state: &S::State| strategy.peek(state, call.now);
        let (decision, known) = self
            .shard(fingerprint)
            .read(&call, fingerprint, |state, known| (peek(state), known));
        if known || !self.common.population.is_full() || self.make_room(&call, fingerprint) {
            return Ok(decision);
        }
        Ok(match self.when_full {
            WhenFull::DenyNewcomers => denial(strategy, call.now, 1),
            WhenFull::SharedOverflow => {
                let overflow = self.common.overflow;
                self.shard(overflow)
                    .read(&call, overflow, |state, _| peek(state))
            }
        })
    }

    fn lease_sync<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
        want: u64,
        at_least: u64,
    ) -> Result<Grant, Error> {
        strategy.fits(at_least)?;
        let fingerprint = self.fingerprint(key)?;
        let call = self.call(strategy);
        self.perform(&call, fingerprint, &Lease { want, at_least })
    }

    fn give_back_sync<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
        tag: Tag,
        amount: u64,
    ) -> Result<u64, Error> {
        let fingerprint = self.fingerprint(key)?;
        let call = self.call(strategy);
        let take = GiveBack { tag, amount };
        // A key that is not known has nothing to take back, and needs no place.
        let applied = self.update(&call, fingerprint, &take).unwrap_or(0);
        if applied > 0 || self.when_full != WhenFull::SharedOverflow {
            return Ok(applied);
        }
        // The grant may have come from the overflow entry; its incarnation tells.
        Ok(self.perform(&call, self.common.overflow, &take))
    }

    fn reset_sync<K: Key + ?Sized>(&self, strategy: &S, key: &K) -> Result<(), Error> {
        let fingerprint = self.fingerprint(key)?;
        let call = self.call(strategy);
        self.shard(fingerprint).forget(&call, fingerprint);
        Ok(())
    }

    fn check_many_sync<K: Key>(
        &self,
        strategy: &S,
        calls: &[(K, u64)],
    ) -> Vec<Result<Decision, Error>> {
        let call = self.call(strategy);
        let mut answers = Vec::with_capacity(calls.len());
        for calls in calls.chunks(AHEAD) {
            // First all slots are asked for, so that they come together, and then each call is decided in its turn.
            let mut fingerprints = [const { Err(Error::EmptyKey) }; AHEAD];
            for ((key, cost), place) in calls.iter().zip(&mut fingerprints) {
                *place = strategy.fits(*cost).and_then(|()| self.fingerprint(key));
                if let Ok(fingerprint) = *place {
                    self.shard(fingerprint).prefetch(fingerprint);
                }
            }
            for ((_, cost), place) in calls.iter().zip(fingerprints) {
                // Pushed by parts: a decision that goes through memory on its way is waited for.
                match place {
                    Ok(fingerprint) => match self.decide_on_known(
                        &call,
                        self.shard(fingerprint),
                        fingerprint,
                        *cost,
                    ) {
                        Some(decision) => answers.push(Ok(decision)),
                        None => answers.push(self.decide_on_others(&call, fingerprint, *cost)),
                    },
                    Err(error) => answers.push(Err(error)),
                }
            }
        }
        answers
    }
}

impl<S: Strategy, C> core::fmt::Debug for MemoryStore<S, C> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("MemoryStore")
            .field("keys", &self.common.population.keys())
            .field("shards", &self.shards.len())
            .finish_non_exhaustive()
    }
}
