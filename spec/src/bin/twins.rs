//! Explores the twins.
//!
//! `twins` explores those of every change, `--deep` all of them; `--json` prints a line of JSON for each. `--show ID`
//! prints one system's counts and the steps to its violation or its highest measure; `--list` names them.
//! `--record` prints what belongs into `spec/twins.json`.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::time::Instant;

use tk_spec::catalog::{self, Row};
use tk_spec::explore::Found;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let rows = catalog::rows();
    if let Some(place) = arguments.iter().position(|argument| argument == "--show") {
        return show(&rows, arguments.get(place + 1).map_or("", String::as_str));
    }
    if has("--list") {
        for row in &rows {
            println!("{}", row.id);
        }
        return ExitCode::SUCCESS;
    }
    if has("--record") {
        return record(&rows);
    }
    let mut is_as_expected = true;
    for row in rows.iter().filter(|row| !row.is_deep || has("--deep")) {
        let (found, seconds) = timed(row);
        is_as_expected &= found.violation.is_none() == row.must_hold();
        if has("--json") {
            println!("{}", row.result(&found, seconds));
        } else {
            println!("{}", told(row, &found, seconds));
        }
    }
    if is_as_expected {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "what is timed is this program itself"
)]
fn timed(row: &Row) -> (Found, f64) {
    let begun = Instant::now();
    let found = row.explore();
    (found, begun.elapsed().as_secs_f64())
}

fn told(row: &Row, found: &Found, seconds: f64) -> String {
    let outcome = match (&found.violation, row.must_hold()) {
        (None, true) => "holds".to_owned(),
        (Some(violation), false) => format!("violated, as it must be: {violation}"),
        (None, false) => "SURPRISE: holds".to_owned(),
        (Some(violation), true) => format!("SURPRISE: {violation}"),
    };
    format!(
        "{:<55} {:>8} states, highest {:>2}, {seconds:.2} s: {outcome}",
        row.id, found.states, found.highest
    )
}

fn show(rows: &[Row], id: &str) -> ExitCode {
    let Some(row) = rows.iter().find(|row| row.id == id) else {
        eprintln!("no system is named {id:?}; --list names them");
        return ExitCode::FAILURE;
    };
    let (found, seconds) = timed(row);
    println!(
        "{}: {}\n{}\n{}",
        row.id,
        row.claim,
        row.constants,
        told(row, &found, seconds)
    );
    println!(
        "{} states on the longest of the shortest paths",
        found.depth
    );
    match found.violation {
        Some(_) => println!("\nThe shortest way to the violation:"),
        None => println!("\nA shortest way to the highest measure:"),
    }
    for (index, step) in found.trace.iter().enumerate() {
        println!("{:>3}. {step}", index + 1);
    }
    ExitCode::SUCCESS
}

fn record(rows: &[Row]) -> ExitCode {
    let records: Vec<String> = rows
        .iter()
        .map(|row| format!("  {}", row.record(&row.explore())))
        .collect();
    println!("[\n{}\n]", records.join(",\n"));
    ExitCode::SUCCESS
}
