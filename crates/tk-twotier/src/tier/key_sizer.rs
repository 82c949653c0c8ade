//! One key's sizer, which may be of a user's making.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{Sizer, Sizers};

/// A sizer that is asked under a lock, with requests in the queue: were it to panic there, they would wait for an answer that
/// nobody is going to ask for. So a panic ends the sizer and nothing else. The panic hook has told of it by then, and
/// the key goes on in the leases that are safe under every rule: as many units as a request costs.
pub(crate) struct KeySizer(Option<Box<dyn Sizer>>);

/// What a key without its sizer leases.
const LEAST: u64 = 1;

impl KeySizer {
    pub(super) fn of(sizers: &Sizers) -> Self {
        // What panics is forgotten, so nobody sees it half done.
        Self(catch_unwind(AssertUnwindSafe(|| sizers.sizer())).ok())
    }

    /// The size of the next lease; `demand` is what was served in a window that has ended since the last call, if one has.
    pub(super) fn next(&mut self, demand: Option<u64>) -> u64 {
        let Some(mut sizer) = self.0.take() else {
            return LEAST;
        };
        let asked = catch_unwind(AssertUnwindSafe(|| {
            if let Some(demand) = demand {
                sizer.observe(demand);
            }
            (sizer.size(), sizer)
        }));
        match asked {
            Ok((size, sizer)) => {
                self.0 = Some(sizer);
                size
            }
            Err(_) => LEAST,
        }
    }
}
