//! N nodes share one limit, in each mode in turn: what holds, and what does it cost?
//!
//! Each node is a task with a clock of its own: its wall is wrong by up to `--skew`, and its monotonic side runs a
//! little too fast or too slow. Demand comes in tides, which are the worst for credits that are carried over: a quiet window in which
//! each node leases and keeps what it does not need, then a flood at twice the limit.
//!
//! ```text
//! cargo run --release --example fleet --features twotier -- --nodes 8 --skew 1s
//! ```
//!
//! With the feature `redis`, `--redis URL --processes 4` spreads the nodes over processes that share a Redis:
//!
//! ```text
//! cargo run --release --example fleet --features twotier,redis -- --redis redis://127.0.0.1 --processes 4 --skew 5s
//! ```
//!
//! `--survive` lets one stop that Redis meanwhile, or kill it, or have a replica take its place.
//!
//! Units are counted in windows of the shared store's clock, at the instant when they are charged. Ends with
//! failure if any window exceeds the bound of its mode.

mod args;
#[path = "../common/chart.rs"]
mod chart;
mod clock;
mod fleet;
mod load;
mod mode;
mod node;
#[path = "../common/output.rs"]
mod output;
#[cfg(feature = "redis")]
mod processes;
mod report;
#[path = "../common/span.rs"]
mod span;
mod store;

use std::{error::Error, process::ExitCode};

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};

use crate::{args::Args, fleet::Fleet, mode::Compared, report::Report};

#[tokio::main]
async fn main() -> ExitCode {
    match run(&Args::parse()).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            output::tell("fleet", "a bound was broken");
            ExitCode::FAILURE
        }
        Err(error) => {
            output::tell("fleet", error);
            ExitCode::FAILURE
        }
    }
}

/// Whether all bounds held.
async fn run(args: &Args) -> Result<bool, Box<dyn Error>> {
    #[cfg(feature = "redis")]
    if let Some(part) = &args.part {
        return processes::child(args, part).await.map(|()| true);
    }
    let modes = args.modes();
    let bar = bar(modes.len() as u64 * args.windows());
    for &mode in &modes {
        // What one of them refuses is told before any has run.
        Fleet::new(args, mode)?;
    }
    let mut reports = Vec::new();
    for mode in modes {
        bar.set_message(mode.name());
        reports.push(live(args, mode, &bar).await?);
    }
    bar.finish_and_clear();
    report::print(args, &reports)?;
    Ok(reports.iter().all(Report::holds))
}

async fn live(args: &Args, mode: Compared, bar: &ProgressBar) -> Result<Report, Box<dyn Error>> {
    #[cfg(feature = "redis")]
    if args.redis.is_some() {
        return processes::live(args, mode, bar).await;
    }
    Fleet::new(args, mode)?.live(bar).await
}

/// A progress bar; it draws nothing unless standard error is a terminal.
fn bar(windows: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} windows, {msg}");
    ProgressBar::new(windows).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
