//! The example `replay`, as a user runs it.

#![cfg(feature = "memory")]

use std::{
    env, fs,
    io::{self, Write},
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/replay/sample.log");

/// The examples are built beside the tests.
#[expect(clippy::unwrap_used, reason = "a test helper")]
fn start_with(args: &[&str], stdin: Stdio, stdout: Stdio) -> Child {
    let exe = env::current_exe().unwrap();
    let program = exe
        .ancestors()
        .nth(2)
        .unwrap()
        .join("examples")
        .join("replay");
    Command::new(program)
        .args(args)
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
    for strategy in [
        "gcra",
        "token-bucket",
        "fixed-window",
        "sliding-window",
        "sliding-log",
    ] {
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
fn gzip_reads_like_plain_text_also_in_several_members() {
    let plain = fs::read(SAMPLE).unwrap();
    let mut packed = Vec::new();
    let (first, second) = plain.split_at(plain.len() / 2);
    for half in [first, second] {
        let mut encoder = flate2::write::GzEncoder::new(&mut packed, flate2::Compression::fast());
        encoder.write_all(half).unwrap();
        encoder.finish().unwrap();
    }
    assert_eq!(json(&["-"], &packed), json(&["-"], &plain));
}

/// A read of a datagram socket yields one message.
#[cfg(unix)]
#[test]
fn gzip_is_known_also_if_its_first_byte_comes_alone() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&fs::read(SAMPLE).unwrap()).unwrap();
    let packed = encoder.finish().unwrap();
    let (ours, theirs) = std::os::unix::net::UnixDatagram::pair().unwrap();
    let theirs = Stdio::from(std::os::fd::OwnedFd::from(theirs));
    let child = start_with(&["-", "--json"], theirs, Stdio::piped());
    ours.send(&packed[..1]).unwrap();
    for part in packed[1..].chunks(4_096) {
        ours.send(part).unwrap();
    }
    ours.send(b"").unwrap();
    let output = child.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["requests"], 1_817);
}

#[test]
fn a_line_that_lacks_the_key_is_not_called_unreadable() {
    let log = line("192.0.2.1", NOON, "/");
    let report = json(&["-", "--key", "field:99"], log.as_bytes());
    assert_eq!(
        (&report["unreadable"], &report["without_key"]),
        (&0.into(), &1.into())
    );
    let output = replay(&["-", "--key", "field:99"], log.as_bytes());
    let (shown, told) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert!(
        shown.contains("1 lines have nothing to be counted per"),
        "{shown}"
    );
    assert!(told.contains("has what `--key` names"), "{told}");
}

#[test]
fn what_a_client_sent_reaches_no_terminal_unescaped() {
    let log = line("192.0.2.1", NOON, "/\x1b[2J\u{202e}\u{9b}31m").repeat(3);
    let output = replay(&["-", "--key", "path", "--limit", "1"], log.as_bytes());
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains(r"/\u{1b}[2J\u{202e}\u{9b}31m"), "{shown}");
    assert!(!shown.contains(['\x1b', '\u{202e}', '\u{9b}']));
}

#[test]
fn clients_are_told_apart_by_what_was_asked_for() {
    let lines = [
        line("2001:db8:0:1::1", NOON, "/a?x=1"),
        line("2001:db8:0:1::2", NOON, "/a?x=2"),
        line("::ffff:192.0.2.1", NOON, "/b"),
        line("192.0.2.1", NOON, "/b"),
    ]
    .concat();
    let keys = |key: &str| {
        json(&["-", "--key", key], lines.as_bytes())["keys"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(keys("ip"), 3);
    assert_eq!(keys("ip64"), 2);
    assert_eq!(keys("path"), 2);
    assert_eq!(keys("field:6"), 1);
}

#[test]
fn broken_lines_are_counted_and_shown_and_never_fatal() {
    let mut log = line("192.0.2.1", NOON, "/").into_bytes();
    log.extend(
        b"\n\nno log line\n192.0.2.1 - - [31/Feb/2026:00:00:00 +0000] \"GET / HTTP/1.1\" 200 1\n",
    );
    log.extend(
        b"192.0.2.1 - - [01/Jan/1950:00:00:00 +0000] \"GET / HTTP/1.1\" 200 1\n\xff\xfe\x00\n",
    );
    log.extend(vec![b'x'; 200_000]);
    log.extend(b"\n");
    log.extend(line("192.0.2.1", NOON, "/").as_bytes());
    let report = json(&["-"], &log);
    assert_eq!(
        (&report["requests"], &report["unreadable"]),
        (&2.into(), &5.into())
    );
}

#[test]
fn an_empty_or_binary_file_is_reported_as_such() {
    for input in [&b""[..], &[0, 159, 146, 150, 10, 0, 1][..]] {
        let output = replay(&["-"], input);
        assert!(output.status.success());
        assert!(
            String::from_utf8(output.stderr)
                .unwrap()
                .contains("holds no request")
        );
    }
}

#[test]
fn a_truncated_gzip_file_is_an_error_that_names_it() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&fs::read(SAMPLE).unwrap()).unwrap();
    let packed = encoder.finish().unwrap();
    let half = &packed[..packed.len() / 2];
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("truncated.gz");
    fs::write(&file, half).unwrap();
    assert!(refusal(&[file.to_str().unwrap()]).contains("truncated.gz: "));
    let output = replay(&["-"], half);
    assert!(!output.status.success());
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.starts_with("replay: standard input: "), "{error}");
}

#[test]
fn bad_input_is_refused_with_what_is_allowed() {
    assert!(refusal(&["/no/such/file"]).contains("/no/such/file"));
    assert!(refusal(&[env!("CARGO_MANIFEST_DIR")]).contains("directory"));
    assert!(refusal(&["-", "--limit", "0"]).contains("`limit` is 0; allowed is 1 to"));
    assert!(refusal(&["-", "--per", "0s"]).contains("`period` is 0ns; allowed is 1µs to"));
    assert!(refusal(&["-", "--per", "soon"]).contains("--per"));
    assert!(refusal(&["-", "--key", "field:0"]).contains("allowed are ip, ip64, path and field:N"));
    let buckets = ["-", "--strategy", "sliding-window", "--buckets", "5000"];
    assert!(refusal(&buckets).contains("`buckets` is 5000; allowed is 1 to 1024"));
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
