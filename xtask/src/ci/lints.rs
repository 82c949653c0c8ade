//! Format, lints and documentation: what cargo itself can check.

use anyhow::Result;

use crate::command;

pub(super) fn fmt() -> Result<()> {
    command::run(command::cargo().args(["fmt", "--all", "--check"]))
}

pub(super) fn clippy() -> Result<()> {
    let arguments = [
        "clippy",
        "--keep-going",
        "--workspace",
        "--all-targets",
        "--all-features",
    ];
    command::run(
        command::cargo()
            .args(arguments)
            .args(["--", "-D", "warnings"]),
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
