//! Format, lints and documentation: what cargo itself can check.

use anyhow::Result;

use crate::command;

pub(super) fn fmt() -> Result<()> {
    command::run(command::cargo().args(["fmt", "--all", "--check"]))
}

pub(super) fn clippy() -> Result<()> {
    let what = [
        "--keep-going",
        "--workspace",
        "--all-targets",
        "--all-features",
    ];
    // A function of more than 70 lines is two ideas, or a list that says why it is one.
    let lints = ["-D", "warnings", "-D", "clippy::too_many_lines"];
    command::run(
        command::cargo()
            .arg("clippy")
            .args(what)
            .arg("--")
            .args(lints),
    )
}

pub(super) fn docs() -> Result<()> {
    command::run(
        command::cargo()
            .args([
                "doc",
                "--keep-going",
                "--workspace",
                "--all-features",
                "--no-deps",
            ])
            .env("RUSTDOCFLAGS", "-D warnings"),
    )
}
