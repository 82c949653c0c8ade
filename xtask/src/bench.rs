//! `cargo xtask bench`: the comparison with other rate limiters.
//!
//! The benches package measures and decides what a fair comparison is; this only runs it and shows
//! the table that it wrote.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::{command, workspace};

#[derive(Args)]
pub(crate) struct Options {
    /// Where the figures go for programs to read [default: bench.json in the target directory].
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Where the table goes for people to read [default: bench.md in the target directory].
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// More arguments for the comparison itself.
    #[arg(last = true)]
    rest: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    // The comparison runs at the root of the workspace; paths given to us mean the caller's place.
    let place = |given: &Option<PathBuf>, default: &str| match given {
        Some(path) => std::path::absolute(path),
        None => Ok(workspace::target().join(default)),
    };
    let json = place(&options.json, "bench.json")?;
    let markdown = place(&options.markdown, "bench.md")?;
    command::run(
        command::cargo()
            .args([
                "run",
                "--release",
                "--package",
                "tk-benches",
                "--bin",
                "compare",
                "--",
            ])
            .arg("--json")
            .arg(&json)
            .arg("--markdown")
            .arg(&markdown)
            .args(&options.rest),
    )?;
    println!("\n{}", workspace::read(&markdown)?);
    println!("Written: {} and {}.", json.display(), markdown.display());
    Ok(())
}
