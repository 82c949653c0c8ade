//! What is still to come, in the order of time.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
};

/// Events to come; those of one instant come in the order in which they were planned.
#[derive(Debug)]
pub(super) struct Timeline<E> {
    events: BinaryHeap<Reverse<Planned<E>>>,
    planned: u64,
}

#[derive(Debug)]
struct Planned<E> {
    at: u64,
    number: u64,
    event: E,
}

impl<E> Timeline<E> {
    pub(super) const fn new() -> Self {
        Self {
            events: BinaryHeap::new(),
            planned: 0,
        }
    }

    pub(super) fn plan(&mut self, at: u64, event: E) {
        let number = self.planned;
        self.planned += 1;
        self.events.push(Reverse(Planned { at, number, event }));
    }

    pub(super) fn next(&mut self) -> Option<(u64, E)> {
        let Reverse(Planned { at, event, .. }) = self.events.pop()?;
        Some((at, event))
    }
}

impl<E> Ord for Planned<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl<E> PartialOrd for Planned<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Planned<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<E> Eq for Planned<E> {}
