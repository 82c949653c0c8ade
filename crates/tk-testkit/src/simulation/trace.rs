//! The story of a run.

use std::fmt;

use super::plan::Plan;

/// Writes down what happens, if anybody listens.
#[derive(Debug)]
pub(super) struct Trace {
    lines: Option<Vec<(u64, String)>>,
}

impl Trace {
    pub(super) const fn silent() -> Self {
        Self { lines: None }
    }

    pub(super) const fn telling() -> Self {
        Self {
            lines: Some(Vec::new()),
        }
    }

    #[inline]
    pub(super) fn note(&mut self, now: u64, line: impl FnOnce() -> String) {
        if let Some(lines) = &mut self.lines {
            lines.push((now, line()));
        }
    }

    pub(super) fn into_lines(self) -> Vec<(u64, String)> {
        self.lines.unwrap_or_default()
    }
}

/// A bound that was broken.
///
/// It displays as the story of the last two windows, with the seed that brings it about again.
#[derive(Debug)]
pub struct Violation {
    plan: Plan,
    what: String,
    lines: Vec<(u64, String)>,
}

impl Violation {
    pub(super) fn new(plan: &Plan, what: String, trace: Trace) -> Box<Self> {
        Box::new(Self {
            plan: plan.clone(),
            what,
            lines: trace.into_lines(),
        })
    }

    pub(super) fn of_plan(plan: &Plan, error: &dyn fmt::Display) -> Box<Self> {
        Self::new(
            plan,
            format!("the plan is impossible: {error}"),
            Trace::silent(),
        )
    }

    /// What the run was made of; the seed is in it.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Which bound was broken.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.what
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plan, what, lines } = self;
        writeln!(f, "seed {}: {what}", plan.seed)?;
        writeln!(f, "{plan:#?}")?;
        let last = lines.last().map_or(0, |(at, _)| *at);
        let from = last - (last % plan.window) - plan.window.min(last);
        writeln!(
            f,
            "the window before, and this one (window + microseconds):"
        )?;
        for (at, line) in lines.iter().filter(|(at, _)| *at >= from) {
            let (window, within) = (at / plan.window, at % plan.window);
            let window = window as i64 - (plan.start / plan.window) as i64;
            writeln!(f, "{window:>3} +{within:<9} {line}")?;
        }
        write!(f, "seed {}: {what}", plan.seed)
    }
}

impl std::error::Error for Violation {}
