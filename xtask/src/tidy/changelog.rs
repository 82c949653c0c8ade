//! The version that the workspace has is a heading of CHANGELOG.md.
//!
//! A release whose changes are not written down is noticed by its users only.

use super::house::House;

pub(super) fn findings(house: &House) -> Vec<String> {
    let Some(changelog) = house.file("CHANGELOG.md") else {
        return vec!["CHANGELOG.md is missing".to_owned()];
    };
    let packages = house
        .metadata
        .packages
        .iter()
        .filter(|package| package.is_published());
    let mut versions: Vec<_> = packages.map(|package| package.version.as_str()).collect();
    versions.sort_unstable();
    versions.dedup();
    let absent = versions
        .into_iter()
        .filter(|version| !has_heading(&changelog.text, version));
    absent
        .map(|version| format!("CHANGELOG.md has no heading for {version}"))
        .collect()
}

/// `## [0.1.0] - 2026-01-31`, the form of Keep a Changelog.
fn has_heading(changelog: &str, version: &str) -> bool {
    changelog.lines().any(|line| {
        line.strip_prefix("## [")
            .and_then(|rest| rest.split_once(']'))
            .is_some_and(|(heading, _)| heading == version)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_as_a_heading_only() {
        let changelog = "# Changelog\n\n## [0.1.0] - soon\n\nNot yet 0.2.0.\n";
        assert!(has_heading(changelog, "0.1.0"));
        assert!(!has_heading(changelog, "0.2.0"));
        assert!(!has_heading(changelog, "0.1"));
    }
}
