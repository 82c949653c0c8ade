//! Several checks at once: one clock reading, and cache misses that overlap.

use std::{hint::black_box, num::NonZeroU32};

use anyhow::Result;
use governor::Quota;
use spinning_top::Spinlock;
use tk_benches::{Contender, FlatTable, Harness, Spread, Table, Traffic, name_of};
use tk_core::{Gcra, QuantaClock, RateLimiter};
use tk_store_memory::MemoryStore;

use crate::section::Settings;

const KEYS: u64 = 1_000_000;
const BATCH: usize = 16;

pub(crate) fn run(settings: &Settings, harness: &mut Harness) -> Result<Table> {
    let mut table = Table::new("Batches", "nanoseconds per key");
    let (hundred, most) = (
        NonZeroU32::MIN.saturating_add(99),
        NonZeroU32::MIN.saturating_add(99_999_999),
    );
    let strategy = Gcra::per_hour(hundred.get().into())?.burst(most.get().into())?;
    let quota = Quota::per_hour(hundred).allow_burst(most);
    let ours = RateLimiter::new(strategy, MemoryStore::new());
    let theirs = governor::DefaultKeyedRateLimiter::keyed(quota);
    let mut flat = FlatTable::new(KEYS as usize, strategy, QuantaClock::new());
    for number in 0..KEYS {
        let name = name_of(number);
        anyhow::ensure!(ours.check(&name)?.allowed, "a new key is admitted");
        anyhow::ensure!(theirs.check_key(&name).is_ok(), "a new key is admitted");
        anyhow::ensure!(flat.check(&name).allowed, "a new key is admitted");
    }
    let flat = Spinlock::new(flat);
    let traffic = Traffic::of(Spread::Uniform { keys: KEYS });
    let calls: Vec<(&str, u64)> = traffic
        .stretch()
        .iter()
        .map(|key| (key.as_str(), 1))
        .collect();
    let calls = calls.as_slice();
    let batches = |thread: usize, count: usize| {
        let (start, all) = (traffic.advance(thread, count) / BATCH, calls.len() / BATCH);
        (start..start + count / BATCH).map(move |at| &calls[at % all * BATCH..][..BATCH])
    };
    for threads in [1, 2] {
        let mut contenders = vec![
            Contender::new("ThrottleKit check_many", |thread, count| {
                for batch in batches(thread, count) {
                    black_box(ours.check_many(batch));
                }
            }),
            Contender::new("ThrottleKit check", |thread, count| {
                for key in traffic.requests(thread, count) {
                    black_box(&ours.check(key.as_str()));
                }
            }),
            Contender::new("governor", |thread, count| {
                for key in traffic.requests(thread, count) {
                    black_box(&theirs.check_key(key));
                }
            }),
        ];
        if threads == 1 {
            contenders.push(Contender::new("bare flat table", |thread, count| {
                let mut flat = flat.lock();
                for batch in batches(thread, count) {
                    black_box(flat.check_many(batch.iter().map(|(key, _)| *key)));
                }
            }));
        }
        let figures = harness.compare(settings.plan(threads, 48_000), &contenders);
        let names = contenders.iter().map(|one| one.name().to_owned());
        let plural = if threads == 1 { "" } else { "s" };
        let name = format!("1M keys uniform, batches of {BATCH}, {threads} thread{plural}");
        table.row(name, names.zip(figures));
    }
    Ok(table)
}
