//! Days in the life of a budget, to try a way of splitting on, and the figures that come of it.
//!
//! A [`Trace`] says who wants what and when; [`run`] plays it against anything that can [`Split`] and measures each window against
//! the [ideal](crate::ideal()). A refused request stays in its tenant's backlog and is asked again; new demand ends at 80 % of each
//! window, so that whoever leaves nothing unused has the time to show it. Equal seeds give equal days.

mod baseline;
mod generate;
mod random;

pub use baseline::{FairSplit, FirstCome, StaticReservation};

use std::time::Duration;

use crate::{Fraction, Want, ideal};
use random::Random;

/// Instants in a window at which tenants may ask.
pub const TICKS: u64 = 100;

/// The length of a tick in microseconds.
const TICK: u64 = 600_000;

/// When a tenant wants something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Demand {
    /// More than there is, from this tick of the first window on.
    Always {
        /// Counted from the beginning of the trace.
        from: u64,
    },
    /// So many requests at the window's first instant, and then silence.
    Once {
        /// How many.
        requests: u64,
    },
    /// So many requests at one tick in `every`.
    Steady {
        /// How many.
        requests: u64,
        /// How many ticks lie between.
        every: u64,
    },
    /// Up to `most` requests at random ticks, about one in `every`.
    Bursts {
        /// How many at most; at least a quarter of it.
        most: u64,
        /// How many ticks lie between, on average.
        every: u64,
    },
    /// More than there is in one window of `of`, silence in the others.
    Shifting {
        /// Which window.
        turn: u64,
        /// The period in windows.
        of: u64,
    },
}

/// A tenant of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its weight.
    pub weight: u64,
    /// What each of its requests costs.
    pub cost: u64,
    /// When it asks.
    pub demand: Demand,
    /// The most requests it makes in one tick.
    pub pace: u64,
}

/// Who wants what and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// What it shows.
    pub name: &'static str,
    /// The budget of a window.
    pub limit: u64,
    /// How many windows it lasts.
    pub windows: u64,
    /// Everyone in it.
    pub tenants: Vec<Profile>,
    /// What its chances are drawn from.
    pub seed: u64,
}

/// A way of splitting a budget, being tried.
pub trait Split {
    /// Whether tenant number `tenant` is served at `now`, in microseconds.
    fn ask(&mut self, now: u64, tenant: usize, profile: &Profile) -> bool;
}

/// What one tenant wanted and got in a window.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// Units it wanted: its backlog and what came; at most twice the limit.
    pub wanted: u64,
    /// Units it got.
    pub got: u64,
    /// Units it would get ideally.
    pub ideal: Fraction,
    /// It wanted more than it could have from the window's first instant to its last.
    pub always: bool,
}

/// What came of a trace, window by window.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The budget of a window.
    pub limit: u64,
    /// Every tenant's outcome in each window.
    pub windows: Vec<Vec<Outcome>>,
}

impl Report {
    /// Units served in a window.
    #[must_use]
    pub fn served(&self, window: usize) -> u64 {
        self.windows[window].iter().map(|outcome| outcome.got).sum()
    }

    /// Units that would be served ideally: all that is wanted, or the whole budget.
    #[must_use]
    pub fn ideal(&self, window: usize) -> u64 {
        let wanted: u64 = self.windows[window]
            .iter()
            .map(|outcome| outcome.wanted)
            .sum();
        wanted.min(self.limit)
    }

    /// Served in all windows, as a part of the ideal.
    #[must_use]
    pub fn efficiency(&self) -> f64 {
        let sum = |of: &dyn Fn(usize) -> u64| (0..self.windows.len()).map(of).sum::<u64>();
        sum(&|window| self.served(window)) as f64 / sum(&|window| self.ideal(window)).max(1) as f64
    }

    /// The least part of its ideal share that a tenant got that always asked, from the second window on.
    #[must_use]
    pub fn worst_always_asking(&self) -> Option<f64> {
        let outcomes = self.windows.iter().skip(1).flatten();
        outcomes
            .filter(|outcome| outcome.always && outcome.ideal.numerator > 0)
            .map(|outcome| outcome.got as f64 / outcome.ideal.approximate())
            .min_by(f64::total_cmp)
    }
}

impl Trace {
    /// The length of a window.
    pub const WINDOW: Duration = Duration::from_micros(TICKS * TICK);

