//! Decisions computed elsewhere.

use std::fmt::Debug;

use tk_core::{Strategy, Timestamp};

use super::{Harness, HarnessForAll, Twin};
use crate::vectors::{self, AnyStrategy, Case, Expected, Op};

/// The committed vectors through stores.
///
/// Where time runs backwards, the store may have forgotten what the vectors remember, and is compared with the rule alone.
pub async fn all<H: HarnessForAll>(harness: &H) {
    let [forward, backward] = vectors::COMMITTED;
    agrees(harness, forward, true).await;
    agrees(harness, backward, false).await;
}

/// A file of vectors through stores; `exact` if time never runs backwards in it.
///
/// # Panics
///
/// If the file cannot be read, or an answer differs.
pub async fn agrees<H: HarnessForAll>(harness: &H, text: &str, exact: bool) {
    let cases = super::fits(vectors::parse(text));
    for Case { strategy, ops } in &cases {
        match super::fits(strategy.build()) {
            AnyStrategy::Gcra(strategy) => replay(harness, &strategy, ops, exact).await,
            AnyStrategy::TokenBucket(strategy) => replay(harness, &strategy, ops, exact).await,
            AnyStrategy::FixedWindow(strategy) => replay(harness, &strategy, ops, exact).await,
            AnyStrategy::SlidingWindow(strategy) => replay(harness, &strategy, ops, exact).await,
            AnyStrategy::SlidingWindowLog(strategy) => {
                replay(harness, &strategy, ops, exact).await;
            }
        }
    }
}

async fn replay<S: Strategy + Debug, H: Harness<S>>(
    harness: &H,
    strategy: &S,
    ops: &[Op],
    exact: bool,
) {
    let story = format!("vectors, {strategy:?}");
    let mut twin = Twin::new(harness, strategy, Timestamp::EPOCH, story).await;
    for op in ops {
        twin.set_now(Timestamp::from_micros(op.now));
        let answered = Expected::from(twin.decide("key", op.cost).await);
        twin.claim(
            !exact || answered == op.expect,
            format_args!("expected {:?}, answered {answered:?}", op.expect),
        );
    }
}
