//! The fleet example as a child, which starts children of its own.

use std::{
    collections::BTreeMap,
    env,
    process::{Child, Command, Stdio},
};

use serde_json::Value;

/// A fleet that is under way.
pub(crate) struct Fleet(Child);

/// What became of it.
pub(crate) struct Lived {
    /// Whether all bounds held, as the fleet itself sees it.
    pub(crate) held: bool,
    pub(crate) modes: Vec<Value>,
    pub(crate) error: String,
}

impl Fleet {
    /// Four processes over the Redis at `url`.
    pub(crate) fn start(url: &str, args: &[&str]) -> Self {
        // The examples are built beside the tests.
        let built = env::current_exe().unwrap();
        let built = built.parent().and_then(|deps| deps.parent()).unwrap();
        let child = Command::new(built.join("examples").join("fleet"))
            .args(["--redis", url, "--processes", "4", "--nodes", "4", "--json"])
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        Self(child.unwrap())
    }

    /// Waits until it has ended.
    pub(crate) fn end(self) -> Lived {
        let output = self.0.wait_with_output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        let modes = serde_json::from_slice(&output.stdout);
        Lived {
            held: output.status.success(),
            modes: modes
                .unwrap_or_else(|bad| panic!("the fleet printed no reports: {bad}; {error}")),
            error,
        }
    }
}

/// Units that a mode admitted in each window, by the window's start.
pub(crate) fn admitted(mode: &Value) -> BTreeMap<u64, u64> {
    let numbers = |name: &str| {
        let list = mode[name].as_array().unwrap();
        let numbers: Vec<_> = list.iter().map(|it| it.as_u64().unwrap()).collect();
        numbers
    };
    let (starts, units) = (numbers("window_starts"), numbers("admitted_per_window"));
    starts.into_iter().zip(units).collect()
}
