//! One operation at a time, for watching a change: `cargo bench -p tk-benches`.
//!
//! For figures to quote there is the comparison: `cargo run --release -p tk-benches --bin compare`.

use divan::{Bencher, black_box};
use tk_benches::{Spread, Traffic, name_of};
use tk_core::{
    CachedClock, Fingerprint, FixedWindow, Gcra, SlidingWindow, SlidingWindowLog, Strategy,
    SyncStore, SystemClock,
};
use tk_store_memory::MemoryStore;

fn main() {
    divan::main();
}

type Cached = CachedClock<SystemClock>;

/// A store that knows `keys` keys, on a clock that stands still.
fn filled<S: Strategy>(strategy: &S, keys: u64) -> MemoryStore<S, Cached> {
    let store = MemoryStore::with_clock(CachedClock::of(SystemClock));
    for number in 0..keys {
        let _ = store.check_sync(strategy, name_of(number).as_str(), 1);
    }
    store
}

fn check<S: Strategy>(bencher: Bencher<'_, '_>, strategy: Option<S>, keys: u64) {
    let Some(strategy) = strategy else {
        return;
    };
    let store = filled(&strategy, keys);
    let traffic = Traffic::of(Spread::Uniform { keys });
    let mut requests = traffic.stretch().iter().cycle();
    bencher.bench_local(|| {
        let key = requests.next().map_or("", String::as_str);
        store.check_sync(&strategy, black_box(key), 1).is_ok()
    });
}

const KEYS: [u64; 3] = [1, 100_000, 1_000_000];

#[divan::bench(args = KEYS)]
fn gcra(bencher: Bencher<'_, '_>, keys: u64) {
    check(bencher, Gcra::per_hour(100).ok(), keys);
}

#[divan::bench(args = KEYS)]
fn fixed_window(bencher: Bencher<'_, '_>, keys: u64) {
    check(bencher, FixedWindow::per_day(1_000_000).ok(), keys);
}

#[divan::bench(args = [1, 100_000])]
fn sliding_window(bencher: Bencher<'_, '_>, keys: u64) {
    check(bencher, SlidingWindow::per_day(1_000_000).ok(), keys);
}

#[divan::bench(args = [1, 100_000])]
fn sliding_window_log(bencher: Bencher<'_, '_>, keys: u64) {
    check(bencher, SlidingWindowLog::per_day(1_000_000).ok(), keys);
}

#[divan::bench]
fn fingerprint(bencher: Bencher<'_, '_>) {
    let hash = [ahash::RandomState::new(), ahash::RandomState::new()];
    bencher.bench_local(|| Fingerprint::of(black_box("user0000001"), &hash));
}

#[divan::bench]
fn system_clock(bencher: Bencher<'_, '_>) {
    bencher.bench_local(|| tk_core::Clock::now(&SystemClock));
}
