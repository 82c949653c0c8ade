//! What a process knows of what it was lent.

use std::time::Duration;

use tk_core::Grant;

use super::lender::{InFlight, Lender, Sent};
use crate::shares::{Shares, Verdict};

/// Shares in the lender's window. Instants are monotonic microseconds.
pub(super) struct State<L: Lender> {
    pub(super) shares: Shares,
    pub(super) window: Option<(u128, u64)>,
    pub(super) tag: Option<(L::Tag, u64)>,
    /// Until then there is nothing to be drawn, and until then what is known of the pool counts as fresh.
    pub(super) dry_until: u64,
    pub(super) fresh_until: u64,
    /// When the lender must hear from here, or it takes everyone here for idle.
    pub(super) beat_at: u64,
    /// The weight that the lender was last told.
    pub(super) told: u64,
    /// When the lender's answer may change by itself.
    pub(super) change_at: u64,
    /// The most that there is in a window, whatever the lender says.
    limit: u64,
    /// By how many microseconds a reading of the clock may be behind.
    lag: u64,
    pub(super) requests: u64,
    pub(super) in_flight: Option<InFlight<L>>,
}

impl<L: Lender> State<L> {
    pub(super) const fn new(shares: Shares, limit: u64, lag: u64) -> Self {
        Self {
            shares,
            window: None,
            tag: None,
            dry_until: 0,
            fresh_until: 0,
            beat_at: u64::MAX,
            told: 0,
            change_at: u64::MAX,
            limit,
            lag,
            requests: 0,
            in_flight: None,
        }
    }

    /// Ends the window if it is over; when the present one ends, or would if it began now.
    pub(super) fn roll(&mut self, now: u64, length: u64) -> u64 {
        if let Some((_, end)) = self.window.filter(|(_, end)| now >= *end) {
            self.begin(end);
        }
        self.window.map_or(now + length, |(_, end)| end)
    }

    /// Begins a window without a unit.
    pub(super) fn begin(&mut self, at: u64) {
        // SPEC: FederatedLeasing!NeverOverAdmits
        // SPEC: FederatedLeasing!SharesAreBackedOrCarried
        // SPEC: FederatedLeasing!OvershootWithinCarry
        self.shares.roll(at, 0);
        self.window = None;
        self.tag = None;
        self.dry_until = 0;
        self.fresh_until = 0;
        self.beat_at = u64::MAX;
        self.change_at = u64::MAX;
    }

    /// Takes in a grant of so much as was wanted or less, unless it is over.
    pub(super) fn apply(
        &mut self,
        want: u64,
        (sent, funding): &Sent<L>,
        believed: u64,
        now: u64,
    ) -> bool {
        let after = |span: Duration| {
            let micros = u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
            sent.saturating_add(micros)
        };
        let end = after(Grant::trusted(funding.span, Grant::DRIFT_PPM, self.lag));
        if now >= end {
            return false;
        }
        match self.window {
            Some((window, known)) if window == funding.window => {
                self.window = Some((window, known.max(end)));
            }
            other => {
                if other.is_some() {
                    self.begin(now);
                }
                self.window = Some((funding.window, end));
            }
        }
        if funding.amount > 0 {
            self.tag = Some((funding.tag, funding.returnable));
        }
        let room = self.limit.saturating_sub(self.shares.funds());
        let amount = funding.amount.min(room);
        self.shares.fund(amount, funding.spare.min(room - amount));
        self.change_at = after(funding.retry_after);
        let believed = self.change_at.min(sent.saturating_add(believed));
        self.fresh_until = believed;
        if want > 0 && funding.amount == 0 {
            self.dry_until = believed;
        }
        true
    }

    /// What to ask the lender for, if that may help.
    pub(super) fn wants<K: Lender>(
        &mut self,
        verdict: Verdict,
        quantum: u64,
        now: u64,
    ) -> Option<u64> {
        let news = self.shares.active_weight(now) != self.told;
        let draw = |short: u64| (now >= self.dry_until).then_some(short.max(quantum));
        let look = |want: u64| (news || now >= self.fresh_until).then_some(want);
        match verdict {
            Verdict::Unfunded { short } => draw(short),
            Verdict::Exhausted { short } if K::SHOWS_SPARE => look(short.max(quantum)),
            Verdict::Kept { .. } if K::SHOWS_SPARE => look(0),
            Verdict::Exhausted { short } | Verdict::Kept { short, .. } => draw(short),
            Verdict::Admitted | Verdict::Full { .. } | Verdict::Weightless => None,
        }
    }
}
