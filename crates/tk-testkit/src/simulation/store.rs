//! The shared store: one key's state, charged and handed back to by the rules that all stores ship with.

use tk_core::{Error, Grant, Strategy, Tag, Timestamp};

/// One key in the shared store. Its clock is the one that all bounds speak of.
#[derive(Debug)]
pub(super) struct SharedStore<S: Strategy> {
    strategy: S,
    state: S::State,
    incarnation: u64,
    is_down: bool,
}

impl<S: Strategy> SharedStore<S> {
    pub(super) fn new(strategy: S) -> Self {
        Self {
            strategy,
            state: S::State::default(),
            incarnation: 1,
            is_down: false,
        }
    }

    /// A grant, unless the store is down.
    pub(super) fn lease(&mut self, now: u64, want: u64, at_least: u64) -> Option<Grant> {
        if self.is_down {
            return None;
        }
        let now = Timestamp::from_micros(now);
        let (strategy, state) = (&self.strategy, &mut self.state);
        let grant: Result<_, Error> =
            Grant::charge(strategy, state, now, want, at_least, self.incarnation);
        grant.ok()
    }

    /// How many units were taken back.
    pub(super) fn give_back(&mut self, now: u64, tag: Tag, amount: u64) -> u64 {
        if self.is_down {
            return 0;
        }
        let now = Timestamp::from_micros(now);
        tag.give_back(
            &self.strategy,
            &mut self.state,
            now,
            self.incarnation,
            amount,
        )
    }

    pub(super) const fn set_down(&mut self, is_down: bool) {
        self.is_down = is_down;
    }

    pub(super) const fn is_down(&self) -> bool {
        self.is_down
    }

    /// A restart without data, or a reset of the key.
    pub(super) fn forget(&mut self) {
        self.state = S::State::default();
        self.incarnation += 1;
    }
}
