//! A fleet of nodes that lease from one store, under everything that can go wrong, drawn from a seed.
//!
//! The nodes' ledgers are the shipping [`LeaseLedger`](tk_twotier::LeaseLedger), and the store charges and takes back by the shipping
//! [`Grant::charge`](tk_core::Grant::charge) and [`Tag::give_back`](tk_core::Tag::give_back). The rest is simulated event by event:
//! wall clocks that are wrong and step, monotonic clocks that drift within the margin, messages that are slow, lost or
//! delivered twice, nodes that crash, a store that goes down and comes back, demand that shifts, and requests that
//! lose patience.
//!
//! Every unit is recorded at the reading of the *store's* clock at the instant when a ledger charges it, and the
//! bound is checked at each of them. A run is a function of its seed: [`run`] says which seed broke a bound, and tells the
//! story of that run, event by event.
//!
//! ```
//! use tk_testkit::simulation::{Scenario, run};
//!
//! let counts = run(7, &Scenario::default()).unwrap_or_else(|violation| panic!("{violation}"));
//! assert!(counts.admitted > 0);
//! ```

mod clocks;
mod counts;
mod demand;
mod fleet;
mod judge;
mod network;
mod node;
mod plan;
mod store;
mod timeline;
mod trace;

pub use counts::Counts;
pub use plan::{Mode, Plan, Rule, Scenario};
pub use trace::Violation;

use std::{ops::Range, sync::Arc};

use tk_core::{
    FixedWindow, Gcra, ManualClock, SlidingWindow, SlidingWindowLog, Strategy, Timestamp,
    TokenBucket,
};
use tokio::runtime::Runtime;

use self::{
    fleet::Fleet,
    store::{Real, Simulated},
    trace::Trace,
};
use crate::conformance::{Harness, HarnessForAll};

/// Lives through the run of `seed`.
///
/// # Errors
///
/// The bound that was broken, with the story of the run.
pub fn run(seed: u64, scenario: &Scenario) -> Result<Counts, Box<Violation>> {
    let plan = Plan::draw(seed, scenario);
    // Telling the story takes longer than the run, so it is told only if there is something to tell.
    match live(&plan, Trace::silent()) {
        Ok(counts) => Ok(counts),
        Err(_) => live(&plan, Trace::telling()),
    }
}

/// Lives through the runs of all `seeds`, and adds up what happened.
///
/// # Errors
///
/// The first bound that was broken.
pub fn run_all(seeds: Range<u64>, scenario: &Scenario) -> Result<Counts, Box<Violation>> {
    let mut total = Counts::default();
    for seed in seeds {
        total += run(seed, scenario)?;
    }
    Ok(total)
}

/// Lives through the run of `seed` with the key in a real store, which reads the clock of the run.
///
/// It does what [`run`] does, to the last unit, if the store does what the strategies say. A call is waited for, whatever time it takes.
///
/// # Errors
///
/// The bound that was broken, or the call that failed, with the story of the run.
///
/// # Panics
///
/// If no runtime can be started, as within another one.
pub fn run_over<H: HarnessForAll>(
    seed: u64,
    scenario: &Scenario,
    harness: &H,
) -> Result<Counts, Box<Violation>> {
    let plan = Plan::draw(seed, scenario);
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => panic!("cannot start a runtime: {error}"),
    };
    live_over(&plan, harness, &runtime)
}

/// What is to be done under the rule of a plan, with that as `$strategy`.
macro_rules! by_rule {
    ($plan:ident, $strategy:ident => $lived:expr) => {{
        let (limit, window) = ($plan.limit, $plan.window());
        let lived = match $plan.rule {
            Rule::FixedWindow => FixedWindow::new(limit, window).and_then(|$strategy| $lived),
            Rule::SlidingWindow => SlidingWindow::new(limit, window).and_then(|$strategy| $lived),
            Rule::SlidingWindowLog => {
                SlidingWindowLog::new(limit, window).and_then(|$strategy| $lived)
            }
            Rule::Gcra => Gcra::new(limit, window).and_then(|$strategy| $lived),
            Rule::TokenBucket => {
                TokenBucket::new(limit, limit, window).and_then(|$strategy| $lived)
            }
        };
        lived.unwrap_or_else(|error| Err(Violation::of_plan($plan, &error)))
    }};
}

fn live(plan: &Plan, trace: Trace) -> Result<Counts, Box<Violation>> {
    by_rule!(plan, strategy => {
        let has_edges = strategy.has_edges();
        Ok(Fleet::new(plan, has_edges, Simulated::new(strategy), trace)?.live())
    })
}

fn live_over<H: HarnessForAll>(
    plan: &Plan,
    harness: &H,
    runtime: &Runtime,
) -> Result<Counts, Box<Violation>> {
    by_rule!(plan, strategy => {
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(plan.start)));
        let store = runtime.block_on(store_of(harness, &strategy, clock.clone()));
        let has_edges = strategy.has_edges();
        let key = Real { runtime, store, strategy, clock };
        // It is told at once: a run over a real store is not repeated for the sake of its story.
        Ok(Fleet::new(plan, has_edges, key, Trace::telling())?.live())
    })
}

/// The store for a strategy, which no closure could name.
fn store_of<S: Strategy, H: Harness<S>>(
    harness: &H,
    _strategy: &S,
    clock: Arc<ManualClock>,
) -> impl Future<Output = H::Store> {
    harness.store(clock)
}
