//! What is asked for on the command line.

use std::{fs, path::PathBuf};

use crate::{SAMPLE, refusal};

#[test]
fn bad_input_is_refused_with_what_is_allowed() {
    assert!(refusal(&["/no/such/file"]).contains("/no/such/file"));
    assert!(refusal(&[env!("CARGO_MANIFEST_DIR")]).contains("directory"));
    let numbers = "allowed is 1 to 281474976710656";
    for (option, value, allowed) in [
        ("--limit", "0", numbers),
        ("--limit", "-5", numbers),
        ("--limit", "18446744073709551616", numbers),
        ("--burst", "0", numbers),
        ("--sweep", "10,0", numbers),
        ("--sweep", "", numbers),
        ("--buckets", "5000", "allowed is 1 to 1024"),
        ("--top", "-1", "allowed is 0 to 18446744073709551615"),
        (
            "--per",
            "0s",
            "`--per` is 0ns; allowed is 1µs to 35184372.088832s",
        ),
        (
            "--per",
            "500ns",
            "`--per` is 500ns; allowed are whole microseconds",
        ),
        ("--per", "-5s", "a span of time is not negative"),
        ("--per", "1y", "allowed are weeks, days and smaller units"),
        ("--per", "soon", "allowed are weeks, days and smaller units"),
        ("--key", "field:0", "allowed are ip, ip64, path and field:N"),
    ] {
        let error = refusal(&["-", option, value]);
        assert!(error.contains(option) && error.contains(allowed), "{error}");
        let shown = value.rsplit(',').next().unwrap_or_default();
        assert!(error.contains(&format!("'{shown}'")), "{error}");
    }
}

#[test]
fn an_option_that_would_do_nothing_is_refused() {
    for (args, message) in [
        (
            &["--strategy", "fixed-window", "--burst", "5"][..],
            "`--burst` is 5; allowed only with --strategy gcra or token-bucket, not with fixed-window",
        ),
        (
            &["--buckets", "3"],
            "`--buckets` is 3; allowed only with --strategy sliding-window, not with gcra",
        ),
        (
            &["--limit", "60", "--sweep", "1,2"],
            "`--limit` is 60; allowed only without --sweep",
        ),
        (
            &["--top", "3", "--sweep", "1,2"],
            "`--top` is 3; allowed only without --sweep, or with --json",
        ),
    ] {
        let error = refusal(&[args, &[SAMPLE]].concat());
        assert_eq!(error.trim_end(), format!("replay: {message}"));
    }
}

#[test]
fn what_other_options_leave_of_a_range_is_told_under_the_options_name() {
    for (strategy, option, per, allowed) in [
        ("gcra", "--burst", "365d", "1 to 142"),
        ("token-bucket", "--burst", "365d", "1 to 142"),
        ("sliding-window", "--buckets", "5us", "1 to 5"),
    ] {
        let args = ["-", "--strategy", strategy, "--limit", "1", "--per", per];
        let error = refusal(&[&args[..], &[option, "1000"]].concat());
        let message = format!("replay: `{option}` is 1000; allowed is {allowed}");
        assert_eq!(error.trim_end(), message);
    }
}

#[test]
fn a_chart_does_not_overwrite_the_log() {
    let log = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("precious.log");
    fs::copy(SAMPLE, &log).unwrap();
    let error = refusal(&[log.to_str().unwrap(), "--svg", log.to_str().unwrap()]);
    assert!(error.contains("allowed is any file but the log itself"));
    assert_eq!(fs::read(&log).unwrap(), fs::read(SAMPLE).unwrap());
}
