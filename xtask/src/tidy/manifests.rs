//! What a crate shows to the world, and the lints that it is held to.
//!
//! A published crate without a description or licence is refused by registries at the worst moment,
//! and a crate that forgets to inherit the lints is checked by none of them.

use super::house::House;
use crate::metadata::Package;
use crate::workspace;

pub(super) fn findings(house: &House) -> Vec<String> {
    let mut findings = Vec::new();
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        if house.file(licence).is_none() {
            findings.push(format!("{licence} is missing"));
        }
    }
    for package in &house.metadata.packages {
        findings.extend(findings_in(house, package));
    }
    findings
}

fn findings_in(house: &House, package: &Package) -> Vec<String> {
    let manifest_path = workspace::shown(&package.manifest_path);
    let manifest = house
        .file(&manifest_path)
        .map_or("", |file| file.text.as_str());
    let directory = manifest_path.trim_end_matches("Cargo.toml");
    let is_library = directory.starts_with("crates/");
    let root = house.file(&format!("{directory}src/lib.rs"));
    let has = |needle| root.is_some_and(|file| file.text.contains(needle));

    let rules = [
        (
            is_library && package.description.is_none(),
            "has no description",
        ),
        (package.license.is_none(), "has no licence"),
        (
            !manifest.contains("[lints]\nworkspace = true"),
            "does not inherit the lints",
        ),
        (
            package.is_published() != is_library,
            "is published, or not, against where it stands",
        ),
        (is_library && !has("//! "), "has no crate documentation"),
        (
            is_library && !has("unsafe_code)]"),
            "does not say what it holds of unsafe code",
        ),
    ];
    let broken = rules.into_iter().filter(|(is_broken, _)| *is_broken);
    broken
        .map(|(_, what)| format!("{} {what}", package.name))
        .collect()
}
