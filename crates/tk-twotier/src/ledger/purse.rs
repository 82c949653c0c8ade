//! Credits where they can be spent in a few instructions.

use tk_core::{Monotonic, Timestamp};

use super::{Estimate, LeaseLedger, Served, credits::NEVER};

/// What a ledger holds, lent to a place that is closer to the reader than the ledger.
///
/// A node with many keys spends its time waiting for memory, and a ledger is several cache lines long. A purse
/// is half of one, and less than a quarter when it is [`Packed`]. It serves what the ledger would have served, and leaves everything else to it: spending from the
/// purse and then settling equals spending from the ledger, which a test holds it to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Purse {
    amount: u64,
    /// The first instant at which some of it has ended.
    valid_until: Monotonic,
    estimate: Estimate,
}

impl Purse {
    #[inline]
    pub(crate) const fn amount(&self) -> u64 {
        self.amount
    }

    /// Charges `cost`, unless the ledger has to decide.
    #[inline(always)]
    pub(crate) fn spend(&mut self, now: Monotonic, cost: u64) -> Option<Served> {
        if cost > self.amount || cost == 0 || now >= self.valid_until {
            return None;
        }
        self.amount -= cost;
        Some(Served {
            remaining: self.amount,
            reset_at: self.estimate.reset_at(now),
        })
    }
}

/// A purse in 96 bits.
///
/// What it has no room for is the wall: the caller says how far that is ahead, and one number does for all keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Packed(u128);

/// How far the wall is ahead of the monotonic clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WallOffset(u64);

const AMOUNT: u32 = 48;
const ENDS: u32 = 47;
const AMOUNT_MASK: u128 = (1 << AMOUNT) - 1;
const ENDS_MASK: u128 = (1 << ENDS) - 1;

impl Packed {
    /// How many bits there are in it: an amount, an end, and whether it ends at all.
    pub(crate) const BITS: u32 = AMOUNT + ENDS + 1;

    /// An empty one if the purse does not fit: its clock has run for four years, or it holds all that there can be.
    pub(crate) fn of(purse: &Purse) -> Self {
        let amount = u128::from(purse.amount);
        let ends = u128::from(purse.estimate.ends.as_micros());
        if amount > AMOUNT_MASK || ends > ENDS_MASK {
            return Self::default();
        }
        let is_coupled = u128::from(purse.valid_until != NEVER);
        Self(is_coupled << (AMOUNT + ENDS) | ends << AMOUNT | amount)
    }

    /// The bits; those above [`Packed::BITS`] are zero.
    #[inline(always)]
    pub(crate) const fn bits(self) -> u128 {
        self.0
    }

    /// From bits, of which those above [`Packed::BITS`] do not matter.
    #[inline(always)]
    pub(crate) const fn from_bits(bits: u128) -> Self {
        Self(bits & ((1 << Self::BITS) - 1))
    }

    #[inline(always)]
    pub(crate) const fn amount(self) -> u64 {
        (self.0 & AMOUNT_MASK) as u64
    }

    /// [`Purse::spend`].
    #[inline(always)]
    pub(crate) fn spend(&mut self, now: Monotonic, cost: u64, wall: WallOffset) -> Option<Served> {
        let ends = Monotonic::from_micros((self.0 >> AMOUNT & ENDS_MASK) as u64);
        let is_coupled = self.0 >> (AMOUNT + ENDS) != 0;
        // An end that is past may have no place on a wall that was set back since: it may be before the epoch there.
        let told = ends.max(now);
        let mut purse = Purse {
            amount: self.amount(),
            valid_until: if is_coupled { ends } else { NEVER },
            estimate: Estimate {
                ends: told,
                reset_at: wall.of(told),
            },
        };
        let served = purse.spend(now, cost)?;
        self.0 = self.0 & !AMOUNT_MASK | u128::from(purse.amount);
        Some(served)
    }
}

impl WallOffset {
    /// That of two clocks read together.
    pub(crate) const fn at(now: Monotonic, wall: Timestamp) -> Self {
        Self(wall.as_micros().wrapping_sub(now.as_micros()))
    }

    #[inline(always)]
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    #[inline(always)]
    const fn of(self, instant: Monotonic) -> Timestamp {
        Timestamp::from_micros(instant.as_micros().wrapping_add(self.0))
    }
}

impl LeaseLedger {
    /// All that may be spent without a further look: nothing while somebody waits.
    pub(crate) fn lend(&self) -> Purse {
        Purse {
            amount: if self.waiters.is_empty() {
                self.credits.total()
            } else {
                0
            },
            valid_until: self.credits.valid_until(),
            estimate: self.estimate(),
        }
    }