    /// The largest cost in it.
    #[must_use]
    pub fn largest_cost(&self) -> u64 {
        self.tenants
            .iter()
            .map(|tenant| tenant.cost)
            .max()
            .unwrap_or(0)
    }
}

/// Plays `trace` against `split`. In each tick tenants ask in a random order, each until it is refused, again and again until all are.
#[must_use]
pub fn run(trace: &Trace, split: &mut impl Split) -> Report {
    let mut day = Day {
        trace,
        random: Random::new(trace.seed),
        backlog: vec![0; trace.tenants.len()],
        wanted: Vec::new(),
        got: Vec::new(),
        always: Vec::new(),
    };
    let windows = (0..trace.windows)
        .map(|window| day.window(window, split))
        .collect();
    Report {
        limit: trace.limit,
        windows,
    }
}

/// A trace while it is played. Units are counted; those who always ask have an endless backlog.
struct Day<'a> {
    trace: &'a Trace,
    random: Random,
    backlog: Vec<u64>,
    wanted: Vec<u64>,
    got: Vec<u64>,
    always: Vec<bool>,
}

impl Day<'_> {
    fn window(&mut self, window: u64, split: &mut impl Split) -> Vec<Outcome> {
        self.wanted.clone_from(&self.backlog);
        self.got = vec![0; self.backlog.len()];
        self.always = self
            .backlog
            .iter()
            .map(|backlog| *backlog == u64::MAX)
            .collect();
        for tick in 0..TICKS {
            self.arrive(window, tick);
            self.serve((window * TICKS + tick) * TICK, split);
        }
        self.outcomes()
    }

    fn outcomes(&self) -> Vec<Outcome> {
        let tenants = &self.trace.tenants;
        let most = 2 * self.trace.limit;
        let wanted: Vec<u64> = self
            .wanted
            .iter()
            .map(|wanted| *wanted.min(&most))
            .collect();
        let wants: Vec<Want> = (tenants.iter().zip(&wanted))
            .map(|(tenant, units)| Want {
                weight: tenant.weight,
                units: *units,
            })
            .collect();
        let shares = ideal(self.trace.limit, &wants);
        (0..tenants.len())
            .map(|i| Outcome {
                wanted: wanted[i],
                got: self.got[i],
                ideal: shares[i],
                always: self.always[i],
            })
            .collect()
    }

    fn arrive(&mut self, window: u64, tick: u64) {
        for (i, tenant) in self.trace.tenants.iter().enumerate() {
            let requests = match tenant.demand {
                Demand::Always { from } if window * TICKS + tick >= from => {
                    self.backlog[i] = u64::MAX;
                    self.wanted[i] = u64::MAX;
                    self.always[i] |= tick == 0;
                    0
                }
                Demand::Shifting { turn, of } => {
                    let busy = window % of == turn;
                    self.backlog[i] = if busy { u64::MAX } else { 0 };
                    self.wanted[i] = self.backlog[i];
                    self.always[i] = false;
                    0
                }
                Demand::Once { requests } if tick == 0 => requests,
                Demand::Steady { requests, every } if tick < 80 && tick.is_multiple_of(every) => {
                    requests
                }
                Demand::Bursts { most, every } if tick < 80 && self.random.below(every) == 0 => {
                    most / 4 + self.random.below(most - most / 4 + 1)
                }
                _ => 0,
            };
            let units = requests * tenant.cost;
            self.backlog[i] = self.backlog[i].saturating_add(units);
            self.wanted[i] = self.wanted[i].saturating_add(units);
        }
    }

    fn serve(&mut self, now: u64, split: &mut impl Split) {
        let tenants = &self.trace.tenants;
        let mut asking: Vec<usize> = (0..tenants.len())
            .filter(|i| self.backlog[*i] > 0)
            .collect();
        self.random.shuffle(&mut asking);
        let mut asked = vec![0; tenants.len()];
        let mut served = true;
        while served {
            served = false;
            for &i in &asking {
                let tenant = &tenants[i];
                while self.backlog[i] > 0 && asked[i] < tenant.pace && split.ask(now, i, tenant) {
                    asked[i] += 1;
                    served = true;
                    self.got[i] += tenant.cost;
                    if self.backlog[i] < u64::MAX {
                        self.backlog[i] = self.backlog[i].saturating_sub(tenant.cost);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
