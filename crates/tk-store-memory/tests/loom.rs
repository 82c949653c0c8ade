//! What threads share, in every interleaving that three preemptions allow.
//!
//! Run with `LOOM_MAX_PREEMPTIONS=3 RUSTFLAGS="--cfg loom" cargo test --release -p tk-store-memory --test loom`.

#![cfg(loom)]

use std::time::Duration;

use loom::{sync::Arc, thread};
use tk_core::{FixedWindow, ManualClock, SyncStore, Timestamp};
use tk_store_memory::MemoryStore;

type Store = MemoryStore<FixedWindow, std::sync::Arc<ManualClock>>;

/// A store with one shard, on a clock that stands still, and a limit of `limit` per minute.
fn store(limit: u64) -> (Arc<Store>, FixedWindow) {
    let clock = std::sync::Arc::new(ManualClock::at(Timestamp::from_secs(60)));
    let store = MemoryStore::builder().shards(1).clock(clock).build();
    let strategy = FixedWindow::per_minute(limit).expect("in range");
    (Arc::new(store.expect("in range")), strategy)
}

fn check(store: &Store, strategy: &FixedWindow, key: u64) -> bool {
    store
        .check_sync(strategy, &key, 1)
        .expect("answers always")
        .allowed
}

#[test]
fn of_two_checks_at_limit_one_one_passes() {
    loom::model(|| {
        let (store, strategy) = store(1);
        let other = {
            let store = store.clone();
            thread::spawn(move || check(&store, &strategy, 1))
        };
        let mine = check(&store, &strategy, 1);
        assert!(mine ^ other.join().expect("does not panic"));
    });
}

/// The copy of a denied state must not outlive the state: after a reset has returned, the key starts as new.
#[test]
fn a_denial_read_without_the_lock_is_of_a_state_in_force() {
    loom::model(|| {
        let (store, strategy) = store(1);
        assert!(check(&store, &strategy, 1));
        assert!(!check(&store, &strategy, 1));
        assert!(!check(&store, &strategy, 1), "the copy is published");
        let other = {
            let store = store.clone();
            thread::spawn(move || {
                store.reset_sync(&strategy, &1_u64).expect("answers always");
                check(&store, &strategy, 1)
            })
        };
        let mine = check(&store, &strategy, 1);
        let theirs = other.join().expect("does not panic");
        assert!(mine ^ theirs, "one new life, one unit");
        assert!(!check(&store, &strategy, 1));
    });
}

/// While one thread publishes the copy of one key after that of another, readers see one of them whole, or none.
#[test]
fn copies_of_two_keys_are_not_mixed() {
    loom::model(|| {
        let (store, strategy) = store(2);
        // Key 1 has used up its limit; key 2 has used one of two.
        assert!(check(&store, &strategy, 1));
        assert!(check(&store, &strategy, 1));
        assert!(check(&store, &strategy, 2));
        assert!(!check(&store, &strategy, 1));
        assert!(!check(&store, &strategy, 1), "the copy is key 1's");
        let denied = move |store: &Store, key: u64| {
            let decision = store.check_sync(&strategy, &key, 2);
            decision.expect("answers always").is_denied()
        };
        assert!(denied(&store, 2));
        let other = {
            let store = store.clone();
            thread::spawn(move || {
                assert!(
                    denied(&store, 2),
                    "the second in a row: now the copy is key 2's"
                );
            })
        };
        let decision = store.check_sync(&strategy, &1_u64, 1);
        let decision = decision.expect("answers always");
        assert!(decision.is_denied());
        assert_eq!(decision.remaining, 0);
        assert_eq!(decision.retry_after, Duration::from_secs(60));
        other.join().expect("does not panic");
        assert!(check(&store, &strategy, 2), "a denial has charged nothing");
    });
}
