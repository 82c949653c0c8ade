//! A report as a chart.

use std::{error::Error, path::Path};

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
        let points = |of: fn(&Count) -> u64| {
            report
                .minutes
                .iter()
                .map(|(minute, count)| ((minute - start) as f64, of(count) as f64))
                .collect()
        };
        lines.push(Line {
            name: allowed,
            points: points(|count| count.allowed),
        });
        lines.push(Line {
            name: denied,
            points: points(|count| count.denied),
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
