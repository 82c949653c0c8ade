//! A fleet of several processes shares one limit through a real Redis.

#![cfg(all(feature = "memory", feature = "twotier", feature = "redis"))]

use std::{env, process::Command};

use serde_json::Value;
use tk_testkit::servers::RedisServer;

/// The walls of the processes' nodes are wrong by up to 5 seconds, which is ten windows.
#[test]
fn four_processes_with_skewed_walls_never_exceed_a_coupled_limit() {
    let server = RedisServer::start();
    let built = env::current_exe().unwrap();
    let built = built.parent().and_then(|deps| deps.parent()).unwrap();
    let output = Command::new(built.join("examples").join("fleet"))
        .args(["--redis", &server.url(), "--processes", "4", "--nodes", "4"])
        .args(["--limit", "400", "--batch", "10", "--window", "500ms"])
        .args(["--skew", "5s", "--seconds", "3", "--json"])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let modes: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(modes.len(), 4);
    for mode in &modes {
        let most = mode["max"].as_u64().unwrap();
        let over = if mode["mode"] == "leased, carried over" {
            4 * 9
        } else {
            0
        };
        assert!(most <= 400 + over, "{mode}");
        // Demand is twice the limit; a machine that is busy may not ask all of it in time.
        assert!(most > 100, "{mode}");
    }
    let keys = server.keys();
    assert!(keys.iter().all(|(_, left)| *left != -1), "{keys:?}");
}
