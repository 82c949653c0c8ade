//! The modes, and what each promises.

use clap::ValueEnum;
use throttlekit::twotier::{DenyCache, Lease, Mode};

use crate::args::Args;

/// A mode of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compared {
    Strict,
    CachedDeny,
    CarriedOver,
    Coupled,
}

impl Compared {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::CachedDeny => "cached-deny",
            Self::CarriedOver => "leased, carried over",
            Self::Coupled => "leased, coupled",
        }
    }

    /// The most that may be admitted in a window: proved for any skew, delay and loss.
    pub(crate) const fn bound(self, args: &Args) -> u64 {
        match self {
            Self::CarriedOver => args.limit + args.nodes * (args.batch - 1),
            Self::Strict | Self::CachedDeny | Self::Coupled => args.limit,
        }
    }

    pub(crate) fn mode(self, args: &Args) -> Mode {
        let leased = |is_coupled| {
            // Else each request of a flood would ask, once nothing is left to lease.
            let lease = Lease::batch(args.batch).cached_denials(DenyCache::default());
            Mode::Leased(lease.window_coupled(is_coupled))
        };
        match self {
            Self::Strict => Mode::Strict,
            Self::CachedDeny => Mode::CachedDeny(DenyCache::default()),
            Self::CarriedOver => leased(false),
            Self::Coupled => leased(true),
        }
    }
}
