//! Every `cargo xtask` command that a page shows is one that this program takes.
//!
//! And the test command of README.md is the one that CI runs, so that what CI proves is what a
//! newcomer gets.

use clap::Parser;

use super::house::{File, House};
use super::markdown;
use crate::Arguments;

const TEST_COMMAND: &str = "cargo xtask ci --setup";

pub(super) fn findings(house: &House) -> Vec<String> {
    let pages = house.ending(".md").flat_map(findings_in);
    let tested = ["README.md", ".ci/run"].into_iter().filter(|path| {
        house
            .file(path)
            .is_none_or(|file| !file.text.contains(TEST_COMMAND))
    });
    let tested = tested.map(|path| format!("{path} does not show `{TEST_COMMAND}`"));
    pages.chain(tested).collect()
}

fn findings_in(page: &File) -> Vec<String> {
    let mut findings = Vec::new();
    for (number, code) in markdown::code(&page.text) {
        let line = code.trim().trim_start_matches("$ ");
        let Some(arguments) = line.strip_prefix("cargo xtask ") else {
            continue;
        };
        if let Err(error) = parse(arguments) {
            let path = &page.path;
            findings.push(format!(
                "{path}:{number}: `cargo xtask {arguments}`: {error}"
            ));
        }
    }
    findings
}

/// Up to a comment, or what a shell would take for the next command.
fn parse(arguments: &str) -> Result<(), String> {
    let command = arguments
        .split(['#', ';', '&', '>', '|'])
        .next()
        .unwrap_or_default();
    let words = command.split_whitespace();
    match Arguments::try_parse_from(std::iter::once("cargo xtask").chain(words)) {
        Ok(_) => Ok(()),
        Err(error) if error.exit_code() == 0 => Ok(()),
        Err(error) => Err(error
            .to_string()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_exist_pass_and_others_are_found() {
        let page = "Run `cargo xtask ci --setup`, `cargo xtask ci fmt clippy` or\n\
                    ```\n$ cargo xtask verify --deep # all\n```\nNot `cargo xtask dance`, nor\n\
                    `cargo xtask ci --deep`.\n";
        let house = House::of(&[
            ("a.md", page),
            ("README.md", TEST_COMMAND),
            (".ci/run", TEST_COMMAND),
        ]);
        let findings = findings(&house);
        assert_eq!(findings.len(), 2, "{findings:?}");
        assert!(findings[0].contains("dance"), "{findings:?}");
    }

    #[test]
    fn ci_runs_what_the_readme_says() {
        let house = House::of(&[("README.md", TEST_COMMAND), (".ci/run", "cargo test")]);
        assert_eq!(findings(&house).len(), 1);
    }
}
