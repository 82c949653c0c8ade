//! The parts of the comparison.
//!
//! To add one: a variant, a file with a `run`, and a line in [`Section::run`].

use anyhow::Result;
use tk_benches::{Harness, Plan, Report};

/// A part that can be run alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Section {
    /// Keyed checks against governor's keyed limiter.
    Keyed,
    /// The same with cached clocks on both sides.
    Cached,
    /// Several checks at once.
    Batch,
    /// One counter, against limiters without keys.
    Unkeyed,
    /// Bytes per key.
    Bytes,
    /// The longest single check.
    Pauses,
    /// Leased hits, the spender, and a store that is far away.
    TwoTier,
    /// Checks over a Redis server, which it starts.
    Redis,
    /// What an outage of Redis costs, and how soon it is over.
    Outage,
    /// Fair shares at the median.
    Fair,
    /// The longest check of fair shares.
    FairPauses,
}

/// What the command line says.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) quick: bool,
    pub(crate) rows: String,
}

impl Section {
    pub(crate) fn run(
        self,
        settings: &Settings,
        harness: &mut Harness,
        report: &mut Report,
    ) -> Result<()> {
        match self {
            Self::Keyed => report.tables.push(crate::keyed::run(settings, harness)?),
            Self::Cached => report
                .tables
                .push(crate::keyed::run_cached(settings, harness)?),
            Self::Batch => report.tables.push(crate::batch::run(settings, harness)?),
            Self::Unkeyed => report.tables.push(crate::unkeyed::run(settings, harness)?),
            Self::Bytes => report.tables.push(crate::memory::run(settings)?),
            Self::Pauses => report.tables.push(crate::pauses::run(settings)?),
            Self::TwoTier => crate::two_tier::run(settings, harness, report)?,
            Self::Redis => report.tables.extend(crate::redis::run(settings)?),
            Self::Outage => report.tables.extend(crate::outage::run(settings)?),
            Self::Fair => report.tables.push(crate::fair::run(settings)?),
            Self::FairPauses => report.tables.push(crate::fair::run_pauses(settings)?),
        }
        Ok(())
    }
}

impl Settings {
    /// A plan for blocks of about the same length, whatever an operation takes.
    pub(crate) fn plan(&self, threads: usize, operations: usize) -> Plan {
        let (rounds, operations) = if self.quick {
            (3, operations / 5)
        } else {
            (7, operations)
        };
        Plan {
            rounds,
            operations,
            threads,
        }
    }

    /// Whether the row was asked for.
    pub(crate) fn wants(&self, row: &str) -> bool {
        row.contains(&self.rows)
    }
}
