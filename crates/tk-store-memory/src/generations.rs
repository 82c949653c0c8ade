//! Which strategies packed the states in the table.
//!
//! A packed state means nothing without the scale that it was packed under, and the strategy comes with each call: it may
//! have been replaced since, or belong to another limiter over the same store. So each word names its strategy
//! by a number from this register. Strategies of the same scale share a number, and almost all stores ever see one. The
//! register only grows, which is what makes reading it free: when it is full, states written under yet other scales
//! go to the slab, each beside the strategy that wrote it.

use std::sync::OnceLock;

use tk_core::Strategy;

use crate::word::Generation;

#[derive(Debug)]
pub(crate) struct Generations<S> {
    strategies: [OnceLock<S>; Generation::MAX],
}

impl<S: Strategy> Generations<S> {
    pub(crate) const fn new() -> Self {
        Self {
            strategies: [const { OnceLock::new() }; Generation::MAX],
        }
    }

    /// The number of `strategy`, which is registered if it is new and there is room.
    #[inline]
    pub(crate) fn of(&self, strategy: &S) -> Generation {
        match self.strategies[0].get() {
            Some(first) if first.same_scale(strategy) => Generation::of_index(0),
            _ => self.search(strategy),
        }
    }

    #[cold]
    fn search(&self, strategy: &S) -> Generation {
        for (index, known) in self.strategies.iter().enumerate() {
            // Whoever comes second to a free place compares with what came first.
            if known.get_or_init(|| strategy.clone()).same_scale(strategy) {
                return Generation::of_index(index);
            }
        }
        Generation::UNREGISTERED
    }

    /// A strategy under whose scale words of `generation` were packed.
    #[inline]
    pub(crate) fn get(&self, generation: Generation) -> Option<&S> {
        self.strategies[generation.index()?].get()
    }
}
