//! Keys go away by themselves, and only those that nobody misses.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests: to fail is what they are for"
)]

use std::{sync::Arc, time::Duration};

use tk_core::{
    ConfigError, FixedWindow, Gcra, ManualClock, SlidingWindow, SlidingWindowLog, Strategy,
    SyncStore, Timestamp,
};
use tk_store_memory::{MemoryStore, WhenFull};

type Store<S> = MemoryStore<S, Arc<ManualClock>>;

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(Timestamp::from_secs(1_000_000)))
}

fn allowed<S: Strategy>(store: &Store<S>, strategy: &S, key: u64) -> bool {
    store.check_sync(strategy, &key, 1).unwrap().allowed
}

/// A table whose keys never leave grows without end.
fn empties_while_another_key_is_checked<S: Strategy>(strategy: S, keys: u64) {
    let store = MemoryStore::with_clock(clock());
    for key in 0..keys {
        assert!(allowed(&store, &strategy, key));
    }
    assert_eq!(store.len() as u64, keys);
    store.clock().advance(Duration::from_secs(7_200));
    // One key, in one shard: the other shards are found and emptied all the same.
    for _ in 0..4 * keys + 20_000 {
        allowed(&store, &strategy, u64::MAX);
        if store.len() == 1 {
            return;
        }
    }
    panic!("{} keys are left", store.len());
}

#[test]
fn the_table_empties_while_another_key_is_checked() {
    empties_while_another_key_is_checked(Gcra::per_minute(60).unwrap(), 20_000);
    empties_while_another_key_is_checked(FixedWindow::per_minute(60).unwrap(), 20_000);
    empties_while_another_key_is_checked(SlidingWindow::per_minute(60).unwrap(), 5_000);
    empties_while_another_key_is_checked(SlidingWindowLog::per_minute(60).unwrap(), 5_000);
}

#[test]
fn a_few_keys_go_away_too() {
    empties_while_another_key_is_checked(Gcra::per_minute(60).unwrap(), 3);
}

#[test]
fn a_key_in_use_stays() {
    let store = MemoryStore::with_clock(clock());
    let hourly = FixedWindow::per_hour(1).unwrap();
    for key in 0..1_000 {
        assert!(allowed(&store, &hourly, key));
    }
    for other in 0..20_000 {
        allowed(&store, &hourly, 1_000 + other % 10);
    }
    for key in 0..1_000 {
        assert!(!allowed(&store, &hourly, key));
    }
}

/// Who evicts the blocked key to make room for new ones lets it start full.
#[test]
fn a_flood_of_new_keys_never_frees_a_blocked_one() {
    for policy in [WhenFull::DenyNewcomers, WhenFull::SharedOverflow] {
        let store = MemoryStore::builder()
            .max_keys(1_000)
            .when_full(policy)
            .clock(clock())
            .build()
            .unwrap();
        let hourly = FixedWindow::per_hour(1).unwrap();
        assert!(allowed(&store, &hourly, 0));
        let admitted = (1..30_000)
            .filter(|&key| allowed(&store, &hourly, key))
            .count();
        let shared = usize::from(policy == WhenFull::SharedOverflow);
        assert_eq!(admitted, 999 + shared, "{policy:?}");
        assert_eq!(store.len(), 1_000);
        let denied = store.check_sync(&hourly, &0_u64, 1).unwrap();
        assert!(denied.is_denied());
        let reset = denied.reset_at.since(Timestamp::from_secs(1_000_000));
        assert_eq!(denied.retry_after, reset);
    }
}

