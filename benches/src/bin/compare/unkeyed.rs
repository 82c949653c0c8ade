//! One counter. Limiters without keys are the floor for what a decision costs.

use std::{hint::black_box, num::NonZeroU32, time::Duration};

use anyhow::Result;
use governor::Quota;
use tk_benches::{Contender, Harness, Table};
use tk_core::{Gcra, RateLimiter};
use tk_store_memory::MemoryStore;

use crate::section::Settings;

pub(crate) fn run(settings: &Settings, harness: &mut Harness) -> Result<Table> {
    let mut table = Table::new("One counter", "nanoseconds per check, as a thread sees it");
    let (hundred, most) = (
        NonZeroU32::MIN.saturating_add(99),
        NonZeroU32::MIN.saturating_add(99_999_999),
    );
    let strategy = Gcra::per_hour(hundred.get().into())?.burst(most.get().into())?;
    let quota = Quota::per_hour(hundred).allow_burst(most);
    let ours = RateLimiter::new(strategy, MemoryStore::new());
    let governor = governor::DefaultDirectRateLimiter::direct(quota);
    let ratelimit = ratelimit::Ratelimiter::builder(u64::from(most.get()))
        .max_tokens(most.get().into())
        .initial_available(most.get().into())
        .build()?;
    let bucket = leaky_bucket::RateLimiter::builder()
        .max(usize::MAX / 4)
        .initial(usize::MAX / 4)
        .refill(1_000_000)
        .interval(Duration::from_millis(1))
        .build();
    for threads in [1, 2] {
        let contenders = [
            Contender::new("ThrottleKit (keyed)", |_, count| {
                for _ in 0..count {
                    black_box(&ours.check(black_box("user0000000")));
                }
            }),
            Contender::new("governor direct", |_, count| {
                for _ in 0..count {
                    black_box(&governor.check());
                }
            }),
            Contender::new("ratelimit", |_, count| {
                for _ in 0..count {
                    black_box(&ratelimit.try_wait());
                }
            }),
            Contender::new("leaky-bucket", |_, count| {
                for _ in 0..count {
                    black_box(bucket.try_acquire(1));
                }
            }),
        ];
        let figures = harness.compare(settings.plan(threads, 50_000), &contenders);
        let names = contenders.iter().map(|one| one.name().to_owned());
        let plural = if threads == 1 { "" } else { "s" };
        table.row(
            format!("allow, {threads} thread{plural}"),
            names.zip(figures),
        );
    }
    Ok(table)
}
