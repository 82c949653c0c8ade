//! Each published crate with no feature, and with each feature alone.
//!
//! Features unify over a build, so a crate that forgets to ask for what it uses compiles in this
//! workspace and breaks at its first user. Here every crate is built as if by such a user.

use anyhow::Result;

use crate::command;
use crate::metadata::Metadata;

pub(super) fn run() -> Result<()> {
    let metadata = Metadata::load()?;
    for package in metadata
        .packages
        .iter()
        .filter(|package| package.is_published())
    {
        check(&package.name, None)?;
        for feature in package.features.keys() {
            check(&package.name, Some(feature))?;
        }
    }
    Ok(())
}

/// Clippy rather than check: its flags reach our crates only, so dependencies are not built anew.
fn check(package: &str, feature: Option<&str>) -> Result<()> {
    let mut command = command::cargo();
    command.args([
        "clippy",
        "--quiet",
        "--no-default-features",
        "--package",
        package,
    ]);
    if let Some(feature) = feature {
        command.args(["--features", feature]);
    }
    command::run(command.args(["--", "-D", "warnings"]))
}
