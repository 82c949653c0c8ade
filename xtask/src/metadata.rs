//! What cargo says about the workspace: its packages, their features and dependencies.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::command;

#[derive(Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
}

#[derive(Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) description: Option<String>,
    pub(crate) license: Option<String>,
    /// `Some([])` says `publish = false`.
    pub(crate) publish: Option<Vec<String>>,
    pub(crate) manifest_path: std::path::PathBuf,
    pub(crate) features: BTreeMap<String, Vec<String>>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) targets: Vec<Target>,
}

#[derive(Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `None` for an ordinary dependency, else `dev` or `build`.
    pub(crate) kind: Option<String>,
    pub(crate) optional: bool,
    #[serde(default)]
    pub(crate) features: Vec<String>,
    /// The platform or `cfg` that it is for.
    pub(crate) target: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: Vec<String>,
}

impl Metadata {
    /// The packages of the workspace.
    pub(crate) fn load() -> Result<Self> {
        Self::ask(&["--no-deps"])
    }

    /// They, and all that they depend on.
    pub(crate) fn load_with_dependencies() -> Result<Self> {
        Self::ask(&[])
    }

    fn ask(arguments: &[&str]) -> Result<Self> {
        let output = command::cargo()
            .args(["metadata", "--format-version=1"])
            .args(arguments)
            .output()
            .context("cannot start `cargo metadata`")?;
        if !output.status.success() {
            let complaint = String::from_utf8_lossy(&output.stderr);
            bail!("`cargo metadata` failed: {complaint}");
        }
        serde_json::from_slice(&output.stdout).context("`cargo metadata` printed something else")
    }

    pub(crate) fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }
}

impl Package {
    pub(crate) fn is_published(&self) -> bool {
        self.publish
            .as_ref()
            .is_none_or(|registries| !registries.is_empty())
    }

    pub(crate) fn has_binary(&self, name: &str) -> bool {
        self.targets_of("bin").any(|target| target.name == name)
    }

    pub(crate) fn targets_of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Target> {
        self.targets
            .iter()
            .filter(move |target| target.kind.iter().any(|one| one == kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_tells_about_this_workspace() {
        let metadata = Metadata::load().expect("cargo metadata works here");
        let xtask = metadata
            .package("xtask")
            .expect("this package is in the workspace");
        assert!(!xtask.is_published());
        assert!(xtask.has_binary("xtask"));
    }
}
