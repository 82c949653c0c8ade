//! Four processes on one server: this program, started again for the test of one of them.
//!
//! Windows are the server's, and real: each process asks from before a window begins until two windows later, and tells what
//! it was granted in which. The first of the windows is for getting to know each other, and does not count.

use std::{
    collections::BTreeMap,
    env,
    process::{Command, Stdio},
    time::Duration,
};

use tk_core::{Clock, Decision, SystemClock};
use tk_testkit::servers::RedisServer;

/// Long enough for processes that share few processors to be heard more often than `IDLE_AFTER`.
pub(crate) const WINDOW: Duration = Duration::from_secs(3);

/// The longest that is allowed.
pub(crate) const IDLE_AFTER: Duration = Duration::from_millis(600);

pub(crate) const PROCESSES: u64 = 4;

/// How long somebody who was refused waits, or less: well below `IDLE_AFTER`, so that it stays active.
pub(crate) const PATIENCE: Duration = Duration::from_millis(40);

/// Tells a process of the fleet what to do.
const ORDERS: &str = "TK_FAIR_FLEET";

/// Units by window and name.
pub(crate) type Tally = BTreeMap<(u64, String), u64>;

/// One process of the fleet.
#[derive(Clone, Copy)]
pub(crate) struct Member {
    pub(crate) port: u16,
    pub(crate) number: u64,
    /// The last window in which it asks.
    last: u64,
}

/// The window of the wall clock, which the server shares.
pub(crate) fn window_now() -> u64 {
    window_at(SystemClock.now().as_micros())
}

fn window_at(micros: u64) -> u64 {
    micros / WINDOW.as_micros() as u64
}

/// The window that a decision was charged to: the one that ends at its reset, which is told a little early.
pub(crate) fn window_of(decision: &Decision) -> u64 {
    window_at(decision.reset_at.as_micros())
}

impl Member {
    /// What this process was told to do, if it was started as a process of the fleet for the test called `test`.
    pub(crate) fn for_test(test: &str) -> Option<Self> {
        let orders = env::var(ORDERS).ok()?;
        let numbers = orders.strip_prefix(test)?.strip_prefix(' ')?;
        let numbers: Vec<u64> = numbers.split(' ').map(|n| n.parse().unwrap()).collect();
        Some(Self {
            port: numbers[0] as u16,
            number: numbers[1],
            last: numbers[2],
        })
    }

    pub(crate) fn goes_on(&self) -> bool {
        window_now() <= self.last
    }
}

/// Tells the parent what was granted.
pub(crate) fn report(tally: &Tally) {
    for ((window, name), units) in tally {
        println!("granted {window} {name} {units}");
    }
}

/// Starts `test` once more in each process, and adds up what they were granted in each of the two windows that count.
pub(crate) fn run(server: &RedisServer, test: &str) -> Vec<BTreeMap<String, u64>> {
    // Nobody is late for the first window that counts.
    let soon = SystemClock.now() + WINDOW / 2;
    let first = window_at(soon.as_micros()) + 1;
    let processes: Vec<_> = (0..PROCESSES)
        .map(|number| {
            let orders = format!("{test} {} {number} {}", server.port(), first + 1);
            Command::new(env::current_exe().unwrap())
                .args(["--exact", test, "--nocapture", "--test-threads", "1"])
                .env(ORDERS, orders)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut windows = vec![BTreeMap::new(); 2];
    for process in processes {
        let output = process.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}");
        for line in text
            .lines()
            .filter_map(|line| line.split_once("granted ").map(|(_, rest)| rest))
        {
            let [window, name, units] = line.split(' ').collect::<Vec<_>>()[..] else {
                panic!("not a report: {line}");
            };
            let window = window.parse::<u64>().unwrap().checked_sub(first);
            if let Some(window) = window.and_then(|window| windows.get_mut(window as usize)) {
                *window.entry(name.to_owned()).or_insert(0) += units.parse::<u64>().unwrap();
            }
        }
    }
    windows
}
