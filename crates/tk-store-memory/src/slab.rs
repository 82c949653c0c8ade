//! States that do not fit into a word.
//!
//! The entries lie densely: removing one moves the last one into its place, and each carries its fingerprint, so that
//! the word of the one that moved can be found and told. Hence the slab shrinks with its use.

use tk_core::{Fingerprint, Strategy, Timestamp};

use crate::{
    generations::Generations,
    word::{Generation, Incarnation},
};

/// The strategy that a state was written under.
#[derive(Debug)]
pub(crate) enum Writer<S> {
    Registered(Generation),
    /// One that found no place in the register.
    Own(Box<S>),
}

pub(crate) struct Entry<S: Strategy> {
    pub(crate) state: S::State,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) incarnation: Incarnation,
    pub(crate) writer: Writer<S>,
}

impl<S: Strategy> Writer<S> {
    pub(crate) fn new(strategy: &S, generation: Generation) -> Self {
        match generation {
            Generation::UNREGISTERED => Self::Own(Box::new(strategy.clone())),
            registered => Self::Registered(registered),
        }
    }

    /// The strategy itself; `None` cannot be, since what is registered stays so.
    pub(crate) fn strategy<'a>(&'a self, generations: &'a Generations<S>) -> Option<&'a S> {
        match self {
            Self::Registered(generation) => generations.get(*generation),
            Self::Own(strategy) => Some(strategy),
        }
    }

    /// Whether `strategy`, whose number is `generation`, is of the same scale.
    pub(crate) fn is_that_of(&self, strategy: &S, generation: Generation) -> bool {
        match self {
            Self::Registered(mine) => *mine == generation,
            Self::Own(mine) => generation == Generation::UNREGISTERED && mine.same_scale(strategy),
        }
    }

    /// Becomes the one for `strategy`, without allocating if it is that already.
    pub(crate) fn become_that_of(&mut self, strategy: &S, generation: Generation) {
        if !self.is_that_of(strategy, generation) {
            *self = Self::new(strategy, generation);
        }
    }
}

impl<S: Strategy> Entry<S> {
    pub(crate) fn is_fresh(&self, generations: &Generations<S>, now: Timestamp) -> bool {
        self.writer
            .strategy(generations)
            .is_some_and(|strategy| strategy.is_fresh(&self.state, now))
    }
}

pub(crate) struct Slab<S: Strategy> {
    entries: Vec<Entry<S>>,
}

impl<S: Strategy> Slab<S> {
    pub(crate) const fn new() -> Self {
        Self {
            entries: Vec::new(),
        }
    }

    pub(crate) fn get(&self, index: usize) -> Option<&Entry<S>> {
        self.entries.get(index)
    }

    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut Entry<S>> {
        self.entries.get_mut(index)
    }

    /// Adds an entry and says where it is.
    pub(crate) fn push(&mut self, entry: Entry<S>) -> usize {
        self.entries.push(entry);
        self.entries.len() - 1
    }

    /// Removes the entry at `index`, and names the key whose entry is there now, if another one moved in.
    pub(crate) fn remove(&mut self, index: usize) -> Option<Fingerprint> {
        self.entries.swap_remove(index);
        let capacity = self.entries.capacity();
        if capacity > 8 && self.entries.len() * 5 < capacity {
            self.entries.shrink_to(self.entries.len() * 2);
        }
        self.entries.get(index).map(|moved| moved.fingerprint)
    }
}
