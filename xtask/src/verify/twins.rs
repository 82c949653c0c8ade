//! The Rust twins: the same systems as the specifications', over the shipping code.
//!
//! `cargo run --release -p tk-spec --bin twins -- --json` prints one JSON object per line, each when
//! its exploration is done. What must come out is recorded in `spec/twins.json`, row by row: a row
//! that is missing, or that nobody recorded, is as much a surprise as a wrong count.

use anyhow::Result;
use serde::Deserialize;

use super::constants;
use super::models::{Expect, RecordedTwin, Tier};
use super::report::{Checked, Source};
use crate::command;
use crate::metadata::Metadata;

/// One line of what the twins print.
#[derive(Deserialize)]
struct Row {
    id: String,
    model: String,
    #[serde(deserialize_with = "constants::as_text")]
    constants: String,
    claim: String,
    expect: Expect,
    outcome: Expect,
    states: u64,
    #[serde(default)]
    max: Option<u64>,
    seconds: f64,
    #[serde(default)]
    trace: Vec<String>,
}

/// Whether this workspace has them.
pub(super) fn exist() -> Result<bool> {
    let metadata = Metadata::load()?;
    Ok(metadata
        .package("tk-spec")
        .is_some_and(|package| package.has_binary("twins")))
}

/// Runs them; `progress` is told of each row when it is there.
pub(super) fn check(
    recorded: &[RecordedTwin],
    tier: Tier,
    mut progress: impl FnMut(&Checked) + Send,
) -> Result<Vec<Checked>> {
    let mut command = command::twins();
    command.arg("--json");
    if tier == Tier::Deep {
        command.arg("--deep");
    }
    let mut rows = Vec::new();
    let ending = command::read_lines(&mut command, |line| {
        // Rows are objects; whatever else a build or a twin prints is for people.
        if line.starts_with('{') {
            let row = judge(line, recorded);
            progress(&row);
            rows.push(row);
        }
    });
    rows.extend(missing(recorded, tier, &rows));
    if rows.iter().all(|row| row.surprise.is_none()) {
        // Every row is as recorded, yet the program says that something is wrong.
        ending?;
    }
    Ok(rows)
}

fn judge(line: &str, recorded: &[RecordedTwin]) -> Checked {
    match serde_json::from_str::<Row>(line) {
        Ok(row) => {
            let surprise = surprise(&row, recorded.iter().find(|twin| twin.id == row.id));
            Checked {
                source: Source::Twin,
                id: row.id,
                model: row.model,
                constants: row.constants,
                claim: row.claim,
                expect: row.expect,
                surprise,
                states: Some(row.states),
                max: row.max,
                seconds: row.seconds,
                trace: row.trace,
            }
        }
        Err(error) => nothing("unreadable", Expect::Holds, format!("{error} in {line}")),
    }
}

fn surprise(row: &Row, recorded: Option<&RecordedTwin>) -> Option<String> {
    let Some(recorded) = recorded else {
        return Some(format!(
            "{} states, and spec/twins.json has no such row",
            row.states
        ));
    };
    if row.outcome != row.expect || row.expect != recorded.expect {
        return Some(match row.outcome {
            Expect::Holds => "must be violated and holds".to_owned(),
            Expect::Violated => "is violated".to_owned(),
        });
    }
    if row.states != recorded.states {
        return Some(format!(
            "{} states, recorded are {}",
            row.states, recorded.states
        ));
    }
    differs("highest", row.max, recorded.max).or_else(|| {
        let length = (row.outcome == Expect::Violated).then_some(row.trace.len() as u64);
        differs("states in the counterexample:", length, recorded.trace)
    })
}

fn differs(what: &str, found: Option<u64>, recorded: Option<u64>) -> Option<String> {
    let shown =
        |number: Option<u64>| number.map_or_else(|| "none".to_owned(), |number| number.to_string());
    (found != recorded).then(|| format!("{what} {}, recorded {}", shown(found), shown(recorded)))
}

