//! The command line.

use std::{
    fmt,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Parser, ValueEnum};
use throttlekit::Range;

use crate::span::span;

/// Replays a web access log through a rate limit and reports what it would have denied.
#[derive(Debug, Parser)]
#[command(
    name = "replay",
    after_help = "An IPv4 address mapped into IPv6 is that IPv4 address, and a client's port counts for nothing."
)]
pub(crate) struct Args {
    /// The log, plain or gzip; `-` is standard input.
    pub(crate) file: PathBuf,
    /// The strategy.
    #[arg(long, value_enum, default_value_t = Strategy::Gcra)]
    pub(crate) strategy: Strategy,
    /// Requests per period [default: 60].
    #[arg(long, value_parser = units, allow_negative_numbers = true)]
    pub(crate) limit: Option<u64>,
    /// The period or window, as in 500ms, 60s, 5m, 1h or 7d.
    #[arg(long, default_value = "60s", value_parser = period, allow_hyphen_values = true)]
    pub(crate) per: Duration,
    /// Requests that may come at once: GCRA's burst or the bucket's capacity [default: the limit].
    #[arg(long, value_parser = units, allow_negative_numbers = true)]
    pub(crate) burst: Option<u64>,
    /// Slices of the sliding window [default: 10].
    #[arg(long, value_parser = buckets, allow_negative_numbers = true)]
    pub(crate) buckets: Option<u64>,
    /// What the limit is counted per: ip, ip64 (IPv6 by /64), path, or field:N (1 host, 2 ident, 3 user, 4 time, 5 request, 6 status ..).
    #[arg(long, default_value = "ip", value_parser = key)]
    pub(crate) key: KeyBy,
    /// Compares these limits in one pass, instead of --limit.
    #[arg(long, value_delimiter = ',', value_name = "N,N,..", value_parser = units, allow_negative_numbers = true)]
    pub(crate) sweep: Vec<u64>,
    /// How many of the worst keys to show [default: 10].
    #[arg(long, value_parser = top, allow_negative_numbers = true)]
    pub(crate) top: Option<u64>,
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
    /// Refuses options that would do nothing beside the others.
    pub(crate) fn check(&self) -> Result<(), String> {
        let needs = |option: &str, value: Option<u64>, allowed: bool, with: &str| match value {
            Some(value) if !allowed => Err(format!("`{option}` is {value}; allowed only {with}")),
            _ => Ok(()),
        };
        let strategy = self.strategy;
        let bursts = matches!(strategy, Strategy::Gcra | Strategy::TokenBucket);
        let slices = matches!(strategy, Strategy::SlidingWindow);
        let one = self.sweep.is_empty();
        let of = |names: &str| format!("with --strategy {names}, not with {strategy}");
        needs("--burst", self.burst, bursts, &of("gcra or token-bucket"))?;
        needs("--buckets", self.buckets, slices, &of("sliding-window"))?;
        needs("--limit", self.limit, one, "without --sweep")?;
        let tops = one || self.json;
        needs("--top", self.top, tops, "without --sweep, or with --json")?;
        match &self.svg {
            Some(chart) if is_same(chart, &self.file) => {
                let chart = chart.display();
                Err(format!(
                    "`--svg` is {chart}; allowed is any file but the log itself"
                ))
            }
            _ => Ok(()),
        }
    }

    /// The limits to replay.
    pub(crate) fn limits(&self) -> impl Iterator<Item = u64> + '_ {
        let one = self.sweep.is_empty().then_some(self.limit.unwrap_or(60));
        one.into_iter().chain(self.sweep.iter().copied())
    }

    /// How many of the worst keys to show.
    pub(crate) fn top(&self) -> usize {
        self.top
            .map_or(10, |top| usize::try_from(top).unwrap_or(usize::MAX))
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = self.to_possible_value();
        f.write_str(named.as_ref().map_or("", |value| value.get_name()))
    }
}

impl fmt::Display for KeyBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ip => f.write_str("ip"),
            Self::Ip64 => f.write_str("ip64"),
            Self::Path => f.write_str("path"),
            Self::Field(number) => write!(f, "field:{number}"),
        }
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

fn units(text: &str) -> Result<u64, String> {
    number(text, 1, Range::MAX_UNITS)
}

fn buckets(text: &str) -> Result<u64, String> {
    number(text, 1, Range::MAX_BUCKETS)
}

fn top(text: &str) -> Result<u64, String> {
    number(text, 0, u64::MAX)
}

fn number(text: &str, min: u64, max: u64) -> Result<u64, String> {
    match text.parse() {
        Ok(number) if (min..=max).contains(&number) => Ok(number),
        _ => Err(format!("allowed is {min} to {max}")),
    }
}

fn period(text: &str) -> Result<Duration, String> {
    let time = span(text)?;
    let micros = Range::period("--per", time).map_err(|error| error.to_string())?;
    Ok(Duration::from_micros(micros))
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
