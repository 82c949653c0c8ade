//! How a memory store is made.

use core::marker::PhantomData;

use tk_core::{Clock, ConfigError, QuantaClock, Range, Strategy};

use crate::{MemoryStore, WhenFull};

/// Sets up a [`MemoryStore`].
///
/// ```
/// use tk_core::Gcra;
/// use tk_store_memory::{MemoryStore, WhenFull};
///
/// let store = MemoryStore::<Gcra>::builder()
///     .max_keys(1_000_000)
///     .when_full(WhenFull::SharedOverflow)
///     .build()?;
/// # let _ = store;
/// # Ok::<(), tk_core::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it builds"]
pub struct Builder<S, C = QuantaClock> {
    max_keys: Option<usize>,
    when_full: WhenFull,
    shards: Option<usize>,
    clock: C,
    strategy: PhantomData<fn() -> S>,
}

/// Enough that two threads seldom meet, and that one shard of a million keys moves to a larger table in microseconds.
const SHARDS: usize = 256;
/// A small store has fewer shards, so that a place that has become free is found at once.
const KEYS_PER_SHARD: usize = 64;

impl<S> Builder<S> {
    pub(crate) fn new() -> Self {
        Self {
            max_keys: None,
            when_full: WhenFull::DenyNewcomers,
            shards: None,
            clock: QuantaClock::new(),
            strategy: PhantomData,
        }
    }
}

impl<S, C> Builder<S, C> {
    /// The most keys to hold at once; without it there is no bound.
    ///
    /// A newcomer to a full store has at most 128 slots examined for a key that is as good as new, so that no call pays for the whole
    /// table: a large store may refuse it though such a key is left somewhere.
    pub const fn max_keys(mut self, max_keys: usize) -> Self {
        self.max_keys = Some(max_keys);
        self
    }

    /// What happens to new keys when `max_keys` are held and all of them are in use.
    pub const fn when_full(mut self, when_full: WhenFull) -> Self {
        self.when_full = when_full;
        self
    }

    /// Into how many parts the table is divided, each with a lock of its own: rounded up to a power of two.
    ///
    /// The default is 256, and fewer for small `max_keys`.
    pub const fn shards(mut self, shards: usize) -> Self {
        self.shards = Some(shards);
        self
    }

    /// Reads the time from `clock`; the default is a [`QuantaClock`].
    pub fn clock<D>(self, clock: D) -> Builder<S, D> {
        Builder {
            max_keys: self.max_keys,
            when_full: self.when_full,
            shards: self.shards,
            clock,
            strategy: PhantomData,
        }
    }

    /// The store.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if `max_keys` is 0, or `shards` is not within 1 to 65,536.
    pub fn build(self) -> Result<MemoryStore<S, C>, ConfigError>
    where
        S: Strategy,
        C: Clock,
    {
        if let Some(max_keys) = self.max_keys {
            Range::between("max_keys", max_keys as u128, 1, u64::MAX)?;
        }
        if let Some(shards) = self.shards {
            Range::between("shards", shards as u128, 1, 1 << 16)?;
        }
        Ok(self.build_checked())
    }

    /// The store, from settings that are in range.
    pub(crate) fn build_checked(self) -> MemoryStore<S, C>
    where
        S: Strategy,
        C: Clock,
    {
        // A clock's first reading may take long, and is not left to a request.
        let _ = self.clock.now();
        let max_keys = self.max_keys.unwrap_or(usize::MAX);
        let shards = self
            .shards
            .unwrap_or_else(|| max_keys.div_ceil(KEYS_PER_SHARD).min(SHARDS));
        MemoryStore::of(
            shards.next_power_of_two(),
            max_keys,
            self.when_full,
            self.clock,
        )
    }
}
