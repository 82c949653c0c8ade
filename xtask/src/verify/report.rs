//! What was checked, row by row, and as JSON for programs.

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
}
