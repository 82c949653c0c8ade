//! The example `replay`, as a user runs it.

#![cfg(feature = "memory")]

mod charts;
mod lines;
mod options;
mod packed;

use std::{
    env, fs,
    io::{self, Write},
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/replay/sample.log");

const STRATEGIES: [&str; 5] = [
    "gcra",
    "token-bucket",
    "fixed-window",
    "sliding-window",
    "sliding-log",
];

/// The examples are built beside the tests.
#[expect(clippy::unwrap_used, reason = "a test helper")]
fn command(args: &[&str]) -> Command {
    let exe = env::current_exe().unwrap();
    let program = exe
        .ancestors()
        .nth(2)
        .unwrap()
        .join("examples")
        .join("replay");
    let mut command = Command::new(program);
    command.args(args);
    command
}

fn start_with(args: &[&str], stdin: Stdio, stdout: Stdio) -> Child {
    command(args)
        .stdin(stdin)
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .expect("examples are built together with the tests")
}

fn start(args: &[&str], stdout: Stdio) -> Child {
    start_with(args, Stdio::piped(), stdout)
}

#[expect(clippy::unwrap_used, reason = "a test helper")]
fn finish(mut child: Child, input: &[u8]) -> Output {
    // The program may end before it has read all.
    let _: io::Result<()> = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn replay(args: &[&str], input: &[u8]) -> Output {
    finish(start(args, Stdio::piped()), input)
}

#[expect(clippy::unwrap_used, reason = "a test helper")]
fn json(args: &[&str], input: &[u8]) -> Value {
    let output = replay(&[args, &["--json"]].concat(), input);
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[expect(clippy::unwrap_used, reason = "a test helper")]
fn refusal(args: &[&str]) -> String {
    let output = replay(args, b"");
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

fn line(host: &str, time: &str, path: &str) -> String {
    format!("{host} - - [{time}] \"GET {path} HTTP/1.1\" 200 5 \"-\" \"a \\\" b\"\n")
}

const NOON: &str = "30/Nov/2026:12:00:00 +0000";

#[test]
fn the_sample_log_is_reported() {
    let report = json(&[SAMPLE, "--limit", "60", "--per", "60s"], b"");
    let number = |field: &str| report[field].as_u64().unwrap();
    assert_eq!(number("requests"), 1_817);
    assert_eq!(number("requests"), number("allowed") + number("denied"));
    assert_eq!(number("unreadable"), 2);
    assert!(number("denied") > 0 && number("out_of_order") > 0);
    assert_eq!(report["worst_keys"][0]["key"], "203.0.113.13");
}

#[test]
fn every_strategy_replays_it() {
    for strategy in STRATEGIES {
        let report = json(
            &[
                SAMPLE,
                "--strategy",
                strategy,
                "--limit",
                "30",
                "--per",
                "60s",
            ],
            b"",
        );
        assert!(report["denied"].as_u64().unwrap() > 0, "{strategy}");
    }
}

#[test]
fn a_fixed_window_admits_its_limit_in_each_minute() {
    let lines: String = ["12:00:59", "12:00:59", "12:01:00", "12:01:00", "12:00:58"]
        .map(|time| line("192.0.2.1", &format!("30/Nov/2026:{time} +0000"), "/"))
        .concat();
    let args = [
        "-",
        "--strategy",
        "fixed-window",
        "--limit",
        "1",
        "--per",
        "1m",
    ];
    let report = json(&args, lines.as_bytes());
    assert_eq!(
        (
            &report["allowed"],
            &report["denied"],
            &report["out_of_order"]
        ),
        (&2.into(), &3.into(), &1.into())
    );
}

#[test]
fn a_sweep_compares_limits_in_one_pass() {
    let reports = json(&[SAMPLE, "--sweep", "10,60,600"], b"");
    let denied: Vec<_> = reports
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["denied"].as_u64().unwrap())
        .collect();
    assert!(denied[0] > denied[1] && denied[1] > denied[2], "{denied:?}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let log = line("192.0.2.1", NOON, "/");
    for form in [&["-"][..], &["-", "--json"], &["-", "--sweep", "1,2"]] {
        let mut child = start(form, Stdio::piped());
        drop(child.stdout.take());
        let output = finish(child, log.as_bytes());
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{output:?}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_report_that_cannot_be_written_is_an_error() {
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = finish(start(&["-"], full.into()), b"");
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.starts_with("replay: standard output: "), "{error}");
}

/// As in `replay 2>&1 | head`.
#[cfg(target_os = "linux")]
#[test]
fn nobody_left_to_be_told_is_no_panic() {
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let status = command(&["/no/such/file"]).stderr(full).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn how_far_a_log_goes_back_is_told() {
    let lines: String = ["12:00:05", "12:00:02", "12:00:04"]
        .map(|time| line("192.0.2.1", &format!("30/Nov/2026:{time} +0000"), "/"))
        .concat();
    let report = json(&["-"], lines.as_bytes());
    assert_eq!(report["out_of_order"], 2);
    assert_eq!(report["furthest_back_seconds"], 3.0);
    let shown = String::from_utf8(replay(&["-"], lines.as_bytes()).stdout).unwrap();
    assert!(shown.contains("2  by up to 3s"), "{shown}");
}

#[test]
fn times_a_century_apart_are_replayed_in_any_order_and_impossible_ones_are_unreadable() {
    let lines: String = [
        "2099", "1970", "9999", "2098", "1999", "1969", "2026", "2026",
    ]
    .map(|year| line(year, &format!("30/Nov/{year}:12:00:00 +0000"), "/"))
    .concat();
    for strategy in STRATEGIES {
        let report = json(
            &["-", "--strategy", strategy, "--limit", "1"],
            lines.as_bytes(),
        );
        assert_eq!(
            (&report["requests"], &report["denied"]),
            (&6.into(), &1.into())
        );
        assert_eq!(report["unreadable"], 2);
    }
}
