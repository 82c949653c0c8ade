//! A report as a table.

use std::io::{self, Write};

use super::{Count, Lines, Report, Skipped};
use crate::args::Args;

/// One limit, with the keys that it hit most.
pub(super) fn one(out: &mut dyn Write, args: &Args, report: &Report) -> io::Result<()> {
    let Count { allowed, denied } = report.total;
    writeln!(
        out,
        "limit      {} per {:?}, {}, key {}",
        report.limit, args.per, args.strategy, args.key
    )?;
    writeln!(out, "requests   {:>10}", report.total.requests())?;
    writeln!(out, "allowed    {allowed:>10}")?;
    let rate = 100.0 * report.total.denial_rate();
    writeln!(out, "denied     {denied:>10}  ({rate:.2} %)")?;
    writeln!(out, "keys       {:>10}", report.keys.len())?;
    if report.out_of_order > 0 {
        writeln!(
            out,
            "out of order {:>8}  by up to {:?}; going back frees nothing",
            report.out_of_order, report.furthest_back
        )?;
    }
    if let Some((minute, count)) = report.peak() {
        writeln!(
            out,
            "peak       {:>10}  requests in the minute of {minute}, {} denied",
            count.requests(),
            count.denied
        )?;
    }
    worst(out, args, report)
}

fn worst(out: &mut dyn Write, args: &Args, report: &Report) -> io::Result<()> {
    let worst = report.worst(args.top());
    if !worst.is_empty() {
        writeln!(
            out,
            "\n{:<42} {:>9} {:>9} {:>8}",
            "worst keys", "requests", "denied", "rate"
        )?;
    }
    for (key, count) in worst {
        let shown = shown(&key, 42);
        let rate = 100.0 * count.denial_rate();
        writeln!(
            out,
            "{shown:<42} {:>9} {:>9} {rate:>6.1} %",
            count.requests(),
            count.denied
        )?;
    }
    Ok(())
}

/// Several limits beside each other.
pub(super) fn sweep(out: &mut dyn Write, reports: &[Report]) -> io::Result<()> {
    writeln!(
        out,
        "{:>10} {:>10} {:>10} {:>9} {:>12}",
        "limit", "allowed", "denied", "rate", "keys denied"
    )?;
    for report in reports {
        let keys = report.keys.values();
        let hit = keys.filter(|count| count.denied > 0).count();
        let Count { allowed, denied } = report.total;
        let rate = 100.0 * report.total.denial_rate();
        writeln!(
            out,
            "{:>10} {allowed:>10} {denied:>10} {rate:>7.2} % {hit:>12}",
            report.limit
        )?;
    }
    Ok(())
}

/// Lines that were not replayed, and why.
pub(super) fn lines(out: &mut dyn Write, why: &str, lines: &Lines) -> io::Result<()> {
    if lines.count == 0 {
        return Ok(());
    }
    let count = lines.count;
    writeln!(out, "\n{count} lines {why}, the first of them:")?;
    for (number, line) in &lines.first {
        writeln!(out, "  line {number}: {line}")?;
    }
    Ok(())
}

/// What of the log was not even lines.
pub(super) fn rest(out: &mut dyn Write, skipped: &Skipped) -> io::Result<()> {
    if skipped.ignored > 0 {
        let count = skipped.ignored;
        writeln!(
            out,
            "\n{count} bytes around the gzip data are padding or no gzip"
        )?;
    }
    if let Some(cut) = &skipped.cut {
        writeln!(out, "\nthe log could not be read to its end: {cut}")?;
    }
    Ok(())
}

/// What a log holds, as it may be shown on a terminal: whoever sends a request writes parts of it. At most `width` characters, the last of
/// which is an ellipsis if there are more; no escape sequence is cut in two.
pub(super) fn shown(text: &str, width: usize) -> String {
    let mut shown = String::new();
    let (mut used, mut fits) = (0, 0);
    for character in text.chars() {
        let escaped = character.escape_debug();
        used += escaped.len();
        if used > width {
            shown.truncate(fits);
            shown.push('…');
            break;
        }
        shown.extend(escaped);
        if used < width {
            fits = shown.len();
        }
    }
    shown
}
