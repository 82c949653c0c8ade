//! The parts of a CI run, in their order.

use std::fmt;

use anyhow::Result;
use clap::ValueEnum;

use super::{bare, features, lints, loom, tests};
use crate::tally::Tally;
use crate::{tidy, verify};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    Tidy,
    Fmt,
    Clippy,
    Features,
    Docs,
    Bare,
    Test,
    Loom,
    Verify,
}

impl Part {
    pub(crate) const ALL: &[Self] = &[
        Self::Tidy,
        Self::Fmt,
        Self::Clippy,
        Self::Features,
        Self::Docs,
        Self::Bare,
        Self::Test,
        Self::Loom,
        Self::Verify,
    ];

    /// What it proves when it is green.
    pub(crate) const fn claim(self) -> &'static str {
        match self {
            Self::Tidy => "the rules of the house that no compiler checks",
            Self::Fmt => "one format",
            Self::Clippy => "no lint fires, in any target with all features",
            Self::Features => "each published crate is clean with no feature and with each alone",
            Self::Docs => "the documentation builds without a warning",
            Self::Bare => "tk-core runs where there is no std, with and without alloc",
            Self::Test => "all tests and documented examples pass",
            Self::Loom => "what shares memory is right under every interleaving loom explores",
            Self::Verify => "the models hold, and those that must fail do",
        }
    }

    /// Whether Redis or Java is used, so that a machine without it must not look green.
    pub(crate) const fn needs_more_than_rust(self) -> bool {
        matches!(self, Self::Test | Self::Verify)
    }

    pub(crate) fn run(self, tally: &mut Tally) -> Result<()> {
        match self {
            Self::Tidy => tidy::run(&tidy::Options {}),
            Self::Fmt => lints::fmt(),
            Self::Clippy => lints::clippy(),
            Self::Features => features::run(),
            Self::Docs => lints::docs(),
            Self::Bare => bare::run(),
            Self::Test => tests::run(tally, tests::Redis::Tried),
            Self::Loom => loom::run(tally),
            Self::Verify => verify::run(&verify::Options::default()),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}
