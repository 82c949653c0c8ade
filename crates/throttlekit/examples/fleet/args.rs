//! The command line.

use std::{path::PathBuf, time::Duration};

use clap::{Parser, ValueEnum as _};

use crate::{mode::Compared, span::span};

/// N nodes share one limit, in each mode in turn: what holds, and what does it cost?
#[derive(Debug, Parser)]
#[command(name = "fleet")]
pub(crate) struct Args {
    /// Nodes of the fleet.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub(crate) nodes: u64,
    /// Units per window, of all nodes together.
    #[arg(long, default_value_t = 2_000)]
    pub(crate) limit: u64,
    /// The window, as in 500ms or 2s.
    #[arg(long, default_value = "1s", value_parser = positive, allow_hyphen_values = true)]
    pub(crate) window: Duration,
    /// Units per lease.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) batch: u64,
    /// By how much walls are wrong, half of them ahead and half behind.
    #[arg(long, default_value = "1s", value_parser = span, allow_hyphen_values = true)]
    pub(crate) skew: Duration,
    /// How long each mode runs, rounded up to whole windows, at least two.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u64).range(..=86_400))]
    pub(crate) seconds: u64,
    /// Only these modes; all by default.
    #[arg(long, value_name = "MODE", value_delimiter = ',')]
    pub(crate) modes: Vec<Compared>,
    /// Denies while the shared store does not answer, instead of ending the run: for those who stop it meanwhile.
    #[arg(long)]
    pub(crate) survive: bool,
    /// Shares the limit through this Redis, in child processes; it must run on this machine, whose clock the windows are counted by.
    #[cfg(feature = "redis")]
    #[arg(long, value_name = "URL")]
    pub(crate) redis: Option<String>,
    /// Child processes, over which the nodes are spread.
    #[cfg(feature = "redis")]
    #[arg(long, requires = "redis", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub(crate) processes: u64,
    /// How long a call to Redis may take; a busy machine is no outage.
    #[cfg(feature = "redis")]
    #[arg(long, requires = "redis", default_value = "5s", value_parser = positive, allow_hyphen_values = true)]
    pub(crate) deadline: Duration,
    /// What a child is told: its number, the mode's, when the first window starts, and the run's.
    #[cfg(feature = "redis")]
    #[arg(long, hide = true, num_args = 4)]
    pub(crate) part: Option<Vec<u64>>,
    /// Writes a chart of the units admitted in each window.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Prints JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

impl Args {
    /// Windows that each mode lives through: pairs of a quiet one and a flood.
    pub(crate) fn windows(&self) -> u64 {
        let span = u128::from(self.seconds) * 1_000_000;
        let windows = span.div_ceil(self.window.as_micros()).max(2);
        // A day has less than 2^27 windows of a millisecond.
        (windows as u64).next_multiple_of(2)
    }

    /// The modes to live through, in their order.
    pub(crate) fn modes(&self) -> Vec<Compared> {
        let modes = Compared::value_variants().iter().copied();
        modes
            .filter(|mode| self.modes.is_empty() || self.modes.contains(mode))
            .collect()
    }

    pub(crate) fn window_micros(&self) -> u64 {
        u64::try_from(self.window.as_micros()).unwrap_or(u64::MAX)
    }
}

fn positive(text: &str) -> Result<Duration, String> {
    match span(text)? {
        window if window < Duration::from_millis(1) => Err("allowed is 1ms and more".into()),
        window => Ok(window),
    }
}
