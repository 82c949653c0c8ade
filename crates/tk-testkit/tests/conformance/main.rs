//! The suite passes a store that is right, and fails those that are wrong in the ways stores have been.

#![expect(clippy::unwrap_used, reason = "a test ends where a lock is poisoned")]

mod racy;
mod sloppy;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use tk_core::{FixedWindow, Gcra, ManualClock, SlidingWindowLog, Strategy};
use tk_testkit::{
    ReferenceStore, Sample,
    conformance::{self, Harness, block_on},
};

use racy::Racy;
use sloppy::{Fault, Sloppy};

struct Right;

impl<S: Strategy> Harness<S> for Right {
    type Store = ReferenceStore<S, Arc<ManualClock>>;

    async fn store(&self, clock: Arc<ManualClock>) -> Self::Store {
        ReferenceStore::new(clock)
    }
}

struct Wrong(Fault);

impl<S: Strategy> Harness<S> for Wrong {
    type Store = Sloppy<S>;

    async fn store(&self, clock: Arc<ManualClock>) -> Sloppy<S> {
        Sloppy::new(self.0, clock)
    }
}

struct ReadsThenWrites;

impl<S: Strategy> Harness<S> for ReadsThenWrites {
    type Store = Racy<S>;

    async fn store(&self, clock: Arc<ManualClock>) -> Racy<S> {
        Racy::new(clock)
    }
}

#[test]
fn a_right_store_conforms() {
    let gcra = Gcra::per_second(10).unwrap();
    block_on(conformance::conforms_under(&Right, &gcra));
}

#[test]
fn a_store_that_commits_no_fault_conforms() {
    block_on(conformance::conforms(&Wrong(Fault::None)));
}

#[test]
fn a_store_that_forgets_fresh_keys_conforms() {
    block_on(conformance::conforms(&Wrong(Fault::ForgetsFreshKeys)));
}

/// What the suite says of a store that it must not pass.
fn caught(run: impl Future<Output = ()>) -> String {
    let run = catch_unwind(AssertUnwindSafe(|| block_on(run)));
    let Err(panic) = run else {
        panic!("the suite passed a store that is wrong");
    };
    panic.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn a_store_that_reads_then_writes_is_caught_by_racing_it() {
    let gcra = Gcra::per_second(10).unwrap();
    let said = caught(conformance::races::all(&ReadsThenWrites, &gcra));
    assert!(said.contains("concurrent"), "{said}");
}

#[test]
fn each_fault_is_caught() {
    for fault in Fault::ALL {
        let said = caught(conformance::conforms(&Wrong(fault)));
        println!("{fault:?}: {said}");
    }
}

#[test]
fn random_operations_alone_catch_faults_but_those_of_keys() {
    let missed: Vec<_> = Fault::ALL
        .into_iter()
        .filter(|&fault| catch_unwind(|| block_on(any_operations(&Wrong(fault)))).is_ok())
        .collect();
    assert_eq!(missed, [Fault::EmptyKeyIsAKey, Fault::FieldsRunTogether]);
}

async fn any_operations(harness: &Wrong) {
    for seed in 0..20 {
        conformance::differential(harness, seed, 200, Gcra::sample).await;
        conformance::differential(harness, seed, 200, FixedWindow::sample).await;
        conformance::differential(harness, seed, 200, SlidingWindowLog::sample).await;
    }
}
