//! Loom tests: every package that depends on loom under `cfg(loom)`.
//!
//! The convention that makes them findable: they are integration tests in `tests/loom*.rs`, or unit
//! tests whose path contains `loom`. Everything else in such a package is left out, since loom's
//! types panic outside of a model.

use std::env;

use anyhow::{Result, bail};

use crate::metadata::{Metadata, Package, Target};
use crate::tally::Tally;
use crate::{command, workspace};

pub(super) fn run(tally: &mut Tally) -> Result<()> {
    let metadata = Metadata::load()?;
    for package in metadata
        .packages
        .iter()
        .filter(|package| uses_loom(package))
    {
        let before = tally.ran();
        if package.targets_of("lib").next().is_some() {
            test(tally, &package.name, &["--lib", "loom"])?;
        }
        for target in loom_tests(package) {
            test(tally, &package.name, &["--test", &target.name])?;
        }
        if tally.ran() == before {
            bail!(
                "{} depends on loom, and no loom test of it was found",
                package.name
            );
        }
    }
    Ok(())
}

fn uses_loom(package: &Package) -> bool {
    let is_for_loom = |target: &Option<String>| target.as_deref() == Some("cfg(loom)");
    let mut dependencies = package.dependencies.iter();
    dependencies.any(|one| one.name == "loom" && is_for_loom(&one.target))
}

fn loom_tests(package: &Package) -> impl Iterator<Item = &Target> {
    let tests = package.targets_of("test");
    tests.filter(|target| target.name.starts_with("loom"))
}

/// In a target directory of its own, since the flag would make cargo build everything anew.
///
/// Optimised, since loom runs a test many thousand times, but with the assertions of a debug build.
fn test(tally: &mut Tally, package: &str, what: &[&str]) -> Result<()> {
    let mut command = command::cargo();
    command
        .args(["test", "--package", package, command::colour()])
        .args(what)
        .env("CARGO_TARGET_DIR", workspace::target().join("loom"))
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "2")
        .env("RUSTFLAGS", "--cfg loom");
    if env::var_os("LOOM_MAX_PREEMPTIONS").is_none() {
        // Three preemptions find nearly all bugs that exist; without a bound some models never end.
        command.env("LOOM_MAX_PREEMPTIONS", "3");
    }
    command::run_watched(&mut command, |line| tally.watch(line))
}
