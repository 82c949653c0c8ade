//! `cargo xtask`: the project's tasks, one word each.
//!
//! What a contributor runs by hand and what CI runs are the same commands, so that a green laptop
//! means a green CI. Workflow files and shell scripts hold no logic; it lives here, typed and tested.

#![forbid(unsafe_code)]

mod bench;
mod ci;
mod command;
mod explore;
mod machine;
mod metadata;
mod stopwatch;
mod tally;
mod test;
mod tidy;
mod verify;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's tasks")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything a change must pass: tidy, format, lints, docs, no_std proof, tests, models.
    Ci(ci::Options),
    /// All tests, after saying what this machine lacks for some of them.
    Test(test::Options),
    /// The comparison with other rate limiters, as a table with ratios.
    Bench(bench::Options),
    /// The model checks: TLC on the specifications, and their twins over the shipping code.
    Verify(verify::Options),
    /// One twin's counts, and the steps to its violation or its highest measure.
    Explore(explore::Options),
    /// The rules of the house that no compiler checks.
    Tidy(tidy::Options),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Ci(options) => ci::run(&options),
        Task::Test(options) => test::run(&options),
        Task::Bench(options) => bench::run(&options),
        Task::Verify(options) => verify::run(&options),
        Task::Explore(options) => explore::run(&options),
        Task::Tidy(options) => tidy::run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Arguments::command().debug_assert();
    }
}
