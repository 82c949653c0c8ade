//! The bound, checked at every unit.

use std::collections::VecDeque;

use super::plan::{Mode, Plan, Rule};

/// Counts what is admitted by the store's clock, and compares it with the bound.
#[derive(Debug)]
pub(super) struct Judge {
    interval: Interval,
    /// What the store charges at most in an interval.
    budget: u64,
    /// What nodes may hold, or have on its way, when an interval begins.
    held: u64,
    admitted: VecDeque<(u64, u64)>,
    sum: u64,
    /// When the store forgot what it had charged.
    forgot: VecDeque<u64>,
    is_tightened: bool,
    /// The most that was admitted in an interval.
    fullest: u64,
    /// What was admitted in each aligned window that is over.
    pub(super) windows: Vec<u64>,
}

/// Over which spans of time the bound holds.
#[derive(Clone, Copy, Debug)]
enum Interval {
    /// Windows of this length, aligned to the epoch.
    Aligned(u64),
    /// Any span of this length, its end included and its beginning not.
    Any(u64),
}

/// More was admitted than the bound allows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Excess {
    pub(super) since: u64,
    pub(super) admitted: u64,
    pub(super) bound: u64,
}

impl Judge {
    pub(super) fn new(plan: &Plan) -> Self {
        let (interval, budget) = match plan.rule {
            Rule::FixedWindow => (Interval::Aligned(plan.window), plan.limit),
            // Of its oldest slice the sliding window counts a part.
            Rule::SlidingWindow => (Interval::Any(plan.window - plan.window / 10), plan.limit),
            Rule::SlidingWindowLog => (Interval::Any(plan.window), plan.limit),
            // A burst, and what replenishes meanwhile.
            Rule::Gcra | Rule::TokenBucket => (Interval::Any(plan.window), 2 * plan.limit),
        };
        Self {
            interval,
            budget,
            held: plan.nodes * held(plan, interval),
            admitted: VecDeque::new(),
            sum: 0,
            forgot: VecDeque::new(),
            is_tightened: plan.is_tightened,
            fullest: 0,
            windows: Vec::new(),
        }
    }

    /// `units` are charged at `now`.
    pub(super) fn admit(&mut self, now: u64, units: u64) -> Result<(), Excess> {
        let since = self.forget_before(now);
        self.admitted.push_back((now, units));
        self.sum += units;
        self.fullest = self.fullest.max(self.sum);
        let bound = self.bound();
        if self.sum > bound {
            let admitted = self.sum;
            return Err(Excess {
                since,
                admitted,
                bound,
            });
        }
        Ok(())
    }

    /// The store has forgotten what it had charged.
    pub(super) fn store_forgot(&mut self, now: u64) {
        self.forgot.push_back(now);
    }

    /// Each time the store forgets, the budget begins anew.
    fn bound(&self) -> u64 {
        let bound = self.budget * (1 + self.forgot.len() as u64) + self.held;
        bound - u64::from(self.is_tightened)
    }

    /// Whether a run has admitted more than the limit, or all that the bound allows.
    pub(super) fn reached(&self) -> (bool, bool) {
        (
            self.fullest > self.budget,
            self.fullest == self.budget + self.held,
        )
    }

    fn forget_before(&mut self, now: u64) -> u64 {
        let since = match self.interval {
            Interval::Aligned(window) => now - now % window,
            Interval::Any(span) => now - span + 1,
        };
        if matches!(self.interval, Interval::Aligned(_))
            && self.admitted.front().is_some_and(|&(at, _)| at < since)
        {
            self.windows.push(self.sum);
        }
        while let Some((_, units)) = self.admitted.pop_front_if(|(at, _)| *at < since) {
            self.sum -= units;
        }
        while self.forgot.pop_front_if(|at| *at < since).is_some() {}
        since
    }
}

/// What one node can have of an earlier interval.
///
/// Where budgets are renewed at an edge, a grant that is on its way over the edge is dropped. Elsewhere
/// any instant may begin an interval, so a grant on its way counts in full.
fn held(plan: &Plan, interval: Interval) -> u64 {
    match (interval, plan.mode) {
        (Interval::Aligned(_), Mode::Coupled) => 0,
        (Interval::Aligned(_), Mode::Carried) if plan.low_water == 0 => plan.batch - 1,
        (Interval::Aligned(_), Mode::Carried) => plan.batch + plan.low_water,
        (Interval::Any(_), _) => plan.batch.max(plan.dearest) + plan.low_water,
    }
}
