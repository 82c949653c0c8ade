//! Each published crate with no feature, and with each feature alone.
//!
//! Features unify over a build, so a crate that forgets to ask for what it uses compiles in this
//! workspace and breaks at its first user. Here every crate is built as if by such a user.

use anyhow::{Result, bail};

use crate::command;
use crate::metadata::Metadata;

pub(super) fn run() -> Result<()> {
    let metadata = Metadata::load()?;
    let mut failed = Vec::new();
    for package in metadata.packages.iter().filter(|one| one.is_published()) {
        let alone = package
            .features
            .keys()
            .map(|feature| Some(feature.as_str()));
        for feature in std::iter::once(None).chain(alone) {
            if check(&package.name, feature).is_err() {
                failed.push(format!(
                    "{} with {}",
                    package.name,
                    feature.unwrap_or("none")
                ));
            }
        }
    }
    if !failed.is_empty() {
        bail!("not clean: {}", failed.join(", "));
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
