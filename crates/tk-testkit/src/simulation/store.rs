//! The shared store: one key's state, charged and handed back to by the rules that all stores ship with, or the key of a real store.

use std::sync::Arc;

use tk_core::{Error, Grant, ManualClock, Store, Strategy, Tag, Timestamp};
use tokio::runtime::Runtime;

/// What holds the key that a fleet leases from. The clock of the run decides, which all bounds speak of.
pub(super) trait L2 {
    fn lease(&mut self, now: u64, want: u64, at_least: u64) -> Result<Grant, String>;

    /// How many units were taken back.
    fn give_back(&mut self, now: u64, tag: Tag, amount: u64) -> Result<u64, String>;

    fn forget(&mut self) -> Result<(), String>;
}

/// The key in the shared store, which may be down.
#[derive(Debug)]
pub(super) struct SharedStore<T> {
    key: T,
    is_down: bool,
}

impl<T: L2> SharedStore<T> {
    pub(super) const fn new(key: T) -> Self {
        Self {
            key,
            is_down: false,
        }
    }

    /// A grant, unless the store is down.
    pub(super) fn lease(
        &mut self,
        now: u64,
        want: u64,
        at_least: u64,
    ) -> Result<Option<Grant>, String> {
        if self.is_down {
            return Ok(None);
        }
        self.key.lease(now, want, at_least).map(Some)
    }

    /// How many units were taken back.
    pub(super) fn give_back(&mut self, now: u64, tag: Tag, amount: u64) -> Result<u64, String> {
        if self.is_down {
            return Ok(0);
        }
        self.key.give_back(now, tag, amount)
    }

    pub(super) const fn set_down(&mut self, is_down: bool) {
        self.is_down = is_down;
    }

    pub(super) const fn is_down(&self) -> bool {
        self.is_down
    }

    /// A restart without data, or a reset of the key.
    pub(super) fn forget(&mut self) -> Result<(), String> {
        self.key.forget()
    }
}

/// A state of its own.
#[derive(Debug)]
pub(super) struct Simulated<S: Strategy> {
    strategy: S,
    state: S::State,
    incarnation: u64,
}

impl<S: Strategy> Simulated<S> {
    pub(super) fn new(strategy: S) -> Self {
        Self {
            strategy,
            state: S::State::default(),
            incarnation: 1,
        }
    }
}

impl<S: Strategy> L2 for Simulated<S> {
    fn lease(&mut self, now: u64, want: u64, at_least: u64) -> Result<Grant, String> {
        let now = Timestamp::from_micros(now);
        let (strategy, state) = (&self.strategy, &mut self.state);
        let grant: Result<_, Error> =
            Grant::charge(strategy, state, now, want, at_least, self.incarnation);
        grant.map_err(|error| format!("the store grants nothing: {error}"))
    }

    fn give_back(&mut self, now: u64, tag: Tag, amount: u64) -> Result<u64, String> {
        let now = Timestamp::from_micros(now);
        let (strategy, state) = (&self.strategy, &mut self.state);
        Ok(tag.give_back(strategy, state, now, self.incarnation, amount))
    }

    fn forget(&mut self) -> Result<(), String> {
        self.state = S::State::default();
        self.incarnation += 1;
        Ok(())
    }
}

/// A key of a real store that reads the clock it is given; each call is waited for.
pub(super) struct Real<'a, T: Store> {
    pub(super) runtime: &'a Runtime,
    pub(super) store: T,
    pub(super) strategy: T::Strategy,
    pub(super) clock: Arc<ManualClock>,
}

/// The name of the key.
const KEY: &str = "fleet";

impl<T: Store> Real<'_, T> {
    fn at(&self, now: u64) {
        self.clock.set_wall(Timestamp::from_micros(now));
    }
}

impl<T: Store> L2 for Real<'_, T> {
    fn lease(&mut self, now: u64, want: u64, at_least: u64) -> Result<Grant, String> {
        self.at(now);
        let lease = self.store.lease(&self.strategy, KEY, want, at_least);
        let grant = self.runtime.block_on(lease);
        grant.map_err(|error| format!("the store grants nothing: {error:?}"))
    }

    fn give_back(&mut self, now: u64, tag: Tag, amount: u64) -> Result<u64, String> {
        self.at(now);
        let back = self.store.give_back(&self.strategy, KEY, tag, amount);
        let taken = self.runtime.block_on(back);
        taken.map_err(|error| format!("the store takes nothing back: {error:?}"))
    }

    fn forget(&mut self) -> Result<(), String> {
        let reset = self.store.reset(&self.strategy, KEY);
        let reset = self.runtime.block_on(reset);
        reset.map_err(|error| format!("the store does not forget: {error:?}"))
    }
}
