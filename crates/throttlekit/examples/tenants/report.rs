//! What came of the day.

use std::{
    error::Error,
    io::{self, Write},
    path::Path,
};

use serde_json::{Value, json};
use throttlekit::fair::traces::Report;

use crate::{
    chart::{self, Labels, Line},
    day::{PLANS, plan_of},
};

/// One way of splitting, and what came of it.
pub(crate) struct Split {
    name: &'static str,
    report: Report,
}

impl Split {
    pub(crate) const fn new(name: &'static str, report: Report) -> Self {
        Self { name, report }
    }

    /// Units that a plan's tenants got in a window, and would ideally have got.
    fn plan(&self, window: usize, plan: usize) -> (f64, f64) {
        let outcomes = self.report.windows[window].iter().enumerate();
        outcomes
            .filter(|(tenant, _)| plan_of(*tenant) == plan)
            .fold((0.0, 0.0), |(got, ideal), (_, outcome)| {
                (
                    got + outcome.got as f64,
                    ideal + outcome.ideal.approximate(),
                )
            })
    }

    /// The same over the day.
    fn total(&self, plan: usize) -> (f64, f64) {
        let windows = (0..self.report.windows.len()).map(|window| self.plan(window, plan));
        windows.fold((0.0, 0.0), |(got, ideal), (more, better)| {
            (got + more, ideal + better)
        })
    }
}

/// The day under each split; the fair one comes first.
pub(crate) struct Outcome {
    pub(crate) limit: u64,
    pub(crate) splits: [Split; 3],
}

impl Outcome {
    /// Whether the fair split held the limit and served 99 % of the ideal.
    pub(crate) fn holds(&self) -> bool {
        let [fair, ..] = &self.splits;
        let within = (0..fair.report.windows.len()).all(|w| fair.report.served(w) <= self.limit);
        within && fair.report.efficiency() >= 0.99
    }

    pub(crate) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{:<20} {:>9} {:>15}   {:<46}",
            "", "served", "worst always-", "of the ideal, by plan"
        )?;
        writeln!(
            out,
            "{:<20} {:>9} {:>15}   {}",
            "",
            "of ideal",
            "asking, of ideal",
            plans(|name| name.into())
        )?;
        for split in &self.splits {
            let worst = split
                .report
                .worst_always_asking()
                .map_or("-".into(), percent);
            let by_plan = plans(|name| {
                let plan = PLANS.iter().position(|plan| plan.name == name);
                let (got, ideal) = plan.map_or((0.0, 0.0), |plan| split.total(plan));
                percent(got / ideal.max(1.0))
            });
            let served = percent(split.report.efficiency());
            let name = split.name;
            writeln!(out, "{name:<20} {served:>9} {worst:>16}   {by_plan}")?;
        }
        Ok(())
    }

    pub(crate) fn json(&self) -> Value {
        let split = |split: &Split| {
            let plan = |(i, plan): (usize, &crate::day::Plan)| {
                let (got, ideal) = split.total(i);
                json!({ "plan": plan.name, "weight": plan.weight, "tenants": plan.tenants, "got": got, "ideal": ideal })
            };
            json!({
                "split": split.name,
                "served_of_ideal": split.report.efficiency(),
                "worst_always_asking_of_ideal": split.report.worst_always_asking(),
                "plans": PLANS.iter().enumerate().map(plan).collect::<Vec<_>>(),
            })
        };
        json!({ "limit": self.limit, "splits": self.splits.iter().map(split).collect::<Vec<_>>() })
    }

    /// Enterprise and free in each window: the ideal, the fair split, and first come first served.
    pub(crate) fn draw(&self, file: &Path) -> Result<(), Box<dyn Error>> {
        let [fair, first_come, _] = &self.splits;
        let line = |name, of: &dyn Fn(usize) -> f64| Line {
            name,
            points: (0..fair.report.windows.len())
                .map(|w| (w as f64, of(w)))
                .collect(),
        };
        let lines = [
            line("enterprise, ideal", &|w| fair.plan(w, 0).1),
            line("enterprise, fair", &|w| fair.plan(w, 0).0),
            line("enterprise, first come", &|w| first_come.plan(w, 0).0),
            line("free, ideal", &|w| fair.plan(w, 2).1),
            line("free, fair", &|w| fair.plan(w, 2).0),
            line("free, first come", &|w| first_come.plan(w, 2).0),
        ];
        let labels = Labels {
            title: "Who got what",
            x: "window",
            y: "units",
        };
        chart::write(file, &labels, &lines)
    }
}

fn plans(of: impl Fn(&'static str) -> String) -> String {
    PLANS
        .iter()
        .map(|plan| format!("{:>12}", of(plan.name)))
        .collect()
}

fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}
