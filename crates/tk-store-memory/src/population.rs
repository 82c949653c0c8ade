//! How many keys a store holds, and may hold.

use crate::sync::{AtomicUsize, Ordering};

/// Counts the keys of all shards exactly: a place is reserved before a key is added, and freed after it is removed.
#[derive(Debug)]
pub(crate) struct Population {
    keys: AtomicUsize,
    max: usize,
}

impl Population {
    pub(crate) fn at_most(max: usize) -> Self {
        Self {
            keys: AtomicUsize::new(0),
            max,
        }
    }

    pub(crate) fn keys(&self) -> usize {
        self.keys.load(Ordering::Relaxed)
    }

    /// Whether there is no place for another key.
    pub(crate) fn is_full(&self) -> bool {
        self.keys() >= self.max
    }

    /// Reserves a place for one more key; fails if there is none.
    pub(crate) fn reserve(&self) -> bool {
        let more = |keys| (keys < self.max).then_some(keys + 1);
        // Only the count itself is agreed on here; the keys are guarded by their shard's lock.
        self.keys
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .is_ok()
    }

    pub(crate) fn free(&self) {
        self.keys.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use ::loom::{model, sync::Arc, thread};

    use super::*;

    #[test]
    fn of_two_newcomers_to_the_last_place_one_is_let_in() {
        model(|| {
            let population = Arc::new(Population::at_most(1));
            let other = {
                let population = population.clone();
                thread::spawn(move || population.reserve())
            };
            let mine = population.reserve();
            assert!(mine ^ other.join().expect("does not panic"));
            assert!(population.is_full());
            population.free();
            assert!(population.reserve());
        });
    }
}
