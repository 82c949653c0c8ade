//! No source file is longer than a reader's patience.
//!
//! A file that is about one thing rarely needs more. Those that do are in the table with their lengths,
//! and may shrink but not grow; functions are held to 70 lines by clippy.

use super::house::House;

const MOST_LINES: usize = 600;

/// Longer ones, with the lines that each may have at most.
const LONGER: &[(&str, usize)] = &[];

pub(super) fn findings(house: &House) -> Vec<String> {
    let lengths = house
        .ending(".rs")
        .map(|file| (file.path.as_str(), file.lines().count()));
    let long = lengths.filter(|(path, lines)| *lines > most_for(path));
    long.map(|(path, lines)| {
        let most = most_for(path);
        format!("{path} has {lines} lines; at most {most} are read to the end")
    })
    .collect()
}

fn most_for(path: &str) -> usize {
    LONGER
        .iter()
        .find(|(long, _)| *long == path)
        .map_or(MOST_LINES, |(_, most)| *most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_too_long_files_are_found() {
        let house = House::of(&[
            ("a.rs", &"\n".repeat(MOST_LINES)),
            ("b.rs", &"\n".repeat(MOST_LINES + 1)),
            ("c.md", &"\n".repeat(MOST_LINES + 1)),
        ]);
        let findings = findings(&house);
        assert_eq!(findings.len(), 1);
        assert!(
            findings[0].starts_with("b.rs has 601 lines"),
            "{findings:?}"
        );
    }
}
