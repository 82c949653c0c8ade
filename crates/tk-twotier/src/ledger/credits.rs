//! What a node holds: a few grants, the oldest spent first.

use tk_core::{Monotonic, Range, Tag};

use super::LeaseRules;

/// Units to return to the store, with the tag of the grant that they came from.
///
/// Not `Clone`: it is sent at most once, and a store cannot tell a repeat from a second hand-back.
#[derive(Debug, PartialEq, Eq, Hash)]
#[must_use = "the units are lost unless this is sent"]
#[non_exhaustive]
pub struct HandBack {
    /// What the store looks at.
    pub tag: Tag,
    /// Units unspent.
    pub amount: u64,
}

/// What is left of one grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Credit {
    pub(super) amount: u64,
    /// The end of the grant's span.
    pub(super) ends: Monotonic,
    /// Empty if it can no longer be handed back.
    pub(super) tag: Tag,
}

/// One grant is the usual case, and needs no allocation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Credits {
    oldest: Credit,
    younger: Vec<Credit>,
    total: u64,
    /// The first instant at which some of them have ended.
    valid_until: Monotonic,
}

/// The end of what does not end.
pub(super) const NEVER: Monotonic = Monotonic::from_micros(u64::MAX);

/// A tag that no grant carries.
const NO_TAG: Tag = Tag::new(0, tk_core::Mark(0), 0);

/// More grants than this are merged, so that a trickle of small refills cannot grow a key without end.
const MAX_GRANTS: usize = 8;

impl Credit {
    const NONE: Self = Self {
        amount: 0,
        ends: Monotonic::ORIGIN,
        tag: NO_TAG,
    };

    /// Units that the store may take back at `now`.
    fn returnable(&self, now: Monotonic) -> u64 {
        if now < self.ends {
            self.amount.min(self.tag.amount())
        } else {
            0
        }
    }
}

impl Default for Credits {
    fn default() -> Self {
        Self::NONE
    }
}

impl Credits {
    pub(super) const NONE: Self = Self {
        oldest: Credit::NONE,
        younger: Vec::new(),
        total: 0,
        valid_until: NEVER,
    };

    #[inline]
    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    #[inline]
    pub(super) const fn valid_until(&self) -> Monotonic {
        self.valid_until
    }

    #[inline]
    pub(super) fn some_ended(&self, now: Monotonic) -> bool {
        now >= self.valid_until
    }

    /// Adds what is left of a new grant; `rules` say whether it ends with its span.
    pub(super) fn add(&mut self, rules: &LeaseRules, mut credit: Credit) {
        // No store has more to grant, so that sums cannot overflow on one that claims to.
        let room = Range::MAX_UNITS.saturating_sub(self.total);
        credit.amount = credit.amount.min(room);
        if credit.amount == 0 {
            return;
        }
        if rules.ends_with_span() {
            self.valid_until = self.valid_until.min(credit.ends);
        }
        self.total += credit.amount;
        if self.oldest.amount == 0 {
            self.oldest = credit;
        } else if self.younger.len() + 1 < MAX_GRANTS {
            self.younger.push(credit);
        } else if let Some(last) = self.younger.last_mut() {
            // The merged units end with the first of them, and have lost their way back.
            *last = Credit {
                amount: last.amount + credit.amount,
                ends: last.ends.min(credit.ends),
                tag: NO_TAG,
            };
        }
    }

    /// Takes `cost`, which must be covered.
    #[inline]
    pub(super) fn take(&mut self, cost: u64) {
        debug_assert!(cost <= self.total, "only what is held can be spent");
        if cost < self.oldest.amount {
            self.oldest.amount -= cost;
            self.total -= cost;
        } else {
            self.take_across(cost);
        }
    }

    fn take_across(&mut self, mut cost: u64) {
        self.total -= cost;
        loop {
            let taken = cost.min(self.oldest.amount);
            self.oldest.amount -= taken;
            cost -= taken;
            if self.oldest.amount > 0 {
                return;
            }
            if self.younger.is_empty() {
                *self = Self::NONE;
                return;
            }
            self.oldest = self.younger.remove(0);
        }
    }

    /// Forgets what has ended by `now`, and returns how much.
    pub(super) fn expire(&mut self, now: Monotonic) -> u64 {
        if !self.some_ended(now) {
            return 0;
        }
        // SPEC: WindowCoupledLeasing!NeverOverAdmits
        // SPEC: WindowCoupledLeasing!CreditsAreBacked
        let before = self.total;
        let mut live = std::mem::replace(self, Self::NONE).into_grants();
        live.retain(|credit| now < credit.ends);
        self.refill(live, true);
        before - self.total
    }

    /// Takes up to `amount` units off the youngest grant, whose rest can then no longer be handed back.
    pub(super) fn trim(&mut self, amount: u64) -> HandBack {
        let youngest = self.younger.last_mut().unwrap_or(&mut self.oldest);
        let amount = amount.min(youngest.amount);
        let tag = std::mem::replace(&mut youngest.tag, NO_TAG);
        youngest.amount -= amount;
        self.total -= amount;
        if youngest.amount == 0 && self.younger.pop().is_none() {
            *self = Self::NONE;
        }
        HandBack { tag, amount }
    }

    /// Forgets everything; what the store may take back comes out.
    pub(super) fn hand_back(&mut self, rules: &LeaseRules, now: Monotonic) -> Vec<HandBack> {
        let mut backs = Vec::new();
        for credit in std::mem::replace(self, Self::NONE).into_grants() {
            let (tag, amount) = (credit.tag, credit.returnable(now));
            if amount > 0 {
                backs.push(HandBack { tag, amount });
                if rules.hands_back_twice() {
                    backs.push(HandBack { tag, amount });
                }
            }
        }
        backs
    }

    /// Changes each grant, for explorers.
    pub(super) fn map(&mut self, change: impl FnMut(&mut Credit)) {
        let is_coupled = self.valid_until != NEVER;
        let mut grants = std::mem::replace(self, Self::NONE).into_grants();
        grants.iter_mut().for_each(change);
        self.refill(grants, is_coupled);
    }

    /// One grant of all units that does not end and cannot be handed back, for explorers.
    pub(super) fn merge(&mut self) {
        let amount = self.total;
        *self = Self::NONE;
        let ends = NEVER;
        if amount > 0 {
            self.refill(
                vec![Credit {
                    amount,
                    ends,
                    tag: NO_TAG,
                }],
                false,
            );
        }
    }

    fn into_grants(self) -> Vec<Credit> {
        let mut grants = self.younger;
        if self.oldest.amount > 0 {
            grants.insert(0, self.oldest);
        }
        grants
    }

    fn refill(&mut self, mut grants: Vec<Credit>, is_coupled: bool) {
        if grants.is_empty() {
            return;
        }
        self.total = grants.iter().map(|credit| credit.amount).sum();
        let first_end = grants.iter().map(|credit| credit.ends).min();
        self.valid_until = first_end.filter(|_| is_coupled).unwrap_or(NEVER);
        self.oldest = grants.remove(0);
        self.younger = grants;
    }
}
