//! One budget, three plans, a skewed day: who gets what, fairly and first come first served, against the ideal?
//!
//! Enterprise tenants weigh 4, pro 2, free 1. In each of the day's windows some are quiet, some busy in bursts, and a few want more than there is;
//! the greediest are free ones. A refused request is asked again until its window's end and after.
//!
//! ```text
//! cargo run --release --example tenants --features fair -- --svg tenants.svg
//! ```
//!
//! Ends with failure if the limit was exceeded, or if the fair split served less than 99 % of what the ideal would.

#[path = "../common/chart.rs"]
mod chart;
mod day;
#[path = "../common/output.rs"]
mod output;
mod report;

use std::{error::Error, path::PathBuf, process::ExitCode};

use clap::Parser;
use throttlekit::fair::traces::{FairSplit, FirstCome, StaticReservation, run};

use crate::report::{Outcome, Split};

/// One budget, three plans, a skewed day: who gets what, fairly and first come first served, against the ideal?
#[derive(Debug, Parser)]
#[command(name = "tenants")]
struct Args {
    /// Units in each window.
    #[arg(long, default_value_t = 30_000, value_parser = clap::value_parser!(u64).range(100..=1_000_000))]
    limit: u64,
    /// Windows of the day.
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u64).range(2..=1_000))]
    windows: u64,
    /// What the day's chances are drawn from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Writes a chart of what the plans got in each window.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Prints JSON instead of a table.
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    match compare(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            output::tell("tenants", "the fair split missed its mark");
            ExitCode::FAILURE
        }
        Err(error) => {
            output::tell("tenants", error);
            ExitCode::FAILURE
        }
    }
}

/// Whether the fair split held the limit and served what the ideal would.
fn compare(args: &Args) -> Result<bool, Box<dyn Error>> {
    let day = day::skewed(args.limit, args.windows, args.seed);
    let splits = [
        Split::new("fair", run(&day, &mut FairSplit::new(&day)?)),
        Split::new("first come", run(&day, &mut FirstCome::new(&day))),
        Split::new(
            "static reservation",
            run(&day, &mut StaticReservation::new(&day)),
        ),
    ];
    let outcome = Outcome {
        limit: args.limit,
        splits,
    };
    output::print(|out| {
        if args.json {
            writeln!(out, "{:#}", outcome.json())
        } else {
            outcome.print(out)
        }
    })?;
    if let Some(file) = &args.svg {
        outcome.draw(file)?;
    }
    Ok(outcome.holds())
}
