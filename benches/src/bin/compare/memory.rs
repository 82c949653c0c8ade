//! Bytes per key, all of them counted by the allocator.

use std::num::NonZeroU32;

use anyhow::Result;
use governor::Quota;
use tk_benches::{Table, name_of};
use tk_core::{FixedWindow, Gcra, RateLimiter, SlidingWindow, SlidingWindowLog, Strategy};
use tk_store_memory::MemoryStore;

use crate::{counting::bytes_kept, section::Settings};

pub(crate) fn run(settings: &Settings) -> Result<Table> {
    let mut table = Table::new("Memory", "bytes per key, all allocations counted");
    let all = if settings.quick { 100_000 } else { 1_000_000 };
    for keys in [all, all * 9 / 10, all * 8 / 10] {
        let figures = [
            (
                "ThrottleKit GCRA".to_owned(),
                of_ours(Gcra::per_minute(100)?, keys)?,
            ),
            ("governor".to_owned(), of_governor(keys)?),
        ];
        table.row(format!("{keys} keys"), figures);
    }
    let figures = [
        ("fixed window", of_ours(FixedWindow::per_minute(100)?, all)?),
        (
            "sliding window of 10",
            of_ours(SlidingWindow::per_minute(100)?, all)?,
        ),
        (
            "log with one entry",
            of_ours(SlidingWindowLog::per_minute(100)?, all)?,
        ),
    ];
    for (name, value) in figures {
        table.row(
            format!("{all} keys, {name}"),
            [("ThrottleKit".to_owned(), value)],
        );
    }
    Ok(table)
}

fn of_ours<S: Strategy>(strategy: S, keys: u64) -> Result<f64> {
    let fill = || -> Result<_> {
        let limiter = RateLimiter::new(strategy, MemoryStore::new());
        for number in 0..keys {
            let _ = limiter.check(&name_of(number))?;
        }
        Ok(limiter)
    };
    let (limiter, bytes) = bytes_kept(fill);
    anyhow::ensure!(
        limiter?.store().len() as u64 == keys,
        "no key has gone away"
    );
    Ok(bytes as f64 / keys as f64)
}

fn of_governor(keys: u64) -> Result<f64> {
    let hundred = NonZeroU32::MIN.saturating_add(99);
    let fill = || {
        let limiter = governor::DefaultKeyedRateLimiter::keyed(Quota::per_minute(hundred));
        for number in 0..keys {
            let _ = limiter.check_key(&name_of(number));
        }
        limiter
    };
    let (limiter, bytes) = bytes_kept(fill);
    anyhow::ensure!(limiter.len() as u64 == keys, "no key has gone away");
    Ok(bytes as f64 / keys as f64)
}
