//! All tests and documented examples, by nextest where it is installed.

use anyhow::Result;

use crate::command;
use crate::machine::Need;
use crate::tally::Tally;

/// Tests that need a server skip themselves without one, and fail if this variable is set.
const REQUIRE_REDIS: &str = "THROTTLEKIT_REQUIRE_REDIS";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Redis {
    Required,
    MayBeMissing,
}

impl Redis {
    pub(crate) fn from_missing(missing: &[&Need]) -> Self {
        let is_missing = missing.iter().any(|need| need.what == "redis-server");
        if is_missing {
            Self::MayBeMissing
        } else {
            Self::Required
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
    if redis == Redis::Required {
        command.env(REQUIRE_REDIS, "1");
    }
    command::run_watched(&mut command, |line| tally.watch(line))
}
