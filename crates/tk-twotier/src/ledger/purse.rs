//! Credits where they can be spent in a few instructions.

use tk_core::Monotonic;

use super::{Estimate, LeaseLedger, Served};

/// What a ledger holds, lent to a place that is closer to the reader than the ledger.
///
/// A node with many keys spends its time waiting for memory, and a ledger is several cache lines long. A purse
/// is half of one. It serves what the ledger would have served, and leaves everything else to it: spending from the
/// purse and then settling equals spending from the ledger, which a test holds it to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Purse {
    amount: u64,
    /// The first instant at which some of it has ended.
    valid_until: Monotonic,
    estimate: Estimate,
}

impl Purse {
    /// Charges `cost`, unless the ledger has to decide.
    #[inline]
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
            estimate: self.estimate.0,
        }
    }

    /// Books what was spent from the purse, if nothing else happened to the ledger since it was lent.
    pub(crate) fn settle(&mut self, purse: &Purse) {
        if self.waiters.is_empty() {
            let spent = self.credits.total().saturating_sub(purse.amount);
            self.credits.take(spent);
            self.tally.0.served += spent;
        }
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
        let mut purse = ledger.lend();
        let mut spent = Vec::new();
        for cost in costs {
            if let Some(served) = purse.spend(now, *cost) {
                spent.push(Spend::Served(served));
                continue;
            }
            ledger.settle(&purse);
            spent.push(ledger.spend(now, *cost));
            purse = ledger.lend();
        }
        ledger.settle(&purse);
        spent
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
                let wall = Timestamp::from_micros(now);
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
