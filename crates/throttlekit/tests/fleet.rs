//! The fleet example shows what it promises, on real clocks.

#![cfg(all(feature = "memory", feature = "twotier"))]

use std::{env, process::Command};

use serde_json::Value;

/// The examples are built beside the tests.
#[expect(clippy::unwrap_used, reason = "a test helper")]
fn fleet(args: &[&str]) -> (bool, String, String) {
    let exe = env::current_exe().unwrap();
    let built = exe.parent().and_then(|deps| deps.parent()).unwrap();
    let program = built
        .join("examples")
        .join("fleet")
        .with_extension(env::consts::EXE_EXTENSION);
    let output = Command::new(program).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.success(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn eight_nodes_with_wrong_walls_keep_the_bound_of_each_mode() {
    // Walls are wrong by more than a window.
    let sized = [
        "--nodes", "8", "--limit", "800", "--batch", "10", "--window", "250ms",
    ];
    let timed = ["--skew", "1s", "--seconds", "2", "--json"];
    let (held, out, err) = fleet(&[sized.as_slice(), &timed].concat());
    assert!(held, "{err}");
    let modes: Vec<Value> = serde_json::from_str(&out).unwrap();
    let most = |name: &str| {
        let mode = modes.iter().find(|mode| mode["mode"] == name);
        mode.and_then(|mode| mode["max"].as_u64()).unwrap()
    };
    assert_eq!(most("strict"), 800);
    assert_eq!(most("cached-deny"), 800);
    assert!(most("leased, coupled") <= 800);
    let carried = most("leased, carried over");
    assert!((801..=800 + 8 * 9).contains(&carried), "{carried}");
}

#[test]
fn a_batch_above_the_limit_is_refused_by_name() {
    let (held, out, err) = fleet(&["--limit", "5", "--batch", "6"]);
    assert!(!held && out.is_empty());
    assert_eq!(err.trim_end(), "fleet: `batch` is 6; allowed is 1 to 5");
}

#[test]
fn options_out_of_range_are_refused_by_name() {
    for (option, value, allowed) in [
        ("--nodes", "0", "1..=1000"),
        ("--seconds", "18446744073709551615", "0..=86400"),
        ("--window", "0s", "allowed is 1ms and more"),
        (
            "--window",
            "2y",
            "allowed are weeks, days and smaller units",
        ),
        ("--skew", "-1s", "a span of time is not negative"),
    ] {
        let (held, out, err) = fleet(&[option, value]);
        assert!(!held && out.is_empty());
        assert!(err.contains(option) && err.contains(allowed), "{err}");
    }
}
