//! Simulated fleets do on a real Redis what they do in memory.

#![cfg(all(feature = "twotier", feature = "redis"))]
#![expect(clippy::unwrap_used, reason = "a test ends where something is missing")]

use std::{env, process::Command};

use tk_testkit::servers::RedisServer;

/// What the example prints.
fn simulation(args: &[&str]) -> String {
    // The examples are built beside the tests.
    let built = env::current_exe().unwrap();
    let built = built.parent().and_then(|deps| deps.parent()).unwrap();
    let output = Command::new(built.join("examples").join("simulation"))
        .args(args)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn fleets_that_lease_from_a_redis_keep_their_bounds_and_do_the_same_to_the_last_unit() {
    let server = RedisServer::start();
    let runs = ["--seeds", "60", "--forgetful"];
    let simulated = simulation(&runs);
    let real = simulation(&[runs.as_slice(), &["--redis", &server.url()]].concat());
    assert_eq!(simulated, real);
    println!("{real}");
    server.assert_all_keys_expire();
}
