//! Words that have no place in the repository.
//!
//! It must stand alone: it names no machine's paths and no registry's host, since both are the
//! reader's to choose. And nothing in it is left for later in a comment that nobody will read again:
//! what is not done is said in the docs, and what must not be skipped is not ignored.

use super::house::{File, House};

/// A word, and why it is not here. Each is spelt in two parts so that this table may stand here too.
const WORDS: &[(&str, &str)] = &[
    (
        concat!("../sha", "red"),
        "a place outside of the repository",
    ),
    (concat!("/wo", "rk/"), "a path of one machine"),
    (concat!("/ro", "ot/"), "a path of one machine"),
    (concat!("/Us", "ers/"), "a path of one machine"),
    (
        concat!("crates", ".io"),
        "a registry's host; name the package",
    ),
    (
        concat!("pypi", ".org"),
        "a registry's host; name the package",
    ),
    (
        concat!("python", "hosted.org"),
        "a registry's host; name the package",
    ),
    (concat!("npmjs", "."), "a registry's host; name the package"),
    (
        concat!("deb.", "debian.org"),
        "a registry's host; name the package",
    ),
    (concat!("TO", "DO"), "say it in the docs, or do it"),
    (concat!("FIX", "ME"), "say it in the docs, or fix it"),
    (
        concat!("#[ign", "ore"),
        "a test that does not run claims what nobody checked",
    ),
];

pub(super) fn findings(house: &House) -> Vec<String> {
    house
        .files
        .iter()
        .filter(|file| is_ours(file))
        .flat_map(findings_in)
        .collect()
}

/// Lock files and logs are written by programs, in their words.
fn is_ours(file: &File) -> bool {
    let is_written = file.path.ends_with(".lock") || file.path.ends_with(".log");
    !is_written
}

fn findings_in(file: &File) -> Vec<String> {
    let findings = file.lines().flat_map(|(number, line)| {
        // A module may live in a directory of any name.
        let is_module_path = line.trim_start().starts_with("#[path");
        let words = WORDS
            .iter()
            .filter(move |(word, _)| line.contains(word) && !is_module_path);
        words.map(move |(word, why)| format!("{}:{number}: {word}: {why}", file.path))
    });
    findings.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forbidden_word_is_found_where_it_stands() {
        let text = concat!("fine\n// TO", "DO: later\n");
        let house = House::of(&[("a.rs", text), ("b.lock", text)]);
        let findings = findings(&house);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].starts_with("a.rs:2: "), "{findings:?}");
    }
}
