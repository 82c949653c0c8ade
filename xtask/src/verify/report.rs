//! What was checked, as a table for people and as JSON for programs.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;

use super::models::Expect;
use crate::{stopwatch, workspace};

/// One row of the report.
#[derive(Serialize)]
pub(super) struct Checked {
    pub(super) source: Source,
    pub(super) id: String,
    pub(super) model: String,
    pub(super) constants: String,
    pub(super) claim: String,
    pub(super) expect: Expect,
    /// Why this row is not as recorded; absent when it is.
    pub(super) surprise: Option<String>,
    pub(super) states: Option<u64>,
    pub(super) max: Option<u64>,
    pub(super) seconds: f64,
    /// The steps to the violation, for reading.
    pub(super) trace: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Source {
    Tlc,
    Twin,
}

impl Source {
    pub(super) const fn shown(self) -> &'static str {
        match self {
            Self::Tlc => "TLC",
            Self::Twin => "twin",
        }
    }
}

impl Checked {
    pub(super) fn verdict(&self) -> String {
        match (&self.surprise, self.expect) {
            (Some(surprise), _) => {
                format!("SURPRISE: {}", surprise.lines().next().unwrap_or_default())
            }
            (None, Expect::Holds) => format!("proved: {}", self.claim),
            (None, Expect::Violated) => format!("fails, as it must: {}", self.claim),
        }
    }

    pub(super) fn time(&self) -> String {
        stopwatch::shown(Duration::from_secs_f64(self.seconds.max(0.0)))
    }
}

/// The table, columns aligned.
pub(super) fn table(rows: &[Checked]) -> String {
    let header = ["", "model", "constants", "states", "verdict", "time"].map(str::to_owned);
    let cells: Vec<_> = std::iter::once(header)
        .chain(rows.iter().map(cells))
        .collect();
    let widths: [usize; 6] = std::array::from_fn(|column| {
        cells
            .iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    });
    let lines = cells.iter().map(|row| {
        let columns = row.iter().zip(widths).enumerate();
        let padded = columns.map(|(column, (cell, width))| match column {
            // Numbers and times are compared by their last digits.
            3 | 5 => format!("{cell:>width$}"),
            _ => format!("{cell:<width$}"),
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn cells(row: &Checked) -> [String; 6] {
    [
        row.source.shown().to_owned(),
        row.model.clone(),
        row.constants.clone(),
        row.states.map_or_else(|| "-".to_owned(), grouped),
        row.verdict(),
        row.time(),
    ]
}

/// `3,712,044`
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes the rows for programs.
pub(super) fn write_json(path: &Path, rows: &[Checked], time: Duration) -> Result<()> {
    #[derive(Serialize)]
    struct Report<'a> {
        surprises: usize,
        seconds: f64,
        rows: &'a [Checked],
    }
    let surprises = rows.iter().filter(|row| row.surprise.is_some()).count();
    let report = Report {
        surprises,
        seconds: time.as_secs_f64(),
        rows,
    };
    let text = serde_json::to_string_pretty(&report).context("cannot form JSON")?;
    workspace::write(path, &(text + "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(3_712_044), "3,712,044");
    }

    #[test]
    fn a_surprise_is_shown_in_place_of_the_claim() {
        let row = Checked {
            source: Source::Tlc,
            id: "a".to_owned(),
            model: "Leasing".to_owned(),
            constants: "N=2".to_owned(),
            claim: "limit holds".to_owned(),
            expect: Expect::Holds,
            surprise: Some("6 states, recorded are 7\nmore".to_owned()),
            states: Some(6),
            max: None,
            seconds: 0.5,
            trace: Vec::new(),
        };
        let table = table(&[row]);
        let last = table.lines().last().unwrap_or_default();
        assert_eq!(
            last,
            "TLC  Leasing  N=2             6  SURPRISE: 6 states, recorded are 7  0.5 s"
        );
    }
}
