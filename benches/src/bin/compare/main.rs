//! Compares ThrottleKit with its peers, side by side, in one run.
//!
//! `cargo run --release -p tk-benches --bin compare -- --help`

#![deny(unsafe_code)]

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::{Parser, ValueEnum as _};
use tk_benches::{Harness, Report};

mod batch;
mod counting;
mod fair;
mod keyed;
mod memory;
mod outage;
mod pauses;
mod redis;
mod section;
mod two_tier;
mod unkeyed;

use section::{Section, Settings};

#[derive(Parser)]
struct Options {
    /// Where the figures go for programs to read.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Where the tables go for people to read.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Fewer and shorter blocks: to see that all works, not to quote.
    #[arg(long)]
    quick: bool,
    /// Only these sections; all by default.
    #[arg(long, value_name = "SECTION", value_delimiter = ',')]
    only: Vec<Section>,
    /// Only rows whose name contains this.
    #[arg(long, value_name = "TEXT", default_value = "")]
    rows: String,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let sections = match options.only.as_slice() {
        [] => Section::value_variants(),
        some => some,
    };
    let settings = Settings {
        quick: options.quick,
        rows: options.rows,
    };
    let mut harness = Harness::new();
    let mut report = Report::default();
    for section in sections {
        section.run(&settings, &mut harness, &mut report)?;
    }
    let (repeated, kept) = harness.disturbances();
    report.notes.push(format!(
        "Blocks repeated because the machine was disturbed: {repeated}; kept all the same: {kept}."
    ));
    if let Some(file) = &options.json {
        let text = serde_json::to_string_pretty(&report)?;
        std::fs::write(file, text).with_context(|| format!("writing {}", file.display()))?;
    }
    let markdown = report.markdown();
    match &options.markdown {
        Some(file) => {
            std::fs::write(file, markdown).with_context(|| format!("writing {}", file.display()))?
        }
        None => println!("{markdown}"),
    }
    Ok(())
}
