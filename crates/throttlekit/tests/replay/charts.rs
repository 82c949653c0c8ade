//! Charts of what a limit did.

use std::{fs, path::PathBuf};

use crate::{SAMPLE, line, replay};

#[test]
fn a_chart_is_written() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("replay.svg");
    let output = replay(&[SAMPLE, "--svg", file.to_str().unwrap()], b"");
    assert!(output.status.success(), "{output:?}");
    let chart = fs::read_to_string(&file).unwrap();
    assert!(chart.starts_with("<svg") && chart.contains("denied at 60"));
}

#[test]
fn minutes_without_requests_are_drawn_as_such() {
    // Ten years of them are two points and not five million.
    let log = ["2016", "2026"]
        .map(|year| line("192.0.2.1", &format!("30/Nov/{year}:12:00:00 +0000"), "/"))
        .concat();
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("gap.svg");
    let output = replay(&["-", "--svg", file.to_str().unwrap()], log.as_bytes());
    assert!(output.status.success(), "{output:?}");
    let chart = fs::read_to_string(&file).unwrap();
    let lines = chart.lines().filter_map(|line| {
        let points = line.strip_prefix("<polyline")?.split("points=\"").nth(1)?;
        Some(points.split('"').next()?.split_whitespace().count())
    });
    assert!(lines.into_iter().any(|points| points == 4), "{chart}");
}

#[test]
fn a_log_without_requests_is_drawn_as_an_empty_chart() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("empty.svg");
    for input in [&b""[..], b"garbage\n"] {
        let output = replay(&["-", "--json", "--svg", file.to_str().unwrap()], input);
        assert!(output.status.success(), "{output:?}");
        let chart = fs::read_to_string(&file).unwrap();
        assert!(chart.starts_with("<svg") && chart.trim_end().ends_with("</svg>"));
    }
}
