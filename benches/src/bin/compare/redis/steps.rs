//! What each step of a check costs beyond the round trip itself.
//!
//! Without any client library: a blocking socket, one call after the other, and PING in turns with each step. Each script does what the one
//! before does and one thing more, so that the last but the checks is the least that a check by the server's clock can be.

use anyhow::{Context as _, Result, ensure};
use tk_benches::{Stopwatch, Table};
use tk_testkit::servers::{Answer, RedisServer, Wire};

use super::{SCRIPT, percentile};
use crate::section::Settings;

/// Scripts with a key and a check's numbers.
const SCRIPTS: [(&str, &str); 4] = [
    (
        "a script that does nothing, with a key and numbers",
        "return 1",
    ),
    ("and reads the clock", "redis.call('TIME') return 1"),
    (
        "and gets a state",
        "redis.call('TIME') redis.call('GET', KEYS[1]) return 1",
    ),
    (
        "and sets it, with an end",
        "redis.call('TIME') local raw = redis.call('GET', KEYS[1])
        redis.call('SET', KEYS[1], raw or string.rep('.', 40), 'PXAT', '4102444800000') return 1",
    ),
];

type Command = Vec<Vec<u8>>;

/// `check` is the command of a check, as the store sends it.
pub(super) fn run(settings: &Settings, server: &RedisServer, check: &Command) -> Result<Table> {
    let mut table = Table::new(
        "Redis, step by step on a bare socket, one call after the other",
        "microseconds of a call at the median",
    );
    let steps = steps(server, check)?;
    let mut wire = server.wire();
    let blocks = if settings.quick { 10 } else { 60 };
    let mut times = vec![Vec::new(); steps.len()];
    for block in 0..=blocks {
        for turn in 0..steps.len() {
            let at = (turn + block) % steps.len();
            let (name, command) = &steps[at];
            for call in 0..100 {
                let stopwatch = Stopwatch::start();
                let answer = wire.ask(command)?;
                let time = stopwatch.elapsed();
                ensure!(!matches!(answer, Answer::Error(_)), "{name}: {answer:?}");
                // The first block warms up, and so do the first calls of each.
                if block > 0 && call >= 10 {
                    times[at].push(time);
                }
            }
        }
    }
    let medians: Vec<_> = times
        .iter_mut()
        .map(|times| percentile(times, 50))
        .collect();
    for ((name, _), median) in steps.iter().zip(&medians).skip(1) {
        let figures = [
            ("PING".to_owned(), medians[0]),
            ("this".to_owned(), *median),
        ];
        table.row(*name, figures);
    }
    Ok(table)
}

/// PING first.
fn steps(server: &RedisServer, check: &Command) -> Result<Vec<(&'static str, Command)>> {
    let [_, hash, _, key, numbers] = check.as_slice() else {
        anyhow::bail!("a check has changed its form");
    };
    let mut wire = server.wire();
    let mut evalsha = |script: &str| -> Result<Command> {
        let hash = wire.ask(&["SCRIPT", "LOAD", script])?;
        let hash = hash.text().context("the server takes no script")?;
        Ok(vec![b"EVALSHA".to_vec(), hash.into_bytes()])
    };
    let on = |key: &str| vec![b"1".to_vec(), key.as_bytes().to_vec(), numbers.clone()];
    let mut steps = vec![
        ("PING", words(&["PING"])),
        ("GET", words(&["GET", "step"])),
        (
            "SET, with an end",
            words(&["SET", "step", "state", "PX", "60000"]),
        ),
    ];
    let mut nothing = evalsha("return 1")?;
    nothing.push(b"0".to_vec());
    steps.push(("a script that does nothing", nothing));
    for (name, script) in SCRIPTS {
        let mut command = evalsha(script)?;
        command.extend(on("step:scripts"));
        steps.push((name, command));
    }
    steps.push(("a check of GCRA", check.clone()));
    let mut by_callers_clock = vec![b"EVALSHA".to_vec(), hash.clone()];
    by_callers_clock.extend(on("step:callers-clock"));
    if let Some(clock) = by_callers_clock[4].first_chunk_mut() {
        *clock = 1e15_f64.to_le_bytes();
    }
    steps.push(("the same by the caller's clock", by_callers_clock));
    if let Some(name) = function(&mut wire)? {
        let mut command = vec![b"FCALL".to_vec(), name.into()];
        command.extend([b"1".to_vec(), key.clone(), numbers.clone()]);
        steps.push(("a check of GCRA as a function", command));
    }
    Ok(steps)
}

/// Makes a function of the script, where the server has functions.
fn function(wire: &mut Wire) -> Result<Option<&'static str>> {
    let library = format!(
        "#!lua name=steps\nredis.register_function('step', function(KEYS, ARGV)\n{SCRIPT}\nend)"
    );
    let answer = wire.ask(&["FUNCTION", "LOAD", &library])?;
    Ok((!matches!(answer, Answer::Error(_))).then_some("step"))
}

fn words(words: &[&str]) -> Command {
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}
