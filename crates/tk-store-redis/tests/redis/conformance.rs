//! Redis decides as the rule does, field for field.

use tk_core::{FixedWindow, Gcra, SlidingWindow, SlidingWindowLog, TokenBucket};
use tk_testkit::{
    Sample,
    conformance::{self, HarnessForAll, block_on, differential},
};

use crate::support::OnCallersClock;

fn holds<'a, F: Future<Output = ()>>(
    harness: &'a OnCallersClock,
    claim: impl FnOnce(&'a OnCallersClock) -> F,
) {
    block_on(claim(harness));
    harness.server.assert_all_keys_expire();
}

#[test]
fn the_store_conforms_under_every_strategy() {
    holds(&OnCallersClock::new(), conformance::scripts);
}

#[test]
fn a_changed_strategy_meets_live_state_as_in_memory() {
    holds(&OnCallersClock::new(), conformance::changes::all);
}

#[test]
fn vectors_computed_elsewhere_agree() {
    holds(&OnCallersClock::new(), conformance::oracle::all);
}

/// 5 strategies, 100 runs each, 200 operations a run.
#[test]
fn a_hundred_thousand_random_operations_answer_as_the_rule() {
    holds(&OnCallersClock::new(), hundred_runs);
}

async fn hundred_runs<H: HarnessForAll>(harness: &H) {
    for seed in 1_000..1_100 {
        differential(harness, seed, 200, Gcra::sample).await;
        differential(harness, seed, 200, TokenBucket::sample).await;
        differential(harness, seed, 200, FixedWindow::sample).await;
        differential(harness, seed, 200, SlidingWindow::sample).await;
        differential(harness, seed, 200, SlidingWindowLog::sample).await;
    }
}
