//! All tests and documented examples, by nextest where it is installed.

use anyhow::Result;

use crate::command;
use crate::machine::Need;
use crate::metadata::{Dependency, Metadata, Package};
use crate::tally::Tally;

/// What to do about the packages whose tests start Redis servers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Redis {
    Tried,
    LeftOut,
}

impl Redis {
    pub(crate) fn from_missing(missing: &[&Need]) -> Self {
        let is_missing = missing.iter().any(|need| need.what == "redis-server");
        if is_missing {
            Self::LeftOut
        } else {
            Self::Tried
        }
    }
}

pub(crate) fn run(tally: &mut Tally, redis: Redis) -> Result<()> {
    if !command::exists("cargo-nextest") {
        return run_one(tally, redis, &["test", "--no-fail-fast"]);
    }
    let tests = run_one(tally, redis, &["nextest", "run", "--no-fail-fast"]);
    // It runs no examples in docs; they are worth running even when a test has failed.
    let examples = run_one(tally, redis, &["test", "--doc"]);
    tests.and(examples)
}

fn run_one(tally: &mut Tally, redis: Redis, arguments: &[&str]) -> Result<()> {
    let mut command = command::cargo();
    command
        .args(arguments)
        .args(["--workspace", "--all-features", command::colour()]);
    if redis == Redis::LeftOut {
        for package in Metadata::load()?
            .packages
            .iter()
            .filter(|one| starts_servers(one))
        {
            command.arg(format!("--exclude={}", package.name));
        }
    }
    command::run_watched(&mut command, |line| tally.watch(line))
}

/// Its tests ask the test kit for real servers.
fn starts_servers(package: &Package) -> bool {
    let asks = |one: &Dependency| {
        one.name == "tk-testkit" && one.features.iter().any(|feature| feature == "servers")
    };
    package.name == "tk-testkit" || package.dependencies.iter().any(asks)
}
