//! The command line.

use std::{num::NonZeroUsize, path::PathBuf, time::Duration};

use clap::{Parser, ValueEnum};

/// Replays a web access log through a rate limit and reports what it would have denied.
#[derive(Debug, Parser)]
#[command(name = "replay")]
pub(crate) struct Args {
    /// The log, plain or gzip; `-` is standard input.
    pub(crate) file: PathBuf,
    /// The strategy.
    #[arg(long, value_enum, default_value_t = Strategy::Gcra)]
    pub(crate) strategy: Strategy,
    /// Requests per period.
    #[arg(long, default_value_t = 60)]
    pub(crate) limit: u64,
    /// The period or window, as in 500ms, 60s, 5m or 1h.
    #[arg(long, default_value = "60s", value_parser = duration)]
    pub(crate) per: Duration,
    /// Requests that may come at once: GCRA's burst or the bucket's capacity [default: the limit].
    #[arg(long)]
    pub(crate) burst: Option<u64>,
    /// Slices of the sliding window [default: 10].
    #[arg(long)]
    pub(crate) buckets: Option<u64>,
    /// What the limit is counted per: ip, ip64 (IPv6 by /64), path, or field:N (from 1).
    #[arg(long, default_value = "ip", value_parser = key)]
    pub(crate) key: KeyBy,
    /// Compares these limits in one pass, instead of --limit.
    #[arg(long, value_delimiter = ',', value_name = "N,N,..")]
    pub(crate) sweep: Vec<u64>,
    /// How many of the worst keys to show.
    #[arg(long, default_value_t = 10)]
    pub(crate) top: usize,
    /// Writes a chart of allowed and denied requests over time.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Prints JSON instead of a report; a list of them with --sweep.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Strategy {
    Gcra,
    TokenBucket,
    FixedWindow,
    SlidingWindow,
    SlidingLog,
}

/// What the limit is counted per.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyBy {
    Ip,
    Ip64,
    Path,
    Field(NonZeroUsize),
}

impl Args {
    /// The limits to replay.
    pub(crate) fn limits(&self) -> impl Iterator<Item = u64> + '_ {
        let one = self.sweep.is_empty().then_some(self.limit);
        one.into_iter().chain(self.sweep.iter().copied())
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let parsed: jiff::SignedDuration = text.parse().map_err(|error| format!("{error}"))?;
    Duration::try_from(parsed).map_err(|_| "a period is not negative".into())
}

fn key(text: &str) -> Result<KeyBy, String> {
    match (text, text.strip_prefix("field:").map(str::parse)) {
        ("ip", _) => Ok(KeyBy::Ip),
        ("ip64", _) => Ok(KeyBy::Ip64),
        ("path", _) => Ok(KeyBy::Path),
        (_, Some(Ok(field))) => Ok(KeyBy::Field(field)),
        _ => Err("allowed are ip, ip64, path and field:N with N from 1".into()),
    }
}
