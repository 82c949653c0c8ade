//! Every path that a page names is there.
//!
//! Pages outlive files; a reader who is sent to a file that moved stops reading.

use super::house::{File, House};
use super::markdown;

/// Paths that a page may name begin with one of these.
const PLACES: &[&str] = &["crates/", "spec/", "xtask/", "benches/", "docs/"];

pub(super) fn findings(house: &House) -> Vec<String> {
    house
        .ending(".md")
        .flat_map(|page| findings_in(house, page))
        .collect()
}

fn findings_in(house: &House, page: &File) -> Vec<String> {
    let mut findings = Vec::new();
    for (number, code) in markdown::code(&page.text) {
        for word in code.split(|c: char| c.is_whitespace() || "(),;\"'│".contains(c)) {
            let path = word.trim_end_matches(['.', ':', '/']);
            if is_path(word) && !exists(house, path) {
                findings.push(format!("{}:{number}: {path} is not there", page.path));
            }
        }
    }
    findings
}

/// Patterns and placeholders are not paths.
fn is_path(word: &str) -> bool {
    let is_plain = !word.contains(['*', '{', '<', '$', '…', '=', '|']) && !word.contains("..");
    is_plain && PLACES.iter().any(|place| word.starts_with(place))
}

fn exists(house: &House, path: &str) -> bool {
    let below = format!("{path}/");
    let is_it = |file: &File| file.path == path || file.path.starts_with(&below);
    house.files.iter().any(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_are_not_there_are_found() {
        let page = "`crates/a/src/lib.rs`, `crates/a/`, `crates/*/b.rs`, and `crates/gone.rs`.\n";
        let house = House::of(&[("a.md", page), ("crates/a/src/lib.rs", "")]);
        assert_eq!(findings(&house), ["a.md:1: crates/gone.rs is not there"]);
    }
}