#[test]
fn a_newcomer_to_a_full_store_is_told_when_to_come_back() {
    let store = MemoryStore::builder()
        .max_keys(1)
        .clock(clock())
        .build()
        .unwrap();
    let strategy = Gcra::per_minute(2).unwrap();
    assert!(allowed(&store, &strategy, 1));
    let denied = store.check_sync(&strategy, &2_u64, 1).unwrap();
    assert!(denied.is_denied());
    assert_eq!((denied.limit, denied.remaining), (2, 0));
    assert_eq!(denied.retry_after, Duration::from_secs(30));
    assert!(store.peek_sync(&strategy, &2_u64).unwrap().is_denied());
    assert!(store.check_sync(&strategy, &2_u64, 0).unwrap().allowed);
    let grant = store.lease_sync(&strategy, &2_u64, 2, 1).unwrap();
    assert_eq!((grant.amount, grant.decision.allowed), (0, false));
    // Key 1 is as new after 30 seconds, and makes room at once.
    store.clock().advance(Duration::from_secs(30));
    assert!(allowed(&store, &strategy, 2));
    assert_eq!(store.len(), 1);
}

#[test]
fn newcomers_to_a_full_store_share_one_entry() {
    let store = MemoryStore::builder()
        .max_keys(1)
        .when_full(WhenFull::SharedOverflow)
        .clock(clock())
        .build()
        .unwrap();
    let strategy = FixedWindow::per_minute(2).unwrap();
    assert!(allowed(&store, &strategy, 1));
    let shared: Vec<bool> = (2..6).map(|key| allowed(&store, &strategy, key)).collect();
    assert_eq!(shared, [true, true, false, false]);
    assert_eq!(store.peek_sync(&strategy, &9_u64).unwrap().remaining, 0);
    assert_eq!(store.len(), 1, "the shared entry takes no place");
    store.reset_sync(&strategy, &1_u64).unwrap();
    assert!(allowed(&store, &strategy, 5), "there is a place again");
}

#[test]
fn a_grant_from_the_shared_entry_can_be_handed_back() {
    let store = MemoryStore::builder()
        .max_keys(1)
        .when_full(WhenFull::SharedOverflow)
        .clock(clock())
        .build()
        .unwrap();
    let strategy = FixedWindow::per_minute(10).unwrap();
    assert!(allowed(&store, &strategy, 1));
    let grant = store.lease_sync(&strategy, &2_u64, 10, 1).unwrap();
    assert_eq!(grant.amount, 10);
    assert_eq!(store.give_back_sync(&strategy, &2_u64, grant.tag, 4), Ok(4));
    assert_eq!(store.peek_sync(&strategy, &3_u64).unwrap().remaining, 4);
}

/// A store of 0 entries would enforce nothing.
#[test]
fn a_store_without_room_cannot_be_built() {
    let error = MemoryStore::<Gcra>::builder()
        .max_keys(0)
        .build()
        .unwrap_err();
    assert!(matches!(
        error,
        ConfigError::OutOfRange {
            field: "max_keys",
            value: 0,
            min: 1,
            ..
        }
    ));
    for shards in [0, 65_537] {
        assert!(
            MemoryStore::<Gcra>::builder()
                .shards(shards)
                .build()
                .is_err()
        );
    }
}

