//! The proof that tk-core needs no std: programs that cannot hold std run its decisions.
//!
//! `#![no_std]` on the crate proves little, since a feature or a dependency may bring std in unseen.
//! Building for a bare target proves it, but wants a toolchain that many machines do not have. Here
//! small programs define their own panic handler and, with alloc, their own allocator; std defines
//! the same two, so a build that links std stops with a duplicate lang item. The programs are then
//! run. And since a proof that cannot fail proves nothing, the same build with tk-core's `std`
//! feature is tried too, and must fail for that reason.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::{command, workspace};

/// What the compiler says when std and the program both define the panic handler.
const STD_IS_LINKED: &str = "duplicate lang item";

pub(super) fn run() -> Result<()> {
    let without_alloc = build("no_alloc", None)?;
    command::run(&mut Command::new(without_alloc?))?;
    let with_alloc = build("with_alloc", Some("alloc"))?;
    command::run(&mut Command::new(with_alloc?))?;
    refuted_by_std()
}

/// Builds with std on purpose and succeeds if that cannot be built.
fn refuted_by_std() -> Result<()> {
    match build("no_alloc", Some("std"))? {
        Ok(_) => bail!("the no_std proof is void: a program that links std was built"),
        Err(error) if error.to_string().contains(STD_IS_LINKED) => Ok(()),
        Err(error) => Err(error.context("expected a duplicate lang item and got something else")),
    }
}

/// The program's path, or in the inner result why the compiler refused it.
fn build(program: &str, feature: Option<&str>) -> Result<Result<PathBuf>> {
    let library = build_core(feature)?;
    let directory = library.parent().context("a library is in a directory")?;
    let dependencies = format!("dependency={}", directory.join("deps").display());
    let feature = feature.unwrap_or("none");
    let product = target().join(format!("{program}-{feature}"));
    let mut rustc = Command::new("rustc");
    rustc
        .current_dir(workspace::root())
        .args([
            "--edition=2024",
            "--crate-type=bin",
            "-Cpanic=abort",
            "-Copt-level=2",
        ])
        .arg(format!("xtask/bare/{program}.rs"))
        .arg("--extern")
        .arg(format!("tk_core={}", library.display()))
        .args(["-L", &dependencies])
        .arg("-o")
        .arg(&product);
    command::say(&rustc);
    let output = rustc.output().context("cannot start rustc")?;
    Ok(refusal(&output).map_or(Ok(product), |refusal| Err(anyhow::anyhow!(refusal))))
}

fn refusal(output: &Output) -> Option<String> {
    let failed = !output.status.success();
    failed.then(|| {
        format!(
            "rustc refused it:\n{}",
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

/// Builds tk-core alone, so that no other package's features reach it, and finds its library.
fn build_core(feature: Option<&str>) -> Result<PathBuf> {
    let mut cargo = command::cargo();
    cargo
        .args([
            "build",
            "--release",
            "--package=tk-core",
            "--lib",
            "--no-default-features",
        ])
        .args(feature.map(|feature| format!("--features={feature}")))
        .arg("--message-format=json")
        .env("CARGO_TARGET_DIR", target())
        .stderr(Stdio::inherit());
    command::say(&cargo);
    let output = cargo.output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("tk-core does not build");
    }
    library_in(&String::from_utf8_lossy(&output.stdout))
        .context("cargo did not say where it put tk-core's library")
}

fn target() -> PathBuf {
    workspace::target().join("bare")
}

#[derive(Deserialize)]
struct Artifact {
    target: Named,
    filenames: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

fn library_in(messages: &str) -> Option<PathBuf> {
    let artifacts = messages
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let mut files = artifacts
        .filter(|artifact: &Artifact| artifact.target.name == "tk_core")
        .flat_map(|artifact| artifact.filenames);
    files.find(|file| is_library(file))
}

fn is_library(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension == "rlib")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_of_std_fails_the_proof() {
        refuted_by_std().expect("a program that links std must not build");
    }

    #[test]
    fn the_library_is_found_among_cargos_messages() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","target":{"name":"thiserror"},"filenames":["a.rlib"]}"#,
            "\n",
            r#"{"reason":"compiler-artifact","target":{"name":"tk_core"},"filenames":["b.rmeta","c.rlib"]}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        assert_eq!(library_in(messages), Some(PathBuf::from("c.rlib")));
    }
}
