//! What the systems have in common: the store that all nodes share, messages, and how a window ends.
//!
//! The store is the shipping [`FixedWindow`] under the shipping rules for grants and hand-backs; the nodes are shipping ledgers.
//! Only what carries messages between them is ours.
//!
//! # A clock that stands still
//!
//! Most systems have no time but the window's edge. In them the clock stands at [`NOW`], the first instant of a
//! window. When a window ends, everything that was dated is dated back instead, by more than a window, so that all that is over
//! lies at the clock's origin: states of different windows that behave alike are then equal, and the graph is finite.

use std::time::Duration;

use tk_core::{
    Decision, FixedWindow, FixedWindowState, Grant, Mark, Monotonic, Strategy, Tag, Timestamp,
};
use tk_twotier::{Ask, LeaseLedger, LeaseRules, Settlement, Verdict};

/// The window of systems without time.
pub const WINDOW: Duration = Duration::from_secs(1_000);
/// Where a node's clock stands in them.
pub const NOW: Monotonic = Monotonic::from_micros(1_000_000_000);
/// Where all wall clocks stand in them.
pub const WALL: Timestamp = Timestamp::from_secs(1_000);
/// By how much what was dated is dated back when a window ends.
const BACK: Duration = Duration::from_secs(2_000);

/// The incarnation of the store's present count, and that of every count before it.
const PRESENT: u64 = 2;
const PAST: u64 = 1;

/// The store and what it heeds.
#[derive(Clone, Copy, Debug)]
pub struct Store {
    /// The strategy that it runs.
    pub strategy: FixedWindow,
    /// Whether it grants what is left, or all or nothing.
    pub is_partial: bool,
    /// Whether it refuses hand-backs of another window.
    pub heeds_window: bool,
    /// Whether it refuses hand-backs from before a reset or an empty restart.
    pub heeds_incarnation: bool,
}

/// A grant on its way; what of it can make a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reply {
    /// Units granted.
    pub amount: u64,
    /// How long it lasts, from the instant it was made.
    pub span: Duration,
    /// When the window ends, in microseconds of the store's clock; 0 in systems without time.
    pub edge: u64,
    /// Whether a hand-back would be of the store's present window, and of its present count.
    pub is_own: [bool; 2],
}

impl Store {
    /// One that grants `limit` units in each window and does what it should.
    ///
    /// # Panics
    ///
    /// If no fixed window has this limit.
    #[must_use]
    pub fn new(limit: u64, window: Duration) -> Self {
        Self {
            strategy: FixedWindow::new(limit, window).expect("the catalogue's limits are small"),
            is_partial: true,
            heeds_window: true,
            heeds_incarnation: true,
        }
    }

    /// The limit.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        self.strategy.limit()
    }

    /// Answers `ask`.
    pub fn grant(&self, state: &mut FixedWindowState, now: Timestamp, ask: &Ask) -> Reply {
        let least = if self.is_partial {
            ask.at_least()
        } else {
            ask.want()
        };
        let grant = Grant::charge::<_, ()>(&self.strategy, state, now, ask.want(), least, PRESENT)
            .expect("nobody asks for more than the limit");
        Reply {
            amount: grant.amount,
            span: grant.span,
            edge: grant.decision.reset_at.as_micros(),
            is_own: [true, true],
        }
    }

    /// Takes back what it should, and what it is too careless to refuse.
    pub fn take_back(&self, state: &mut FixedWindowState, tag: Tag, amount: u64) -> u64 {
        let mark = if self.heeds_window {
            tag.mark()
        } else {
            self.mark(true)
        };
        let incarnation = if self.heeds_incarnation {
            tag.incarnation()
        } else {
            PRESENT
        };
        Tag::new(incarnation, mark, tag.amount()).give_back(
            &self.strategy,
            state,
            WALL,
            PRESENT,
            amount,
        )
    }

    /// The state at `now` in its one form: a count that says nothing is a new one.
    #[must_use]
    pub fn tidied(&self, state: FixedWindowState, now: Timestamp) -> FixedWindowState {
        if self.strategy.is_fresh(&state, now) {
            FixedWindowState::default()
        } else {
            state
        }
    }

    /// The count when the window that stood at [`WALL`] has ended.
    #[must_use]
    pub fn rolled(&self, state: FixedWindowState) -> FixedWindowState {
        self.tidied(state, WALL + WINDOW)
    }

    /// The tag of a grant of `amount`, of the present window and count or not.
    #[must_use]
    pub fn tag(&self, [window, incarnation]: [bool; 2], amount: u64) -> Tag {
        let incarnation = if incarnation { PRESENT } else { PAST };
        Tag::new(incarnation, self.mark(window), amount)
    }

    /// What the store would say of the tag.
    #[must_use]
    pub fn owns(&self, tag: Tag) -> [bool; 2] {
        [tag.mark() == self.mark(true), tag.incarnation() == PRESENT]
    }

    fn mark(&self, present: bool) -> Mark {
        let now = if present { WALL } else { Timestamp::EPOCH };
        self.strategy.mark(&FixedWindowState::default(), now)
    }

    /// The reply as it arrives at a node.
    pub fn open(&self, reply: &Reply) -> Grant {
        let decision = Decision {
            allowed: reply.amount > 0,
            limit: self.limit(),
            remaining: 0,
            reset_at: Timestamp::from_micros(reply.edge),
            retry_after: Duration::ZERO,
        };
        Grant {
            amount: reply.amount,
            span: reply.span,
            tag: self.tag(reply.is_own, reply.amount),
            decision,
        }
    }
}

/// Dates a ledger back, after its window has ended.
pub fn date_back(ledger: &mut LeaseLedger) {
    ledger.set_back(BACK);
}

/// Dates a lease back, after the window in which it was sent has ended.
pub fn dated_back(ask: Ask) -> Ask {
    ask.set_back(BACK)
}

/// Units that a settlement has charged to waiters that each asked for `cost`.
#[must_use]
pub fn served(settlement: &Settlement, cost: u64) -> u64 {
    let verdicts = settlement.verdicts.iter();
    verdicts
        .filter(|(_, verdict)| matches!(verdict, Verdict::Served(_)))
        .count() as u64
        * cost
}

/// The protocol's rules for leases of `batch` units, asked for again without end, so that nobody counts how often.
///
/// # Panics
///
/// If no lease has this size.
#[must_use]
pub fn rules(batch: u64, is_coupled: bool) -> LeaseRules {
    LeaseRules::new(batch)
        .expect("the catalogue's batches are small")
        .coupled(is_coupled)
        .asks_again(LeaseRules::WITHOUT_END)
}
