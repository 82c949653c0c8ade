//! `cargo xtask ci`: everything that a change must pass.
//!
//! The cheap and likely failures come first. A failed step does not stop the others, so that one run
//! tells all that is wrong; only a machine that lacks something stops at once, since half a CI run
//! that looks green is worse than none.

mod bare;
mod features;
mod lints;
mod loom;
mod part;
pub(crate) mod tests;

use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;

use crate::machine::{self, Setup};
use crate::stopwatch::{self, Stopwatch};
use crate::tally::Tally;
use part::Part;

#[derive(Args)]
pub(crate) struct Options {
    /// Only these parts [default: all, in this order].
    #[arg(value_enum)]
    parts: Vec<Part>,
    /// Get what the machine lacks through the system's package manager.
    #[arg(long)]
    setup: bool,
}

struct Outcome {
    part: Part,
    time: Duration,
    result: Result<()>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let parts = if options.parts.is_empty() {
        Part::ALL
    } else {
        &options.parts
    };
    if options.setup || parts.iter().any(|part| part.needs_more_than_rust()) {
        let missing = machine::check(Setup::from_flag(options.setup))?;
        if !missing.is_empty() {
            bail!("the machine lacks something that CI must not skip");
        }
    }
    let mut tally = Tally::default();
    let mut outcomes = Vec::new();
    for &part in parts {
        eprintln!("\n━━ {part}: {}", part.claim());
        let watch = Stopwatch::start();
        let result = part.run(&mut tally);
        let outcome = Outcome {
            part,
            time: watch.elapsed(),
            result,
        };
        eprintln!("━━ {}", line_of(&outcome));
        outcomes.push(outcome);
    }
    println!("\n━━ summary");
    for outcome in &outcomes {
        println!("{}", line_of(outcome));
    }
    close(&tally);
    let failed: Vec<_> = outcomes
        .iter()
        .filter(|outcome| outcome.result.is_err())
        .collect();
    if let [first, ..] = failed.as_slice() {
        let count = failed.len();
        bail!(
            "{count} of {} parts failed, first: cargo xtask ci {}",
            parts.len(),
            first.part
        );
    }
    Ok(())
}

fn line_of(Outcome { part, time, result }: &Outcome) -> String {
    let time = stopwatch::shown(*time);
    match result {
        Ok(()) => format!("{part}: ok in {time}"),
        Err(error) => format!("{part}: FAILED in {time}: {error:#}"),
    }
}

/// The test runners' closing lines, if any test ran.
pub(crate) fn close(tally: &Tally) {
    if tally.ran() > 0 {
        println!("\n{}", tally.shown());
    }
}
