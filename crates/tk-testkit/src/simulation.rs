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

use std::ops::Range;

use tk_core::{
    ConfigError, FixedWindow, Gcra, SlidingWindow, SlidingWindowLog, Strategy, TokenBucket,
};

use self::{fleet::Fleet, trace::Trace};

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

fn live(plan: &Plan, trace: Trace) -> Result<Counts, Box<Violation>> {
    let lived = match plan.rule {
        Rule::FixedWindow => with(FixedWindow::new(plan.limit, plan.window()), plan, trace),
        Rule::SlidingWindow => with(SlidingWindow::new(plan.limit, plan.window()), plan, trace),
        Rule::SlidingWindowLog => with(
            SlidingWindowLog::new(plan.limit, plan.window()),
            plan,
            trace,
        ),
        Rule::Gcra => with(Gcra::new(plan.limit, plan.window()), plan, trace),
        Rule::TokenBucket => with(
            TokenBucket::new(plan.limit, plan.limit, plan.window()),
            plan,
            trace,
        ),
    };
    lived.unwrap_or_else(|error| Err(Violation::of_plan(plan, &error)))
}

type Lived = Result<Result<Counts, Box<Violation>>, ConfigError>;

fn with<S: Strategy>(strategy: Result<S, ConfigError>, plan: &Plan, trace: Trace) -> Lived {
    Ok(Fleet::new(plan, strategy?, trace)?.live())
}
