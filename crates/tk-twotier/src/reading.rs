//! The time, for those who cannot fail.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tk_core::{Clock, Monotonic};

/// What `clock` reads; the end of time if it panics, when whatever can end has ended.
///
/// For what is dropped with requests that wait for it: they must be told, and a second panic while the first is under way, which
/// may be this clock's, would end the process.
pub(crate) fn now_or_the_end(clock: &impl Clock) -> Monotonic {
    let now = catch_unwind(AssertUnwindSafe(|| clock.monotonic()));
    now.unwrap_or(Monotonic::from_micros(u64::MAX))
}
