//! The table in docs/PROOFS.md: the recorded counts, between two marks.
//!
//! It is made from the records alone, so that writing it and comparing it are the same function, and
//! `verify` holds the records to what runs.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::models::{self, Kind, Model, RecordedTwin, Tier};
use super::report::grouped;
use crate::workspace;

const BEGIN: &str = "<!-- verify:begin -->";
const END: &str = "<!-- verify:end -->";

pub(crate) fn path() -> PathBuf {
    workspace::root().join("docs/PROOFS.md")
}

/// Replaces the table in the page by the recorded one.
pub(super) fn rewrite() -> Result<()> {
    let page = workspace::read(&path())?;
    let page = updated(&page, &recorded_table()?)?;
    workspace::write(&path(), &page)?;
    println!("Written: {}.", workspace::shown(&path()));
    Ok(())
}

/// The table as the records have it now.
pub(crate) fn recorded_table() -> Result<String> {
    Ok(table(&models::load()?, &models::load_twins()?))
}

/// The page with `table` between its marks; equal to the page if it is up to date.
pub(crate) fn updated(page: &str, table: &str) -> Result<String> {
    let (before, rest) = page
        .split_once(BEGIN)
        .with_context(|| format!("no {BEGIN}"))?;
    let (_, after) = rest
        .split_once(END)
        .with_context(|| format!("no {END} after {BEGIN}"))?;
    Ok(format!("{before}{BEGIN}\n\n{table}\n\n{END}{after}"))
}

fn table(models: &[Model], twins: &[RecordedTwin]) -> String {
    let head = "| checked by | model | constants | states | bound | claim | outcome |";
    let mut lines = vec![
        head.to_owned(),
        "|---|---|---|---:|---:|---|---|".to_owned(),
    ];
    lines.extend(models.iter().map(|model| {
        let Model {
            module,
            constants,
            claim,
            ..
        } = model;
        let (by, outcome) = (by("TLC", model.tier), outcome(model.kind));
        let (states, bound) = (number(model.states), number(model.bound));
        format!("| {by} | {module} | {constants} | {states} | {bound} | {claim} | {outcome} |")
    }));
    lines.extend(twins.iter().map(|twin| {
        let RecordedTwin {
            model,
            constants,
            claim,
            ..
        } = twin;
        let (by, outcome) = (by("twin", twin.tier), outcome(twin.kind));
        let (states, max) = (number(Some(twin.states)), number(twin.max));
        format!("| {by} | {model} | {constants} | {states} | {max} | {claim} | {outcome} |")
    }));
    lines.join("\n")
}

fn number(number: Option<u64>) -> String {
    number.map_or_else(|| "-".to_owned(), grouped)
}

fn by(checker: &str, tier: Tier) -> String {
    match tier {
        Tier::Ci => checker.to_owned(),
        Tier::Deep => format!("{checker}, `--deep`"),
    }
}

const fn outcome(kind: Kind) -> &'static str {
    match kind {
        Kind::Bound => "holds",
        Kind::Tightness => "reached: one less fails",
        Kind::Fault => "fails, as it must",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str =
        "# Proofs\n\n<!-- verify:begin -->\n\nold\n\n<!-- verify:end -->\n\nWhat it means.\n";

    #[test]
    fn only_what_is_between_the_marks_changes() {
        let page = updated(PAGE, "new").expect("the page has both marks");
        assert_eq!(page, PAGE.replace("old", "new"));
        assert_eq!(updated(&page, "new").expect("it still has them"), page);
    }

    #[test]
    fn a_page_without_marks_is_an_error() {
        assert!(updated("# Proofs\n", "new").is_err());
        assert!(updated("<!-- verify:begin -->", "new").is_err());
    }
}
