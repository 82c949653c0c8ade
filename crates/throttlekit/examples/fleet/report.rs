//! What each mode did, as a table, as JSON, as a chart.

use std::{
    collections::BTreeMap,
    error::Error,
    io::{self, Write},
    path::Path,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    args::Args,
    chart::{self, Labels, Line},
    mode::Compared,
    node::Seen,
    output,
};

pub(crate) struct Report {
    mode: Compared,
    bound: u64,
    /// Units admitted in each window, by its start.
    admitted: BTreeMap<u64, u64>,
    requests: u64,
    l2_calls: u64,
    stranded: u64,
    unanswered: u64,
    times: Vec<Duration>,
}

impl Report {
    pub(crate) fn new(args: &Args, mode: Compared, start: u64) -> Self {
        let window = args.window_micros();
        Self {
            mode,
            bound: mode.bound(args),
            admitted: (0..args.windows())
                .map(|number| (start + number * window, 0))
                .collect(),
            requests: 0,
            l2_calls: 0,
            stranded: 0,
            unanswered: 0,
            times: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, seen: Seen) {
        self.requests += seen.requests;
        self.l2_calls += seen.l2_calls;
        self.stranded += seen.stranded;
        self.unanswered += seen.unanswered;
        self.times.extend(seen.times);
        for (window, units) in seen.admitted {
            *self.admitted.entry(window).or_default() += units;
        }
    }

    /// Whether no window exceeds the bound.
    pub(crate) fn holds(&self) -> bool {
        self.most() <= self.bound
    }

    fn most(&self) -> u64 {
        self.admitted.values().copied().max().unwrap_or(0)
    }

    /// The mean over the floods, in which more was asked for than the limit.
    fn mean_of_floods(&self) -> f64 {
        let floods: Vec<_> = self.admitted.values().skip(1).step_by(2).collect();
        floods.iter().copied().sum::<u64>() as f64 / floods.len().max(1) as f64
    }

    fn calls_per_thousand(&self) -> f64 {
        self.l2_calls as f64 * 1_000.0 / self.requests.max(1) as f64
    }

    /// The time that `percent` of the checks took at most, in microseconds.
    fn percentile(&self, percent: usize) -> f64 {
        let mut times = self.times.clone();
        times.sort_unstable();
        let at = (times.len() * percent / 100).min(times.len().saturating_sub(1));
        times
            .get(at)
            .map_or(0.0, |time| time.as_nanos() as f64 / 1_000.0)
    }

    fn json(&self, args: &Args) -> Value {
        json!({
            "mode": self.mode.name(),
            "requests": self.requests,
            "window_starts": self.admitted.keys().collect::<Vec<_>>(),
            "admitted_per_window": self.admitted.values().collect::<Vec<_>>(),
            "max": self.most(),
            "mean_of_floods": self.mean_of_floods(),
            "limit": args.limit,
            "bound": self.bound,
            "holds": self.holds(),
            "l2_calls": self.l2_calls,
            "stranded": self.stranded,
            "unanswered": self.unanswered,
            "p50_us": self.percentile(50),
            "p99_us": self.percentile(99),
        })
    }
}

pub(crate) fn print(args: &Args, reports: &[Report]) -> Result<(), Box<dyn Error>> {
    if let Some(file) = &args.svg {
        draw(args, reports, file)?;
    }
    output::print(|out| {
        if args.json {
            let modes: Value = reports.iter().map(|report| report.json(args)).collect();
            writeln!(out, "{modes:#}")
        } else {
            table(out, args, reports)
        }
    })?;
    Ok(())
}

fn table(out: &mut dyn Write, args: &Args, reports: &[Report]) -> io::Result<()> {
    writeln!(
        out,
        "{} nodes, limit {} per {:?}, batches of {}, walls wrong by up to {:?}\n",
        args.nodes, args.limit, args.window, args.batch, args.skew
    )?;
    writeln!(
        out,
        "{:<20} {:>10} {:>23} {:>10} {:>10} {:>9} {:>15}",
        "", "requests", "admitted per window", "bound", "L2 calls", "stranded", "check"
    )?;
    writeln!(
        out,
        "{:<20} {:>10} {:>6} {:>16} {:>10} {:>10} {:>9} {:>7} {:>7}",
        "", "", "max", "mean of floods", "", "per 1000", "", "p50", "p99"
    )?;
    for report in reports {
        writeln!(
            out,
            "{:<20} {:>10} {:>6} {:>16.1} {:>10} {:>10.1} {:>9} {:>7} {:>7}{}",
            report.mode.name(),
            report.requests,
            report.most(),
            report.mean_of_floods(),
            report.bound,
            report.calls_per_thousand(),
            report.stranded,
            format!("{:.1}us", report.percentile(50)),
            format!("{:.1}us", report.percentile(99)),
            if report.holds() { "" } else { "  BROKEN" },
        )?;
    }
    Ok(())
}

fn draw(args: &Args, reports: &[Report], file: &Path) -> Result<(), Box<dyn Error>> {
    let numbered = |values: Vec<u64>| {
        let points = values.into_iter().enumerate();
        points
            .map(|(at, units)| (at as f64, units as f64))
            .collect()
    };
    let level = |units| numbered(vec![units; args.windows() as usize]);
    let mut lines: Vec<_> = reports
        .iter()
        .map(|report| Line {
            name: report.mode.name(),
            points: numbered(report.admitted.values().copied().collect()),
        })
        .collect();
    lines.push(Line {
        name: "limit",
        points: level(args.limit),
    });
    lines.push(Line {
        name: "bound, carried over",
        points: level(Compared::CarriedOver.bound(args)),
    });
    let labels = Labels {
        title: &format!("{} nodes, batches of {}", args.nodes, args.batch),
        x: "window",
        y: "units admitted",
    };
    chart::write(file, &labels, &lines)
}
