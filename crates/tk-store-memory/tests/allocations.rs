//! Nothing is allocated for a key that is known.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests: to fail is what they are for"
)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    time::Duration,
};

use tk_core::{FixedWindow, Gcra, ManualClock, SlidingWindow, Strategy, SyncStore, Timestamp};
use tk_store_memory::MemoryStore;

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every call is passed on unchanged to the system's allocator, which upholds the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // While a thread ends there is no counter any more, and nothing that is counted.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

/// Allowed, denied, in a new window, read: for the same keys, again and again.
fn allocates_nothing<S: Strategy>(strategy: &S) {
    let clock = std::sync::Arc::new(ManualClock::at(Timestamp::from_secs(1_000)));
    let store = MemoryStore::with_clock(clock.clone());
    let keys: Vec<String> = (0..100).map(|i| format!("user{i}")).collect();
    let round = || {
        for key in &keys {
            let decision = store.check_sync(strategy, key.as_str(), 1);
            assert!(decision.is_ok());
        }
    };
    round();
    assert_eq!(store.len(), keys.len());
    let allocated = allocations(|| {
        for _ in 0..50 {
            round();
            clock.advance(Duration::from_millis(10));
        }
    });
    assert_eq!(allocated, 0);
}

#[test]
fn a_check_of_a_known_key_allocates_nothing() {
    allocates_nothing(&Gcra::per_minute(20).unwrap());
    allocates_nothing(&FixedWindow::per_minute(20).unwrap());
    allocates_nothing(&SlidingWindow::per_minute(20).unwrap());
}

#[test]
fn a_batch_allocates_its_answers_and_nothing_else() {
    let store = MemoryStore::new();
    let strategy = Gcra::per_minute(1_000).unwrap();
    let calls: Vec<(u64, u64)> = (0..64).map(|key| (key, 1)).collect();
    let _ = store.check_many_sync(&strategy, &calls);
    let allocated = allocations(|| {
        let _ = store.check_many_sync(&strategy, &calls);
    });
    assert_eq!(allocated, 1);
}
