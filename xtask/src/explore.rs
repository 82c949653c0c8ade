//! `cargo xtask explore`: one twin's counts, and a way to its violation or its highest measure.

use anyhow::Result;
use clap::Args;

use crate::command;

#[derive(Args)]
pub(crate) struct Options {
    /// The twin, as `cargo xtask verify` names it. Without one, all names are listed.
    name: Option<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut command = command::twins();
    match &options.name {
        Some(name) => command.args(["--show", name]),
        None => command.arg("--list"),
    };
    command::run(&mut command)
}
