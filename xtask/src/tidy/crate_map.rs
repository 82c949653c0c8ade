//! docs/ARCHITECTURE.md names every package of the workspace, and none that is not there.
//!
//! A map that lacks a street is used once.

use super::house::House;
use super::markdown;

const MAP: &str = "docs/ARCHITECTURE.md";

pub(super) fn findings(house: &House) -> Vec<String> {
    let Some(map) = house.file(MAP) else {
        return vec![format!("{MAP} is missing")];
    };
    let names: Vec<_> = house
        .metadata
        .packages
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    compare(&map.text, &names)
}

fn compare(map: &str, packages: &[&str]) -> Vec<String> {
    let mut named = Vec::new();
    for (_, code) in markdown::code(map) {
        let words = code.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')));
        named.extend(words.map(str::to_owned));
    }
    let absent = packages
        .iter()
        .filter(|package| named.iter().all(|name| name != *package));
    let absent = absent.map(|package| format!("{MAP} does not name {package}"));
    let mut unknown: Vec<_> = named
        .iter()
        .filter(|name| name.starts_with("tk-") && !packages.contains(&name.as_str()))
        .collect();
    unknown.sort();
    unknown.dedup();
    let unknown = unknown
        .into_iter()
        .map(|name| format!("{MAP} names {name}, which is not here"));
    absent.chain(unknown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_and_the_workspace_must_agree() {
        let map = "`tk-core` below,\n```\ntk-gone  xtask/\n```\n";
        assert!(compare(map, &["tk-core", "xtask", "tk-gone"]).is_empty());
        let findings = compare(map, &["tk-core", "xtask", "tk-new"]);
        assert_eq!(findings.len(), 2, "{findings:?}");
    }
}
