//! What would a limit do to a real access log?
//!
//! Reads a web access log in Common or Combined Log Format, plain or gzip, from a file or from standard
//! input, and replays it through a strategy on a manual clock at the log's own times.
//!
//! ```text
//! cargo run --release --example replay -- access.log.gz --strategy gcra --limit 60 --per 60s --key ip
//! ```

mod args;
#[path = "../common/chart.rs"]
mod chart;
mod input;
mod key;
mod line;
#[path = "../common/output.rs"]
mod output;
mod replay;
mod report;
#[path = "../common/span.rs"]
mod span;

use std::{error::Error, io, process::ExitCode};

use clap::Parser;

use crate::{
    args::Args,
    input::{Line, Log},
    line::Entry,
    report::{Report, Skipped},
};

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::tell("replay", error);
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    args.check()?;
    let mut limits = args
        .limits()
        .map(|limit| Ok(Report::new(limit, replay::limiter(args, limit)?)))
        .collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    let mut skipped = Skipped::default();
    let named = |error: io::Error| format!("{}: {error}", input::name(&args.file));
    let mut log = Log::open(&args.file).map_err(named)?;
    let mut line = Vec::new();
    for number in 1.. {
        match log.read_line(&mut line) {
            Line::End => break,
            Line::TooLong => skipped.unreadable.add(number, &line),
            Line::Read => match Entry::parse(&line).map(|entry| entry.keyed(args.key)) {
                Some(Some((at, key))) => {
                    for report in &mut limits {
                        report.replay(at, &key)?;
                    }
                }
                Some(None) => skipped.keyless.add(number, &line),
                None if line.iter().all(u8::is_ascii_whitespace) => {}
                None => skipped.unreadable.add(number, &line),
            },
        }
    }
    skipped.ignored = log.ignored();
    skipped.cut = log.cut.as_ref().map(ToString::to_string);
    report::print(args, &limits, &skipped)?;
    // A report of a part is one, but whoever asked for all should know.
    log.cut.map_or(Ok(()), |error| {
        Err(format!("{}; the report ends there", named(error)).into())
    })
}
