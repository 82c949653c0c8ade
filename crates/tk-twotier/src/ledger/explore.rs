//! For those who explore all states: names for states that behave alike.

use std::time::Duration;

use tk_core::Tag;

use super::{Ask, LeaseLedger};

impl LeaseLedger {
    /// The same ledger with its clock set back by `by`, so that an explorer can stay near its clock's origin.
    #[doc(hidden)]
    pub fn set_back(&mut self, by: Duration) {
        self.credits.map(|credit| credit.ends = credit.ends - by);
        if let Some(flight) = &mut self.flight {
            flight.sent = flight.sent - by;
        }
    }

    /// Replaces the tags of the credits, so that an explorer can tell apart only what its store tells apart.
    #[doc(hidden)]
    pub fn retag(&mut self, tag: impl Fn(Tag) -> Tag) {
        self.credits.map(|credit| credit.tag = tag(credit.tag));
    }

    /// Merges carried-over credits and forgets where they came from, for models without hand-backs.
    #[doc(hidden)]
    pub fn forget_origins(&mut self) {
        self.credits.merge();
    }
}

impl Ask {
    /// The same lease on a clock that was set back by `by`.
    #[doc(hidden)]
    pub fn set_back(self, by: Duration) -> Self {
        self.earlier(by)
    }
}
