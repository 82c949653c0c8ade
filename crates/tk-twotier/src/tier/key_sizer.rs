//! One key's sizer, which may be of a user's making.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::mode::LeasePlan;
use crate::Sizer;

/// What says how large a key's next lease is.
///
/// A learned size comes from a sizer that is asked under a lock, with requests in the queue: were it to panic there, they would wait
/// for an answer that nobody is going to ask for. So a panic ends the sizer and nothing else. The panic hook has told of it by
/// then, and the key goes on in the leases that are safe under every rule: as many units as a request costs.
pub(crate) enum KeySizer {
    Fixed(u64),
    Learned(Box<dyn Sizer>),
}

/// What a key without its sizer leases.
const LEAST: u64 = 1;

impl KeySizer {
    /// That of a new key.
    pub(super) fn of(lease: Option<&LeasePlan>) -> Self {
        let Some(lease) = lease else {
            // Nothing is leased.
            return Self::Fixed(LEAST);
        };
        match &lease.sizers {
            None => Self::Fixed(lease.rules.batch()),
            // What panics is forgotten, so nobody sees it half done.
            Some(sizers) => catch_unwind(AssertUnwindSafe(|| sizers.sizer()))
                .map_or(Self::Fixed(LEAST), Self::Learned),
        }
    }

    /// The size of the next lease; `demand` is what was served in a window that has ended since the last call, if one has.
    pub(super) fn next(&mut self, demand: Option<u64>) -> u64 {
        let mut sizer = match std::mem::replace(self, Self::Fixed(LEAST)) {
            Self::Learned(sizer) => sizer,
            Self::Fixed(size) => {
                *self = Self::Fixed(size);
                return size;
            }
        };
        let asked = catch_unwind(AssertUnwindSafe(|| {
            if let Some(demand) = demand {
                sizer.observe(demand);
            }
            (sizer.size(), sizer)
        }));
        match asked {
            Ok((size, sizer)) => {
                *self = Self::Learned(sizer);
                size
            }
            Err(_) => LEAST,
        }
    }
}