/// Rows that were recorded and did not come.
fn missing(recorded: &[RecordedTwin], tier: Tier, rows: &[Checked]) -> Vec<Checked> {
    let wanted = recorded
        .iter()
        .filter(|twin| tier == Tier::Deep || twin.tier == Tier::Ci);
    let absent = wanted.filter(|twin| rows.iter().all(|row| row.id != twin.id));
    let rows = absent.map(|twin| Checked {
        model: twin.model.clone(),
        constants: twin.constants.clone(),
        claim: twin.claim.clone(),
        ..nothing(&twin.id, twin.expect, "recorded and did not run".to_owned())
    });
    rows.collect()
}

fn nothing(id: &str, expect: Expect, surprise: String) -> Checked {
    Checked {
        source: Source::Twin,
        id: id.to_owned(),
        model: id.to_owned(),
        constants: String::new(),
        claim: String::new(),
        expect,
        surprise: Some(surprise),
        states: None,
        max: None,
        seconds: 0.0,
        trace: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded() -> Vec<RecordedTwin> {
        let rows = r#"[{"id": "coupled", "model": "Coupled", "constants": "N=2", "claim": "limit",
            "kind": "bound", "expect": "holds", "states": 11, "max": 5, "tier": "ci"}]"#;
        serde_json::from_str(rows).expect("the rows are well formed")
    }

    fn surprise_of(changes: &[(&str, serde_json::Value)]) -> Option<String> {
        let mut row = serde_json::json!({"id": "coupled", "model": "Coupled", "constants": {"N": 2},
            "claim": "limit", "expect": "holds", "outcome": "holds", "states": 11, "max": 5,
            "seconds": 0.1});
        for (field, value) in changes {
            row[*field] = value.clone();
        }
        judge(&row.to_string(), &recorded()).surprise
    }

    #[test]
    fn a_row_as_recorded_surprises_nobody() {
        assert_eq!(surprise_of(&[]), None);
    }

    #[test]
    fn a_planted_wrong_count_is_caught() {
        let surprise = surprise_of(&[("states", 12.into())]);
        assert_eq!(surprise.as_deref(), Some("12 states, recorded are 11"));
        assert!(surprise_of(&[("max", 6.into())]).is_some());
    }

    #[test]
    fn a_counterexample_of_another_length_is_caught() {
        let mut recorded = recorded();
        recorded[0].expect = Expect::Violated;
        recorded[0].trace = Some(2);
        let row = |trace: &[&str]| {
            let row = serde_json::json!({"id": "coupled", "model": "Coupled", "constants": {"N": 2},
                "claim": "limit", "expect": "violated", "outcome": "violated", "states": 11, "max": 5,
                "seconds": 0.1, "trace": trace});
            judge(&row.to_string(), &recorded).surprise
        };
        assert_eq!(row(&["spend", "violated"]), None);
        let surprise = row(&["lease", "spend", "violated"]);
        assert_eq!(
            surprise.as_deref(),
            Some("states in the counterexample: 3, recorded 2")
        );
    }

    #[test]
    fn a_check_that_must_fail_and_passes_is_caught() {
        let surprise = surprise_of(&[("expect", "violated".into())]);
        assert_eq!(surprise.as_deref(), Some("must be violated and holds"));
        assert!(surprise_of(&[("outcome", "violated".into())]).is_some());
    }

    #[test]
    fn a_row_that_nobody_recorded_is_a_surprise_and_so_is_one_that_did_not_come() {
        assert!(surprise_of(&[("id", "new".into())]).is_some());
        assert_eq!(missing(&recorded(), Tier::Ci, &[]).len(), 1);
    }

    #[test]
    fn a_broken_row_is_a_surprise() {
        assert!(judge("{\"id\": 3}", &recorded()).surprise.is_some());
    }
}
