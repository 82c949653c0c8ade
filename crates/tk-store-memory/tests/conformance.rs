//! The suite that every store runs.

use std::{future::Future, future::ready, sync::Arc};

use tk_core::{ManualClock, Strategy};
use tk_store_memory::{MemoryStore, WhenFull};
use tk_testkit::conformance::{self, Harness};

/// Stores as `new` makes them.
struct Plain;

impl<S: Strategy> Harness<S> for Plain {
    type Store = MemoryStore<S, Arc<ManualClock>>;

    fn store(&self, clock: Arc<ManualClock>) -> impl Future<Output = Self::Store> + Send {
        ready(MemoryStore::with_clock(clock))
    }
}

/// Stores with a single shard, where all keys meet, and with a bound that they do not reach.
struct Crowded;

impl<S: Strategy> Harness<S> for Crowded {
    type Store = MemoryStore<S, Arc<ManualClock>>;

    fn store(&self, clock: Arc<ManualClock>) -> impl Future<Output = Self::Store> + Send {
        let store = MemoryStore::builder()
            .shards(1)
            .max_keys(10_000)
            .when_full(WhenFull::SharedOverflow)
            .clock(clock)
            .build();
        ready(store.expect("the settings are in range"))
    }
}

#[test]
fn conforms() {
    conformance::block_on(conformance::conforms(&Plain));
}

#[test]
fn conforms_with_one_shard() {
    conformance::block_on(conformance::conforms(&Crowded));
}
