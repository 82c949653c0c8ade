//! A report as a chart.

use std::{collections::BTreeMap, error::Error, path::Path};

use super::{Count, Report, time_of};
use crate::chart::{self, Labels, Line};

/// Draws allowed and denied requests per minute.
pub(super) fn write(file: &Path, reports: &[Report]) -> Result<(), Box<dyn Error>> {
    let start = reports[0].minutes.keys().next().copied().unwrap_or(0);
    let names: Vec<_> = reports
        .iter()
        .map(|report| {
            (
                format!("allowed at {}", report.limit),
                format!("denied at {}", report.limit),
            )
        })
        .collect();
    let mut lines = Vec::new();
    for (report, (allowed, denied)) in reports.iter().zip(&names) {
        lines.push(Line {
            name: allowed,
            points: points(&report.minutes, start, |count| count.allowed),
        });
        lines.push(Line {
            name: denied,
            points: points(&report.minutes, start, |count| count.denied),
        });
    }
    let x = format!("minutes since {}", time_of(start));
    chart::write(
        file,
        &Labels {
            title: "Allowed and denied requests",
            x: &x,
            y: "requests per minute",
        },
        &lines,
    )
}

/// One point for each minute. Without requests it is 0, and of many such in a row the first and the last do.
fn points(minutes: &BTreeMap<u64, Count>, start: u64, of: fn(&Count) -> u64) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    let mut point = |minute: u64, units| points.push(((minute - start) as f64, units as f64));
    let mut next = start;
    for (&minute, count) in minutes {
        if next < minute {
            point(next, 0);
            point(minute - 1, 0);
        }
        point(minute, of(count));
        next = minute + 1;
    }
    points
}
