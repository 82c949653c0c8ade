//! Lives through simulated fleets, drawn from seeds, and counts what happened to them.
//!
//! ```text
//! cargo run --release --example simulation --features twotier,redis -- --seeds 1000
//! cargo run --release --example simulation --features twotier,redis -- --seeds 100 --redis redis://127.0.0.1
//! ```
//!
//! With `--redis` the fleets lease from a real server. The clock of the run decides, and the same happens as without, to the last unit. Ends with
//! failure and the story of the run if a bound is broken.

#[path = "common/output.rs"]
mod output;

use std::{
    error::Error,
    process::{self, ExitCode},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use clap::Parser;
use throttlekit::{ManualClock, RedisStore, redis::Scripted};
use tk_testkit::{
    conformance::Harness,
    simulation::{Counts, Scenario, run, run_over},
};

#[derive(Debug, Parser)]
struct Args {
    /// How many fleets.
    #[arg(long, default_value_t = 100)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// The store also loses its data.
    #[arg(long)]
    forgetful: bool,
    /// The server to lease from.
    #[arg(long, value_name = "URL")]
    redis: Option<String>,
}

fn main() -> ExitCode {
    let lived = live(&Args::parse());
    let told = lived.and_then(|counts| Ok(output::print(|out| write!(out, "{counts}"))?));
    match told {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::tell("simulation", error);
            ExitCode::FAILURE
        }
    }
}

fn live(args: &Args) -> Result<Counts, Box<dyn Error>> {
    let scenario = if args.forgetful {
        Scenario::default().forgetful()
    } else {
        Scenario::default()
    };
    let server = args.redis.clone().map(|url| Server {
        url,
        runs: AtomicU64::new(0),
    });
    let mut total = Counts::default();
    for seed in args.first..args.first.saturating_add(args.seeds) {
        let lived = match &server {
            None => run(seed, &scenario),
            Some(server) => run_over(seed, &scenario, server),
        };
        total += lived.map_err(|violation| violation.to_string())?;
    }
    Ok(total)
}

/// A server in which each run has keys of its own.
struct Server {
    url: String,
    runs: AtomicU64,
}

/// A busy machine is no outage: the run waits.
const DEADLINE: Duration = Duration::from_secs(20);

impl<S: Scripted> Harness<S> for Server {
    type Store = RedisStore<S>;

    async fn store(&self, clock: Arc<ManualClock>) -> RedisStore<S> {
        let run = self.runs.fetch_add(1, Relaxed);
        let builder = RedisStore::builder("simulation")
            .url(&self.url)
            .prefix(format!("{} {run}", process::id()))
            .deadline(DEADLINE)
            .clock(clock);
        builder.build().unwrap_or_else(|error| {
            output::tell("simulation", error);
            process::exit(1)
        })
    }
}