    /// Books what was spent from the purse since it was lent; nothing else may have happened to the ledger meanwhile.
    pub(crate) fn settle(&mut self, spent: u64) {
        let spent = spent.min(self.credits.total());
        self.credits.take(spent);
        self.tally.0.served += spent;
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use quickcheck::quickcheck;
    use tk_core::{Decision, Grant, Mark, Tag, Timestamp};

    use super::*;
    use crate::{LeaseRules, Spend};

    fn grant(amount: u64, span: u64) -> Grant {
        let decision = Decision {
            allowed: true,
            limit: 100,
            remaining: 0,
            reset_at: Timestamp::EPOCH,
            retry_after: Duration::ZERO,
        };
        Grant {
            amount,
            span: Duration::from_micros(span),
            tag: Tag::new(0, Mark(u128::from(amount)), amount),
            decision,
        }
    }

    /// Spends as a limiter does: from the purse, and if that does not do, from the ledger.
    fn spend(ledger: &mut LeaseLedger, now: Monotonic, costs: &[u64]) -> Vec<Spend> {
        let mut lent = Packed::of(&ledger.lend());
        let mut purse = lent;
        let mut spent = Vec::new();
        for cost in costs {
            let offset = WallOffset::at(Monotonic::ORIGIN, WALL);
            if let Some(served) = purse.spend(now, *cost, offset) {
                spent.push(Spend::Served(served));
                continue;
            }
            ledger.settle(lent.amount() - purse.amount());
            spent.push(ledger.spend(now, *cost));
            lent = Packed::of(&ledger.lend());
            purse = lent;
        }
        ledger.settle(lent.amount() - purse.amount());
        spent
    }

    const WALL: Timestamp = Timestamp::from_secs(7);

    #[test]
    fn what_does_not_fit_is_not_lent_and_the_largest_that_fits_is() {
        let purse = |amount, ends| Purse {
            amount,
            valid_until: NEVER,
            estimate: Estimate {
                ends: Monotonic::from_micros(ends),
                reset_at: WALL,
            },
        };
        let (most, last) = ((1 << 48) - 1, (1 << 47) - 1);
        assert_eq!(Packed::of(&purse(most + 1, 1)).amount(), 0);
        assert_eq!(Packed::of(&purse(1, last + 1)).amount(), 0);
        let mut packed = Packed::of(&purse(most, last));
        let number = u128::from(u32::MAX) << Packed::BITS;
        assert_eq!(Packed::from_bits(packed.bits() | number), packed);
        let served = packed.spend(Monotonic::ORIGIN, most, WallOffset::default());
        assert_eq!(served.map(|served| served.remaining), Some(0));
        assert_eq!(packed, Packed::of(&purse(0, last)));
    }

    #[test]
    fn a_purse_serves_all_it_holds_until_its_credits_end_and_not_at_that_instant() {
        let rules = LeaseRules::new(10).expect("in range").coupled(true);
        let mut ledger = LeaseLedger::new();
        ledger.join(0, 1);
        let sent = Monotonic::from_micros(5);
        let ask = ledger.begin(&rules, sent).expect("somebody waits");
        let _ = ledger.granted(&rules, ask, sent, WALL, &grant(10, 1_000_000));
        let (purse, end) = (ledger.lend(), Monotonic::from_micros(999_004));
        assert_eq!((purse.amount(), purse.valid_until), (9, end));
        let last = end - Duration::from_micros(1);
        let offset = WallOffset::at(sent, WALL);
        let packed = Packed::of(&purse);
        assert_eq!(Packed::from_bits(packed.bits()), packed);
        assert_eq!(WallOffset::from_bits(offset.bits()), offset);
        for cost in [1, 9] {
            assert_eq!(
                { purse }.spend(last, cost),
                { packed }.spend(last, cost, offset)
            );
            assert!({ purse }.spend(last, cost).is_some());
            assert_eq!({ purse }.spend(end, cost), None);
            assert_eq!({ packed }.spend(end, cost, offset), None);
        }
        assert_eq!({ purse }.spend(last, 10), None);
    }

    /// What is left of 10 carried-over credits, granted at the origin for so many microseconds, once one has been served.
    fn carried_over(span: u64) -> Purse {
        let rules = LeaseRules::new(10).expect("in range");
        let mut ledger = LeaseLedger::new();
        ledger.join(0, 1);
        let ask = ledger
            .begin(&rules, Monotonic::ORIGIN)
            .expect("somebody waits");
        let _ = ledger.granted(&rules, ask, Monotonic::ORIGIN, WALL, &grant(10, span));
        ledger.lend()
    }

    #[test]
    fn a_purse_of_carried_over_credits_serves_after_their_span() {
        let (purse, late) = (carried_over(1_000), Monotonic::from_micros(5_000));
        let offset = WallOffset::at(Monotonic::ORIGIN, WALL);
        let served = { purse }.spend(late, 4);
        assert_eq!(served.map(|served| served.remaining), Some(5));
        assert_eq!(Packed::of(&purse).spend(late, 4, offset), served);
    }

    #[test]
    fn an_end_before_the_epoch_of_a_wall_that_was_set_back_is_told_as_now() {
        let set_back = WallOffset::at(Monotonic::from_micros(100), Timestamp::from_micros(10));
        let served = Packed::of(&carried_over(50)).spend(Monotonic::from_micros(101), 1, set_back);
        let reset_at = served.map(|served| served.reset_at);
        assert_eq!(reset_at, Some(Timestamp::from_micros(11)));
    }

    quickcheck! {
        fn a_purse_spends_what_its_ledger_would(
            is_coupled: bool,
            steps: Vec<(u8, u8, Vec<u8>)>
        ) -> bool {
            let rules = LeaseRules::new(10).expect("in range").coupled(is_coupled);
            let (mut plain, mut lent) = (LeaseLedger::new(), LeaseLedger::new());
            let mut now = 0;
            steps.into_iter().enumerate().all(|(waiter, (amount, time, costs))| {
                now += u64::from(time);
                let at = Monotonic::from_micros(now);
                let wall = WALL + Duration::from_micros(now);
                let grant = grant(u64::from(amount) % 20 + 1, u64::from(amount) * 3);
                for ledger in [&mut plain, &mut lent] {
                    ledger.join(waiter as u64, 1);
                    if let Some(ask) = ledger.begin(&rules, at) {
                        let _ = ledger.granted(&rules, ask, at, wall, &grant);
                    }
                }
                let costs: Vec<_> = costs.into_iter().map(|cost| u64::from(cost) % 6).collect();
                let expected: Vec<_> = costs.iter().map(|cost| plain.spend(at, *cost)).collect();
                spend(&mut lent, at, &costs) == expected
                    && lent == plain
                    && lent.clone().take_demand(at) == plain.clone().take_demand(at)
            })
        }
    }
}
