//! The fleet in several processes, which share a Redis.
//!
//! Each child lives through one mode with its part of the nodes and prints what it saw. A unit that the server charges for a request is
//! counted in the server's window, which its answer tells. A unit of a lease is counted when the node spends it, by this machine's clock: that is the
//! server's too if it runs here, but for the microseconds by which clocks are slewed.

use std::{
    env,
    error::Error,
    process::{self, Command, Stdio},
    time::Duration,
};

use indicatif::ProgressBar;
use serde_json::{Value, json};
use throttlekit::{FixedWindow, RedisStore};
use tokio::task::{JoinSet, spawn_blocking};

use crate::{
    args::Args,
    fleet::{follow, next_edge, node},
    load::schedule,
    mode::Compared,
    node::Seen,
    output,
    report::Report,
};

/// Time for all children to start.
const START_UP: Duration = Duration::from_secs(1);

/// How long a server that is back may go unnoticed, at most.
const PROBE: Duration = Duration::from_secs(1);

/// Lives through a mode in children.
pub(crate) async fn live(
    args: &Args,
    mode: Compared,
    bar: &ProgressBar,
) -> Result<Report, Box<dyn Error>> {
    let start = next_edge(args, START_UP);
    let modes = args.modes();
    let number = modes.iter().position(|other| *other == mode).unwrap_or(0);
    let mut children = Vec::new();
    for child in 0..args.processes {
        let part = [child, number as u64, start, u64::from(process::id())];
        let child = Command::new(env::current_exe()?)
            .args(env::args_os().skip(1))
            .arg("--part")
            .args(part.map(|number| number.to_string()))
            .stdout(Stdio::piped())
            .spawn()?;
        children.push(spawn_blocking(|| child.wait_with_output()));
    }
    follow(args, start, bar).await;
    let mut report = Report::new(args, mode, start);
    for child in children {
        let output = child.await??;
        if !output.status.success() {
            return Err(format!("a child process ended with {}", output.status).into());
        }
        let seen: Value = serde_json::from_slice(&output.stdout)?;
        report.add(read(&seen).ok_or("a child process printed something else")?);
    }
    Ok(report)
}

/// Lives through a mode with the nodes of one process, and prints what they saw.
pub(crate) async fn child(args: &Args, part: &[u64]) -> Result<(), Box<dyn Error>> {
    let (&[child, mode, start, run], Some(url)) = (part, &args.redis) else {
        return Err("`--part` and `--redis` belong together".into());
    };
    let modes = args.modes();
    let mode = *modes.get(mode as usize).ok_or("there is no such mode")?;
    // No run meets the counters of another.
    let policy = format!("fleet {run} {}", mode.name());
    let store: RedisStore<FixedWindow> = RedisStore::builder(&policy)
        .url(url)
        .deadline(args.deadline)
        .breaker(5, args.deadline.min(PROBE))
        .build()?;
    let mut tasks = JoinSet::new();
    for number in (0..args.nodes).filter(|number| number % args.processes == child) {
        let due: Vec<_> = schedule(args).collect();
        let node = node(args, mode, store.clone(), number)?;
        tasks.spawn(node.live(start, due.into_iter()));
    }
    let mut all = Seen::default();
    while let Some(seen) = tasks.join_next().await {
        let seen = seen?.map_err(|error| error as Box<dyn Error>)?;
        all.requests += seen.requests;
        all.l2_calls += seen.l2_calls;
        all.stranded += seen.stranded;
        all.unanswered += seen.unanswered;
        all.times.extend(seen.times);
        for (window, units) in seen.admitted {
            *all.admitted.entry(window).or_default() += units;
        }
    }
    output::print(|out| writeln!(out, "{}", write(&all)))?;
    Ok(())
}

fn write(seen: &Seen) -> Value {
    let nanos = seen.times.iter().map(|time| time.as_nanos() as u64);
    json!({
        "requests": seen.requests,
        "l2_calls": seen.l2_calls,
        "stranded": seen.stranded,
        "unanswered": seen.unanswered,
        "admitted": seen.admitted.iter().collect::<Vec<_>>(),
        "nanos": nanos.collect::<Vec<_>>(),
    })
}

fn read(value: &Value) -> Option<Seen> {
    let admitted = value["admitted"].as_array()?.iter();
    let nanos = value["nanos"].as_array()?.iter();
    Some(Seen {
        requests: value["requests"].as_u64()?,
        l2_calls: value["l2_calls"].as_u64()?,
        stranded: value["stranded"].as_u64()?,
        unanswered: value["unanswered"].as_u64()?,
        admitted: admitted
            .map(|pair| Some((pair[0].as_u64()?, pair[1].as_u64()?)))
            .collect::<Option<_>>()?,
        times: nanos
            .map(|nanos| nanos.as_u64().map(Duration::from_nanos))
            .collect::<Option<_>>()?,
    })
}
