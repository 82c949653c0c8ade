//! The server is stopped, restarted, or replaced, while four processes with skewed walls share a limit through it.
//!
//! Nothing here waits for a time at which something is likely: a fault strikes once the server's own count says that the window is far gone.

use std::{thread, time::Duration};

use serde_json::Value;
use tk_testkit::servers::{Answer, Fault, Proxy, RedisServer};

use crate::fleet::{Fleet, Lived, admitted};

const LIMIT: u64 = 400;

/// A fleet on one coupled lease, which asks for twice the limit in every other window.
fn coupled(url: &str, seconds: &str, deadline: &str) -> Fleet {
    let sized = ["--limit", "400", "--batch", "10", "--window", "1s"];
    let timed = ["--skew", "5s", "--seconds", seconds, "--deadline", deadline];
    let kind = ["--modes", "coupled", "--survive"];
    Fleet::start(url, &[sized.as_slice(), &timed, &kind].concat())
}

/// What the server has counted: the start of the window and the units used in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Count {
    window: u64,
    used: u64,
}

fn count(server: &RedisServer) -> Count {
    let mut wire = server.wire();
    let keys = wire.keys().into_iter().map(|(key, _)| key);
    let counts = keys
        .filter(|key| key.starts_with(b"{tk:fleet"))
        .filter_map(|key| {
            // The state of a fixed window is numbers of eight bytes: start, used, length, incarnation.
            let Answer::Text(state) = wire.ask(&[&b"GET"[..], &key[..]]).unwrap() else {
                return None;
            };
            assert_eq!(
                state.len(),
                32,
                "the state of a fixed window has another form"
            );
            let (numbers, _) = state.as_chunks();
            let [window, used] = [0, 1].map(|at| u64::from_le_bytes(numbers[at]));
            Some(Count { window, used })
        });
    counts.max().unwrap_or_default()
}

/// Waits until so many units are used in a window. More than 240 are used only in a flood.
fn wait_until_used(server: &RedisServer, units: u64) {
    for _ in 0..6_000 {
        if count(server).used >= units {
            return;
        }
        pause(Duration::from_millis(5));
    }
    panic!("{units} units are never used in one window");
}

/// Has the server keep writes waiting, so that what it has counted is what it will ever have counted.
fn hold_writes(server: &RedisServer) -> Count {
    server.ask(&["CLIENT", "PAUSE", "60000", "WRITE"]);
    count(server)
}

/// Checks that the limit held in every window, but that in `window` so many units more may have been admitted; says how many were, in all.
#[track_caller]
fn assert_kept(lived: &Lived, window: u64, forgotten: u64) -> u64 {
    let mode = only(lived);
    for (start, units) in admitted(mode) {
        let bound = LIMIT + if start == window { forgotten } else { 0 };
        assert!(units <= bound, "{units} of {bound} in {start}: {mode}");
    }
    assert!(forgotten > 0 || lived.held, "{}", lived.error);
    admitted(mode).get(&window).copied().unwrap_or_default()
}

/// Checks that units were granted again later.
#[track_caller]
fn assert_recovered(lived: &Lived, window: u64) {
    let mode = only(lived);
    let later = admitted(mode).split_off(&(window + 1));
    assert!(later.values().any(|units| *units > 0), "{mode}");
}

fn only(lived: &Lived) -> &Value {
    let [mode] = &lived.modes[..] else {
        panic!("{} modes ran", lived.modes.len());
    };
    mode
}

/// With a short deadline the calls in flight are given up, with a long one their grants arrive windows late.
#[test]
fn a_server_stopped_for_three_seconds_costs_no_unit_beyond_the_limit() {
    let server = RedisServer::start();
    let hasty = coupled(&server.url(), "8", "100ms");
    let patient = coupled(&server.url(), "8", "5s");
    wait_until_used(&server, 320);
    let stopped = count(&server).window;
    server.pause();
    pause(Duration::from_secs(3));
    server.unpause();
    let (hasty, patient) = (hasty.end(), patient.end());
    for lived in [&hasty, &patient] {
        assert_kept(lived, stopped, 0);
        println!("stopped for 3 s: {}", only(lived)["admitted_per_window"]);
    }
    assert_recovered(&hasty, stopped);
    let unanswered = &only(&hasty)["unanswered"];
    assert!(unanswered.as_u64().unwrap() > 0, "nobody noticed");
    server.assert_all_keys_expire();
}

#[test]
fn a_restart_with_its_data_costs_no_unit_beyond_the_limit() {
    let mut server = RedisServer::start_with(&["--appendonly", "yes", "--appendfsync", "always"]);
    let fleet = coupled(&server.url(), "6", "100ms");
    wait_until_used(&server, 320);
    let killed = count(&server).window;
    server.kill();
    server.run();
    let lived = fleet.end();
    assert_kept(&lived, killed, 0);
    assert_recovered(&lived, killed);
    println!(
        "restarted with its data: {}",
        only(&lived)["admitted_per_window"]
    );
    server.assert_all_keys_expire();
}

#[test]
fn a_restart_without_data_costs_at_most_what_was_forgotten() {
    let mut server = RedisServer::start();
    let fleet = coupled(&server.url(), "6", "100ms");
    wait_until_used(&server, 320);
    let killed = hold_writes(&server);
    server.kill();
    server.run();
    let lived = fleet.end();
    let admitted = assert_kept(&lived, killed.window, killed.used);
    assert_recovered(&lived, killed.window);
    println!(
        "restarted without data: {} of {LIMIT} forgotten, {admitted} admitted, bound {}",
        killed.used,
        LIMIT + killed.used
    );
    server.assert_all_keys_expire();
}

/// The replica lacks what the primary counted since their connection broke.
#[test]
fn a_failover_costs_at_most_the_writes_that_were_lost() {
    let mut primary = RedisServer::start();
    let stream = Proxy::to(&primary);
    let replica = RedisServer::replica_of(stream.port());
    // As a name that is given the address of whoever is the primary.
    let name = Proxy::to(&primary);
    let fleet = coupled(&name.url(), "6", "100ms");
    wait_until_used(&primary, 280);
    stream.set(Fault::LosesReplies);
    wait_until_used(&primary, 360);
    let (counted, replicated) = (hold_writes(&primary), count(&replica));
    replica.ask(&["REPLICAOF", "NO", "ONE"]);
    name.lead_to(replica.port());
    primary.kill();
    let lived = fleet.end();
    let kept = if replicated.window == counted.window {
        replicated.used
    } else {
        0
    };
    let lost = counted.used - kept;
    let admitted = assert_kept(&lived, counted.window, lost);
    assert_recovered(&lived, counted.window);
    println!(
        "failed over: {lost} of {LIMIT} lost, {admitted} admitted, bound {}",
        LIMIT + lost
    );
    replica.assert_all_keys_expire();
}

#[expect(
    clippy::disallowed_methods,
    reason = "other processes are waited for, whose time no clock of ours moves"
)]
fn pause(duration: Duration) {
    thread::sleep(duration);
}
