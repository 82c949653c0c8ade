//! Rules that take back a little more than is safe.

use tk_core::{
    Decision, FixedWindow, FixedWindowState, Gcra, LogView, Mark, SlidingWindow, SlidingWindowLog,
    SlidingWindowState, Strategy, TatState, Timestamp,
};

use crate::allowed::{Allowed, Charge};

/// Says what the rule within says, but for hand-backs.
macro_rules! as_the_rule {
    ($rule:tt, $state:ty) => {
        type State = $state;

        fn capacity(&self) -> u64 {
            self.$rule.capacity()
        }

        fn decide(&self, state: &mut $state, now: Timestamp, cost: u64) -> Decision {
            self.$rule.decide(state, now, cost)
        }

        fn mark(&self, state: &$state, now: Timestamp) -> Mark {
            self.$rule.mark(state, now)
        }
    };
}

/// GCRA that lowers its arrival time whoever was charged last.
#[derive(Clone, Debug)]
pub(crate) struct Untagged {
    pub(crate) rule: Gcra,
    /// But never below the present.
    pub(crate) floor_at_now: bool,
}

impl Strategy for Untagged {
    as_the_rule!(rule, TatState);

    fn give_back(&self, state: &mut TatState, now: Timestamp, _: Mark, amount: u64) -> u64 {
        let (p, q) = (state.emission.numerator, state.emission.denominator);
        let floor = if self.floor_at_now {
            now.as_micros() * q
        } else {
            0
        };
        let tat = state.micros * q + state.fraction;
        if tat <= floor {
            return 0;
        }
        let tat = tat.saturating_sub(amount * p).max(floor);
        (state.micros, state.fraction) = (tat / q, tat % q);
        amount
    }
}

impl Allowed for Untagged {
    fn allows(&self, charges: &[Charge]) -> bool {
        self.rule.allows(charges)
    }
}

/// A fixed window that takes back into the present window.
#[derive(Clone, Debug)]
pub(crate) struct AnyWindow(pub(crate) FixedWindow);

impl Strategy for AnyWindow {
    as_the_rule!(0, FixedWindowState);

    fn give_back(&self, state: &mut FixedWindowState, _: Timestamp, _: Mark, amount: u64) -> u64 {
        let applied = amount.min(state.used);
        state.used -= applied;
        applied
    }
}

impl Allowed for AnyWindow {
    fn allows(&self, charges: &[Charge]) -> bool {
        self.0.allows(charges)
    }
}

/// A sliding window that takes back from the newest slice, whichever the grant was charged to.
#[derive(Clone, Debug)]
pub(crate) struct SliceOfOthers(pub(crate) SlidingWindow);

impl Strategy for SliceOfOthers {
    as_the_rule!(0, SlidingWindowState);

    fn give_back(&self, state: &mut SlidingWindowState, _: Timestamp, _: Mark, amount: u64) -> u64 {
        let newest = (state.newest % state.counts.len() as u64) as usize;
        let applied = amount.min(state.counts[newest]);
        state.counts[newest] -= applied;
        applied
    }
}

impl Allowed for SliceOfOthers {
    fn allows(&self, charges: &[Charge]) -> bool {
        self.0.allows(charges)
    }
}

/// From which entry a log takes units back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Remove {
    Own,
    Newest,
    /// Whether the grant's own entry still lives is not looked at then.
    Oldest,
}

/// A log of plain entries, from which units can be removed anywhere.
#[derive(Clone, Debug)]
pub(crate) struct CopiedLog {
    pub(crate) rule: SlidingWindowLog,
    pub(crate) remove: Remove,
}

/// Instants and the units accepted at them.
type Entries = Vec<(u64, u64)>;

impl CopiedLog {
    fn live_after(&self, entries: &Entries, now: Timestamp) -> u64 {
        let newest = entries.last().map_or(0, |&(at, _)| at);
        let window = self.rule.window().as_micros() as u64;
        (newest.max(now.as_micros()) + 1).saturating_sub(window)
    }
}

impl Strategy for CopiedLog {
    type State = Entries;

    fn capacity(&self) -> u64 {
        self.rule.capacity()
    }

    fn decide(&self, entries: &mut Entries, now: Timestamp, cost: u64) -> Decision {
        let after = self.live_after(entries, now);
        let live = entries.iter().filter(|(at, _)| *at >= after);
        let newest = entries.last().map_or(0, |&(at, _)| at);
        let view = LogView {
            live: live.map(|(_, units)| units).sum(),
            newest,
            // The retry time is not looked at.
            blocking: newest,
        };
        let decision = self.rule.answer(view, now, cost);
        if decision.allowed && cost > 0 {
            entries.push((newest.max(now.as_micros()), cost));
        }
        decision
    }

    fn mark(&self, entries: &Entries, now: Timestamp) -> Mark {
        let newest = entries.last().map_or(0, |&(at, _)| at);
        Mark(u128::from(newest.max(now.as_micros())) << 64)
    }

    fn give_back(&self, entries: &mut Entries, now: Timestamp, mark: Mark, amount: u64) -> u64 {
        let (granted_at, after) = ((mark.0 >> 64) as u64, self.live_after(entries, now));
        if granted_at < after && self.remove != Remove::Oldest {
            return 0;
        }
        let chosen = match self.remove {
            Remove::Own => entries.iter().position(|(at, _)| *at == granted_at),
            Remove::Newest => entries.len().checked_sub(1),
            Remove::Oldest => entries.iter().position(|(at, _)| *at >= after),
        };
        let Some(chosen) = chosen else { return 0 };
        let applied = amount.min(entries[chosen].1);
        entries[chosen].1 -= applied;
        applied
    }
}

impl Allowed for CopiedLog {
    fn allows(&self, charges: &[Charge]) -> bool {
        self.rule.allows(charges)
    }
}
