//! What every store must do.
//!
//! A store is run beside the rule itself (a strategy applied to states in a map), and each answer must equal the
//! rule's, field for field. The scripts in here lead both through the situations in which stores have gone wrong, and
//! [`differential`] through random ones. The claims are grouped:
//!
//! - [`charges`]: checks, peeks, denials, cost 0, refusals, resets, several checks at one instant
//! - [`keys`]: which keys are the same
//! - [`leases`]: partial grants, and what is taken back
//! - [`changes`]: another strategy on live state
//! - [`races`]: many callers at one instant
//! - [`oracle`]: decisions computed elsewhere
//!
//! What must be equal: all fields of a decision; of a grant its amount, decision, and, unless it is empty, its span and
//! the [mark](tk_core::Tag::mark) and [amount](tk_core::Tag::amount) of its tag. Incarnations are a store's own.
//! What may differ: a store may forget a key once its state equals a new one's at the largest instant that the store has seen. That
//! shows only if its clock runs backwards afterwards, or if a grant from before is handed back.
//!
//! # How to run it
//!
//! Say how to get a new store that reads a given clock, for each strategy that the store can apply. A store that
//! takes the five strategies of ThrottleKit runs [`conforms`]; a store for one strategy of one's own runs [`conforms_under`].
//!
//! ```
//! use std::sync::Arc;
//! use tk_core::{ManualClock, Strategy};
//! use tk_testkit::{ReferenceStore, conformance::{self, Harness}};
//!
//! struct Reference;
//!
//! impl<S: Strategy> Harness<S> for Reference {
//!     type Store = ReferenceStore<S, Arc<ManualClock>>;
//!
//!     async fn store(&self, clock: Arc<ManualClock>) -> Self::Store {
//!         ReferenceStore::new(clock)
//!     }
//! }
//!
//! let gcra = tk_core::Gcra::per_second(10)?;
//! conformance::block_on(conformance::conforms_under(&Reference, &gcra));
//! # Ok::<(), tk_core::ConfigError>(())
//! ```
//!
//! A test of a store is then one line, `conformance::block_on(conformance::conforms(&Reference))`, or one test per group. Inside a
//! runtime of one's own `.await` does instead of `block_on`; it must be tokio's, since [`races`] spawns tasks, and with
//! several threads, or a synchronous store will not be raced.
//!
//! [`differential`] makes 25 runs of 200 operations for each strategy; `TK_CONFORMANCE_RUNS` in the environment sets another number.

mod model;
mod twin;

pub mod changes;
pub mod charges;
pub mod keys;
pub mod leases;
pub mod oracle;
pub mod races;

mod differential;

pub use differential::{differential, runs};
pub use twin::{Answer, Held, Twin};

use std::{fmt::Debug, future::Future, sync::Arc, time::Duration};

use tk_core::{
    FixedWindow, Gcra, ManualClock, SlidingWindow, SlidingWindowLog, Store, Strategy, Timestamp,
    TokenBucket,
};

/// How the suite gets a store for strategies of type `S`.
pub trait Harness<S: Strategy>: Sync {
    /// The store.
    type Store: Store<Strategy = S>;

    /// A store whose keys have never been seen, and which reads time from `clock` alone.
    ///
    /// It may be a fresh name space in a server that all of them share.
    fn store(&self, clock: Arc<ManualClock>) -> impl Future<Output = Self::Store> + Send;
}

/// A harness for each of the five strategies; implemented for all that are one.
pub trait HarnessForAll:
    Harness<Gcra>
    + Harness<TokenBucket>
    + Harness<FixedWindow>
    + Harness<SlidingWindow>
    + Harness<SlidingWindowLog>
{
}

impl<H> HarnessForAll for H where
    H: Harness<Gcra>
        + Harness<TokenBucket>
        + Harness<FixedWindow>
        + Harness<SlidingWindow>
        + Harness<SlidingWindowLog>
{
}

/// The suite for a store that can apply all five strategies.
///
/// # Panics
///
/// If the store breaks a promise.
pub async fn conforms<H: HarnessForAll>(harness: &H) {
    scripts(harness).await;
    changes::all(harness).await;
    oracle::all(harness).await;
    differential::all(harness).await;
}

/// The scripts that any strategy can be led through, under each of the five.
///
/// # Panics
///
/// If the store breaks a promise.
pub async fn scripts<H: HarnessForAll>(harness: &H) {
    let ten_seconds = Duration::from_secs(10);
    conforms_under(harness, &fits(Gcra::new(50, ten_seconds))).await;
    conforms_under(harness, &fits(TokenBucket::new(50, 7, ten_seconds))).await;
    conforms_under(harness, &fits(FixedWindow::new(50, ten_seconds))).await;
    conforms_under(harness, &fits(SlidingWindow::new(50, ten_seconds))).await;
    conforms_under(harness, &fits(SlidingWindowLog::new(50, ten_seconds))).await;
}

/// The scripts for a store and one strategy, which may be a user's own; its capacity must be at least 8.
///
/// # Panics
///
/// If the store breaks a promise.
pub async fn conforms_under<S: Strategy + Debug, H: Harness<S>>(harness: &H, strategy: &S) {
    charges::all(harness, strategy).await;
    keys::all(harness, strategy).await;
    leases::all(harness, strategy).await;
    races::all(harness, strategy).await;
}

/// Runs a future of the suite on a runtime with four threads.
///
/// # Panics
///
/// If the runtime cannot be started, or the future panics.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build();
    match runtime {
        Ok(runtime) => runtime.block_on(future),
        Err(error) => panic!("cannot start a runtime: {error}"),
    }
}

/// An everyday instant for a script to begin at: a whole number of most windows.
const START: Timestamp = Timestamp::from_secs(1_790_000_000);

fn fits<S, E: Debug>(strategy: Result<S, E>) -> S {
    match strategy {
        Ok(strategy) => strategy,
        Err(error) => panic!("parameters of the suite are out of range: {error:?}"),
    }
}

async fn twin<S: Strategy + Debug, H: Harness<S>>(
    harness: &H,
    strategy: &S,
    claim: &str,
) -> Twin<H::Store> {
    Twin::new(harness, strategy, START, format!("{claim} ({strategy:?})")).await
}
