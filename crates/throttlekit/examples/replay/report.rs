//! What a limit did to a log.

mod drawing;
mod text;

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    error::Error,
    time::Duration,
};

use serde_json::{Value, json};
use throttlekit::Timestamp;

use crate::{args::Args, input, output, replay::Limit};

const MINUTE: u64 = 60_000_000;

#[derive(Clone, Copy, Default)]
struct Count {
    allowed: u64,
    denied: u64,
}

impl Count {
    fn add(&mut self, allowed: bool) {
        if allowed {
            self.allowed += 1
        } else {
            self.denied += 1
        }
    }

    fn requests(self) -> u64 {
        self.allowed + self.denied
    }

    fn denial_rate(self) -> f64 {
        if self.requests() == 0 {
            0.0
        } else {
            self.denied as f64 / self.requests() as f64
        }
    }
}

/// One limit, and what it did.
pub(crate) struct Report {
    limit: u64,
    decide: Limit,
    total: Count,
    keys: HashMap<Vec<u8>, Count>,
    minutes: BTreeMap<u64, Count>,
    latest: Timestamp,
    out_of_order: u64,
    /// By how much the clock was set back at most.
    furthest_back: Duration,
}

/// What was not replayed.
#[derive(Default)]
pub(crate) struct Skipped {
    pub(crate) unreadable: Lines,
    /// They could be read, and lack what the limit is counted per.
    pub(crate) keyless: Lines,
    /// Bytes behind packed data that are none themselves.
    pub(crate) ignored: u64,
    /// Why the log could not be read to its end.
    pub(crate) cut: Option<String>,
}

/// How many lines, and the first of them.
#[derive(Default)]
pub(crate) struct Lines {
    count: u64,
    first: Vec<(u64, String)>,
}

impl Lines {
    pub(crate) fn add(&mut self, number: u64, line: &[u8]) {
        self.count += 1;
        if self.first.len() < 3 {
            let shown = text::shown(&String::from_utf8_lossy(line), 80);
            self.first.push((number, shown));
        }
    }
}

impl Report {
    pub(crate) fn new(limit: u64, decide: Limit) -> Self {
        let (keys, minutes) = (HashMap::new(), BTreeMap::new());
        Self {
            limit,
            decide,
            total: Count::default(),
            keys,
            minutes,
            latest: Timestamp::EPOCH,
            out_of_order: 0,
            furthest_back: Duration::ZERO,
        }
    }

    pub(crate) fn replay(&mut self, at: Timestamp, key: &[u8]) -> Result<(), throttlekit::Error> {
        let allowed = (self.decide)(at, key)?.allowed;
        self.total.add(allowed);
        self.minutes
            .entry(at.as_micros() / MINUTE)
            .or_default()
            .add(allowed);
        match self.keys.get_mut(key) {
            Some(count) => count.add(allowed),
            None => self.keys.entry(key.to_vec()).or_default().add(allowed),
        }
        self.out_of_order += u64::from(at < self.latest);
        self.furthest_back = self.furthest_back.max(self.latest.since(at));
        self.latest = self.latest.max(at);
        Ok(())
    }

    /// The keys with the most denials.
    fn worst(&self, top: usize) -> Vec<(Cow<'_, str>, Count)> {
        let mut keys: Vec<_> = self
            .keys
            .iter()
            .filter(|(_, count)| count.denied > 0)
            .collect();
        keys.sort_by(|a, b| b.1.denied.cmp(&a.1.denied).then_with(|| a.0.cmp(b.0)));
        keys.truncate(top);
        keys.into_iter()
            .map(|(key, &count)| (String::from_utf8_lossy(key), count))
            .collect()
    }

    fn peak(&self) -> Option<(String, Count)> {
        let (minute, &count) = self
            .minutes
            .iter()
            .max_by_key(|(_, count)| count.requests())?;
        Some((time_of(*minute), count))
    }

    fn json(&self, args: &Args, skipped: &Skipped) -> Value {
        let worst: Vec<_> = self
            .worst(args.top())
            .into_iter()
            .map(|(key, count)| {
                json!({
                    "key": key, "requests": count.requests(), "denied": count.denied,
                    "denial_rate": count.denial_rate(),
                })
            })
            .collect();
        let peak = self.peak().map(|(minute, count)| {
            json!({
                "minute": minute, "requests": count.requests(), "denied": count.denied,
            })
        });
        json!({
            "limit": self.limit,
            "requests": self.total.requests(),
            "allowed": self.total.allowed,
            "denied": self.total.denied,
            "denial_rate": self.total.denial_rate(),
            "keys": self.keys.len(),
            "unreadable": skipped.unreadable.count,
            "without_key": skipped.keyless.count,
            "out_of_order": self.out_of_order,
            "furthest_back_seconds": self.furthest_back.as_secs_f64(),
            "ignored_bytes": skipped.ignored,
            "cut": skipped.cut,
            "peak_minute": peak,
            "worst_keys": worst,
        })
    }
}

/// The start of a minute since the epoch, in UTC.
fn time_of(minute: u64) -> String {
    i64::try_from(minute * 60)
        .ok()
        .and_then(|second| jiff::Timestamp::from_second(second).ok())
        .map_or_else(String::new, |time| {
            time.strftime("%Y-%m-%d %H:%M UTC").to_string()
        })
}

/// Prints what was asked for, and writes the chart.
pub(crate) fn print(
    args: &Args,
    reports: &[Report],
    skipped: &Skipped,
) -> Result<(), Box<dyn Error>> {
    output::print(|out| {
        if args.json {
            return writeln!(out, "{:#}", json(args, reports, skipped));
        }
        if args.sweep.is_empty() {
            text::one(out, args, &reports[0])?;
        } else {
            text::sweep(out, reports)?;
        }
        text::lines(out, "could not be read", &skipped.unreadable)?;
        text::lines(out, "have nothing to be counted per", &skipped.keyless)?;
        text::rest(out, skipped)
    })?;
    if reports[0].total.requests() == 0 && skipped.cut.is_none() {
        let name = input::name(&args.file);
        let why = if skipped.keyless.count == 0 {
            format!("{name} holds no request in Common or Combined Log Format")
        } else {
            format!("no request in {name} has what `--key` names")
        };
        output::tell("replay", why);
    }
    if let Some(file) = &args.svg {
        drawing::write(file, reports)?;
    }
    Ok(())
}

/// One object, or a list of them if limits are compared.
fn json(args: &Args, reports: &[Report], skipped: &Skipped) -> Value {
    if args.sweep.is_empty() {
        return reports[0].json(args, skipped);
    }
    reports
        .iter()
        .map(|report| report.json(args, skipped))
        .collect()
}