#[test]
fn bounds_hold_under_threads() {
    let store = MemoryStore::builder()
        .max_keys(100)
        .clock(clock())
        .build()
        .unwrap();
    let hourly = FixedWindow::per_hour(1).unwrap();
    let admitted: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let (store, hourly) = (&store, &hourly);
                scope.spawn(move || {
                    let keys = (0..2_000).map(|key| key * 8 + thread);
                    keys.filter(|&key| allowed(store, hourly, key)).count()
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    assert_eq!(admitted, 100);
    assert_eq!(store.len(), 100);
}

/// A call that removed all the stale keys of its shard would hold everybody else up meanwhile.
#[test]
fn no_call_removes_more_than_a_handful_of_keys() {
    let store = MemoryStore::builder()
        .shards(1)
        .clock(clock())
        .build()
        .unwrap();
    let strategy = Gcra::per_minute(60).unwrap();
    for key in 0..20_000 {
        assert!(allowed(&store, &strategy, key));
    }
    store.clock().advance(Duration::from_secs(7_200));
    let mut most = 0;
    while store.len() > 1 {
        let before = store.len();
        allowed(&store, &strategy, u64::MAX);
        most = most.max(before.saturating_sub(store.len()));
    }
    // Five looks at sixteen slots each.
    assert!((1..=80).contains(&most), "{most} keys in one call");
}

#[test]
fn a_peek_and_a_cost_of_zero_tell_a_newcomer_what_a_check_would() {
    for (policy, left) in [(WhenFull::DenyNewcomers, 0), (WhenFull::SharedOverflow, 2)] {
        let store = MemoryStore::builder()
            .max_keys(1)
            .when_full(policy)
            .clock(clock())
            .build()
            .unwrap();
        let strategy = Gcra::per_second(2).unwrap();
        assert!(allowed(&store, &strategy, 0));
        let nothing = store.check_sync(&strategy, &1_u64, 0).unwrap();
        assert!(nothing.allowed && nothing.retry_after.is_zero());
        assert_eq!(nothing.remaining, left, "{policy:?}");
        let peeked = store.peek_sync(&strategy, &1_u64).unwrap();
        assert_eq!((peeked.allowed, peeked.remaining), (left > 0, left));
        assert_eq!(allowed(&store, &strategy, 1), left > 0);
        // The one key is as good as new now, and gives way.
        store.clock().advance(Duration::from_secs(100));
        let peeked = store.peek_sync(&strategy, &2_u64).unwrap();
        assert_eq!((peeked.allowed, peeked.remaining), (true, 2), "{policy:?}");
        assert!(allowed(&store, &strategy, 2));
    }
}

/// What was charged after a step back is stale by the clock of before, and not by anybody's now.
#[test]
fn a_clock_that_steps_back_frees_nobody_who_was_charged_since() {
    for max_keys in [2, 64, 100_000] {
        for policy in [WhenFull::DenyNewcomers, WhenFull::SharedOverflow] {
            let store = MemoryStore::builder()
                .shards(1)
                .max_keys(max_keys)
                .when_full(policy)
                .clock(clock())
                .build()
                .unwrap();
            let start = Timestamp::from_secs(1_000_000);
            store.clock().advance(Duration::from_secs(86_400));
            let strategy = FixedWindow::per_hour(1).unwrap();
            assert!(allowed(&store, &strategy, 0));
            store.clock().set_wall(start);
            assert!(allowed(&store, &strategy, 1));
            for newcomer in 2..2_000 {
                allowed(&store, &strategy, newcomer);
                assert!(!allowed(&store, &strategy, 1), "{max_keys}, {policy:?}");
            }
        }
    }
}

/// Whatever a state is kept in: a word, or the slab.
fn a_flood_frees_nobody_before_its_time<S: Strategy>(strategy: S) {
    for policy in [WhenFull::DenyNewcomers, WhenFull::SharedOverflow] {
        let store = MemoryStore::builder()
            .max_keys(1_000)
            .when_full(policy)
            .clock(clock())
            .build()
            .unwrap();
        assert!(allowed(&store, &strategy, 0));
        let denied = store.check_sync(&strategy, &0_u64, 1).unwrap();
        assert!(denied.is_denied());
        for key in 1..10_000 {
            allowed(&store, &strategy, key);
        }
        store
            .clock()
            .advance(denied.retry_after - Duration::from_micros(1));
        for key in 1..10_000 {
            allowed(&store, &strategy, key);
        }
        assert!(!allowed(&store, &strategy, 0), "{policy:?}");
        store.clock().advance(Duration::from_micros(1));
        assert!(allowed(&store, &strategy, 0), "{policy:?}");
    }
}

#[test]
fn a_flood_of_new_keys_frees_a_blocked_one_at_its_time_and_no_sooner_under_any_strategy() {
    a_flood_frees_nobody_before_its_time(Gcra::per_hour(1).unwrap());
    a_flood_frees_nobody_before_its_time(FixedWindow::per_hour(1).unwrap());
    a_flood_frees_nobody_before_its_time(SlidingWindow::per_hour(1).unwrap());
    a_flood_frees_nobody_before_its_time(SlidingWindowLog::per_hour(1).unwrap());
}
