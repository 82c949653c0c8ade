//! `cargo xtask test`: all tests, after saying what the machine lacks for some of them.

use anyhow::Result;
use clap::Args;

use crate::ci::{self, tests};
use crate::machine::{self, Setup};
use crate::tally::Tally;

#[derive(Args)]
pub(crate) struct Options {
    /// Get what is missing through the system's package manager.
    #[arg(long)]
    setup: bool,
    /// Only say what is missing, run nothing.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let missing = machine::check(Setup::from_flag(options.setup))?;
    if options.check {
        return Ok(());
    }
    let mut tally = Tally::default();
    let result = tests::run(&mut tally, tests::Redis::from_missing(&missing));
    ci::close(&tally);
    for need in &missing {
        println!("Not tried for want of {}: {}.", need.what, need.purpose);
    }
    result
}
