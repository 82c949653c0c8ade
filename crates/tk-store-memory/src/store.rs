//! The store: from a call to a shard and back.

use core::convert::Infallible;

use ahash::RandomState;
use tk_core::{
    Clock, Decision, Error, Fingerprint, Grant, Key, Strategy, SyncStore, SystemClock, Tag,
    Timestamp,
};

use crate::{
    Builder, WhenFull,
    full::denial,
    generations::Generations,
    population::Population,
    shard::{Call, Common, Full, Outcome, Shard, Wrote},
    sync::{AtomicUsize, Ordering},
    word::Incarnation,
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
pub struct MemoryStore<S: Strategy, C = SystemClock> {
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

/// How many looks a call may spend on other shards while they pay.
const LOOKS: usize = 4;
/// How many looks a new key is worth when the store is full.
const LOOKS_WHEN_FULL: usize = 8;
/// How many shards one look may pass by.
const SHARDS_PER_LOOK: usize = 4;

impl<S: Strategy> MemoryStore<S> {
    /// A store without bound that reads the system clock.
    #[must_use]
    pub fn new() -> Self {
        Self::with_clock(SystemClock)
    }

    /// Sets up a store: bounded, with another clock, or divided otherwise.
    pub const fn builder() -> Builder<S> {
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
        let hash = [RandomState::new(), RandomState::new()];
        let shard = |index| Shard::new(hash[0].hash_one(index));
        Self {
            shards: (0..shards).map(shard).collect(),
            common: Common {
                generations: Generations::new(),
                population: Population::at_most(max_keys),
                overflow: Fingerprint::of("", &[RandomState::new(), RandomState::new()]),
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

    #[inline]
    fn decide(&self, call: &Call<'_, S>, fingerprint: Fingerprint, cost: u64) -> Decision {
        if let Some(denial) = self.shard(fingerprint).deny(call, fingerprint, cost) {
            return denial;
        }
        let charge = |state: &mut S::State, _: Incarnation| {
            let answer = call.strategy.decide(state, call.now, cost);
            let wrote = Wrote::decided(answer.allowed, cost);
            Outcome { answer, wrote }
        };
        match self.update(call, fingerprint, charge) {
            Ok(decision) => decision,
            Err(Full) => self.squeeze(call, fingerprint, charge, |now| {
                denial(call.strategy, now, cost)
            }),
        }
    }

    /// Updates a state under its shard's lock, and looks after stale keys.
    #[inline]
    fn update<R>(
        &self,
        call: &Call<'_, S>,
        fingerprint: Fingerprint,
        act: impl FnOnce(&mut S::State, Incarnation) -> Outcome<R>,
    ) -> Result<R, Full> {
        let (answer, paced) = self.shard(fingerprint).update(call, fingerprint, act);
        if paced {
            self.tend(call, fingerprint);
        }
        answer
    }

    /// Finds a place for a new key in a full store, or does with it what the policy says.
    #[cold]
    fn squeeze<R>(
        &self,
        call: &Call<'_, S>,
        fingerprint: Fingerprint,
        act: impl Fn(&mut S::State, Incarnation) -> Outcome<R>,
        deny: impl FnOnce(Timestamp) -> R,
    ) -> R {
        let found = (0..LOOKS_WHEN_FULL).any(|_| self.look(call, fingerprint) > 0);
        if found && let Ok(answer) = self.update(call, fingerprint, &act) {
            return answer;
        }
        match self.when_full {
            WhenFull::DenyNewcomers => deny(call.now),
            WhenFull::SharedOverflow => self
                .update(call, self.common.overflow, act)
                .unwrap_or_else(|Full| deny(call.now)),
        }
    }

    /// Looks for stale keys in other shards, so that they are found where nobody calls any more.
    #[cold]
    fn tend(&self, call: &Call<'_, S>, spared: Fingerprint) {
        for _ in 0..LOOKS {
            if self.look(call, spared) == 0 {
                break;
            }
        }
    }

    /// Examines a handful of slots of the next shard that has any, and answers how many keys it removed.
    fn look(&self, call: &Call<'_, S>, spared: Fingerprint) -> usize {
        for _ in 0..SHARDS_PER_LOOK {
            let index = self.next.0.load(Ordering::Relaxed);
            let swept = self.shards[index & (self.shards.len() - 1)].try_sweep(call, spared);
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

    #[inline]
    fn check_sync<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
        cost: u64,
    ) -> Result<Decision, Error> {
        strategy.fits(cost)?;
        let fingerprint = self.fingerprint(key)?;
        Ok(self.decide(&self.call(strategy), fingerprint, cost))
    }

    fn peek_sync<K: Key + ?Sized>(&self, strategy: &S, key: &K) -> Result<Decision, Error> {
        let fingerprint = self.fingerprint(key)?;
        let call = self.call(strategy);
        let peek = |state: &S::State| strategy.peek(state, call.now);
        let (decision, known) =
            self.shard(fingerprint)
            .read(&call, fingerprint, |state, known| (peek(state), known));
        if known || !self.common.population.is_full() {
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
        let charge = |state: &mut S::State, life: Incarnation| {
            let answer = Grant::charge(strategy, state, call.now, want, at_least, life.value());
            let granted = matches!(&answer, Ok(grant) if grant.amount > 0);
            let wrote = Wrote::decided(granted, at_least.max(1));
            Outcome { answer, wrote }
        };
        let deny = |now| {
            let decision = denial(strategy, now, at_least.max(1));
            Ok(Grant {
                amount: 0,
                span: decision.reset_at.since(now),
                tag: Tag::default(),
                decision,
            })
        };
        self.update(&call, fingerprint, charge)
            .unwrap_or_else(|Full| self.squeeze(&call, fingerprint, charge, deny))
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
        let take = |state: &mut S::State, life: Incarnation| {
            let named = life.is_named_by(tag.incarnation());
            let life = if named { tag.incarnation() } else { life.value() };
            let answer = tag.give_back(strategy, state, call.now, life, amount);
            let wrote = if answer > 0 { Wrote::Yes } else { Wrote::No };
            Outcome { answer, wrote }
        };
        let applied = self.update(&call, fingerprint, take).unwrap_or(0);
        if applied > 0 || self.when_full != WhenFull::SharedOverflow {
            return Ok(applied);
        }
        // The grant may have come from the overflow entry; its incarnation tells.
        Ok(self.update(&call, self.common.overflow, take).unwrap_or(0))
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
        calls
            .iter()
            .map(|(key, cost)| {
                strategy.fits(*cost)?;
                Ok(self.decide(&call, self.fingerprint(key)?, *cost))
            })
            .collect()
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
