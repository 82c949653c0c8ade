//! Clocks: none of them steps back by itself, and all readers of one agree.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, SystemTime},
};

use tk_core::{CachedClock, Clock, ManualClock, Monotonic, SystemClock, Timestamp};

#[test]
fn system_clock_never_steps_back_on_a_thread() {
    let (mut wall, mut monotonic) = (SystemClock.now(), SystemClock.monotonic());
    for _ in 0..10_000 {
        let (next, passed) = (SystemClock.now(), SystemClock.monotonic());
        assert!(next >= wall && passed >= monotonic);
        (wall, monotonic) = (next, passed);
    }
}

#[test]
fn system_clock_advances_on_both_sides() {
    let (wall, monotonic) = (SystemClock.now(), SystemClock.monotonic());
    let advanced = (0..100_000_000).any(|_| {
        SystemClock.now() > wall && SystemClock.monotonic().since(monotonic).as_micros() > 2
    });
    assert!(advanced);
}

#[test]
fn system_clocks_of_all_threads_agree() {
    // Each reading is no less than all that were published before it was taken.
    let published = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..2_000 {
                    let before = published.load(Ordering::SeqCst);
                    let now = SystemClock.now().as_micros();
                    assert!(now >= before, "{now} after {before}");
                    published.fetch_max(now, Ordering::SeqCst);
                }
            });
        }
    });
}

#[test]
#[expect(clippy::disallowed_methods, reason = "compares with the wall itself")]
fn system_clock_stands_where_the_wall_does() {
    let wall = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    let apart = SystemClock
        .now()
        .as_micros()
        .abs_diff(wall.as_micros() as u64);
    assert!(apart < 60_000_000, "{apart} us apart");
}

#[test]
fn reanchoring_moves_no_clock_back_and_is_not_done_twice() {
    let before = SystemClock.now();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(SystemClock::reanchor);
        }
    });
    let after = SystemClock.now();
    assert!(after >= before);
    // A wall that was not set is ahead by no more than drift.
    assert!(SystemClock::reanchor() < 1_000_000);
    assert!(SystemClock.now().since(after) < Duration::from_secs(60));
}

#[test]
fn manual_clock_stands_until_it_is_moved() {
    let clock = ManualClock::at(Timestamp::from_secs(5));
    assert_eq!(
        (clock.now(), clock.monotonic()),
        (Timestamp::from_secs(5), Monotonic::ORIGIN)
    );
    clock.advance(Duration::from_millis(1_500));
    assert_eq!(clock.now(), Timestamp::from_millis(6_500));
    assert_eq!(clock.monotonic(), Monotonic::from_micros(1_500_000));
}

#[test]
fn wall_of_a_manual_clock_steps_without_its_monotonic_side() {
    let clock = ManualClock::default();
    clock.set_wall(Timestamp::from_secs(100));
    clock.set_wall(Timestamp::from_secs(90));
    assert_eq!(
        (clock.now(), clock.monotonic()),
        (Timestamp::from_secs(90), Monotonic::ORIGIN)
    );
    clock.advance_monotonic(Duration::from_secs(7));
    assert_eq!(clock.now(), Timestamp::from_secs(90));
    assert_eq!(clock.monotonic(), Monotonic::from_micros(7_000_000));
}

#[test]
fn manual_clock_ends_at_the_last_instant_that_counts() {
    let clock = ManualClock::at(Timestamp::MAX - Duration::from_secs(1));
    clock.advance(Duration::MAX);
    assert_eq!(clock.now(), Timestamp::MAX);
    assert_eq!(clock.monotonic(), Monotonic::from_micros(u64::MAX));
}

#[test]
fn cached_clock_stands_until_it_is_refreshed() {
    let source = Arc::new(ManualClock::at(Timestamp::from_secs(7)));
    let cached = CachedClock::of(source.clone());
    let clone = cached.clone();
    source.advance(Duration::from_secs(3));
    assert_eq!(
        (cached.now(), cached.monotonic()),
        (Timestamp::from_secs(7), Monotonic::ORIGIN)
    );
    cached.refresh();
    for clock in [&cached, &clone] {
        assert_eq!(clock.now(), Timestamp::from_secs(10));
        assert_eq!(clock.monotonic(), Monotonic::from_micros(3_000_000));
    }
    source.set_wall(Timestamp::from_secs(1));
    cached.refresh();
    assert_eq!(clone.now(), Timestamp::from_secs(1));
}

#[test]
fn cached_clock_refreshes_itself_until_its_last_clone_is_dropped() {
    let clock = CachedClock::every(Duration::from_micros(100)).unwrap();
    let clone = clock.clone();
    drop(clock);
    let start = clone.monotonic();
    while clone.monotonic() == start {
        thread::yield_now();
    }
    assert!(clone.now() <= SystemClock.now());
    assert_ne!(refreshers(), Some(0));
    drop(clone);
    let ended = (0..200_000).any(|_| {
        thread::yield_now();
        refreshers().is_none_or(|running| running == 0)
    });
    assert!(ended, "the refresher goes on");
}

/// The threads that refresh clocks, where the system lists them.
fn refreshers() -> Option<usize> {
    let threads = std::fs::read_dir("/proc/self/task").ok()?;
    let name = |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("comm"));
    let names = threads.flatten().filter_map(|thread| name(thread).ok());
    Some(
        names
            .filter(|name| name.starts_with("throttlekit-clo"))
            .count(),
    )
}

#[test]
fn reference_and_arc_of_a_clock_are_that_clock() {
    fn read(clock: impl Clock) -> (Timestamp, Monotonic) {
        (clock.now(), clock.monotonic())
    }
    let clock = Arc::new(ManualClock::at(Timestamp::from_secs(3)));
    clock.advance(Duration::from_secs(1));
    let right = (Timestamp::from_secs(4), Monotonic::from_micros(1_000_000));
    assert_eq!(read(&*clock), right);
    assert_eq!(read(clock.clone()), right);
    assert_eq!(read(&clock as &dyn Clock), right);
    let weak: Weak<_> = Arc::downgrade(&clock);
    drop(clock);
    assert!(weak.upgrade().is_none());
}

#[test]
fn a_clock_says_by_how_much_it_may_be_behind_and_so_do_those_who_share_it() {
    fn lag(clock: impl Clock) -> Duration {
        clock.lag()
    }
    assert_eq!(lag(SystemClock), Duration::ZERO);
    let cached = CachedClock::of(ManualClock::default());
    // Whoever refreshes it may be held up for any time.
    assert_eq!(lag(&cached), Duration::MAX);
    assert_eq!(lag(Arc::new(cached)), Duration::MAX);
}
