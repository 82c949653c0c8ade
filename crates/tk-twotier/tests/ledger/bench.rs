//! One ledger with its store, under the test's control.

use std::time::Duration;

use tk_core::{FixedWindow, Grant, Mark, Monotonic, Strategy, Tag, Timestamp};
use tk_twotier::{Ask, LeaseLedger, LeaseRules, Settlement, Spend, Verdict};

/// The test's clock: the node and the store read the same one.
pub(crate) fn at(micros: u64) -> Monotonic {
    Monotonic::from_micros(micros)
}

pub(crate) fn rules(batch: u64) -> LeaseRules {
    LeaseRules::new(batch).expect("a batch within the range")
}

/// A grant of `amount` that lasts `span` microseconds, with a tag to recognise it by.
pub(crate) fn grant(amount: u64, span: u64, name: u128) -> Grant {
    let strategy = FixedWindow::per_second(100).expect("a limit within the range");
    let decision = strategy.decide(&mut Default::default(), Timestamp::EPOCH, amount);
    Grant {
        amount,
        span: Duration::from_micros(span),
        tag: Tag::new(1, Mark(name), amount),
        decision,
    }
}

/// A denial of everything.
pub(crate) fn nothing() -> Grant {
    let strategy = FixedWindow::per_second(1).expect("a limit within the range");
    let mut state = Default::default();
    let _ = strategy.decide(&mut state, Timestamp::EPOCH, 1);
    Grant {
        decision: strategy.decide(&mut state, Timestamp::EPOCH, 1),
        ..grant(0, 1_000_000, 0)
    }
}

/// Asks for a waiter of `cost` at `now`.
pub(crate) fn ask(
    ledger: &mut LeaseLedger,
    rules: &LeaseRules,
    now: u64,
    waiter: u64,
    cost: u64,
) -> Ask {
    assert_eq!(ledger.spend(at(now), cost), Spend::Miss);
    ledger.join(waiter, cost);
    ledger.begin(rules, at(now)).expect("nothing is in flight")
}

/// Brings a grant at `now`.
pub(crate) fn bring(
    ledger: &mut LeaseLedger,
    rules: &LeaseRules,
    ask: Ask,
    now: u64,
    grant: &Grant,
) -> Settlement {
    ledger.granted(rules, ask, at(now), Timestamp::from_micros(now), grant)
}

/// A ledger that holds `credits` of a grant named `name`, which was sent at 0 and spans `span`.
pub(crate) fn holding(rules: &LeaseRules, credits: u64, span: u64, name: u128) -> LeaseLedger {
    let mut ledger = LeaseLedger::new();
    let ask = ask(&mut ledger, rules, 0, 0, 1);
    let settlement = bring(&mut ledger, rules, ask, 0, &grant(credits + 1, span, name));
    assert_eq!(served(&settlement), [0]);
    assert_eq!(ledger.credits(), credits);
    ledger
}

pub(crate) fn served(settlement: &Settlement) -> Vec<u64> {
    told(settlement, |verdict| matches!(verdict, Verdict::Served(_)))
}

pub(crate) fn told(settlement: &Settlement, is: impl Fn(&Verdict) -> bool) -> Vec<u64> {
    let verdicts = settlement.verdicts.iter();
    verdicts
        .filter(|(_, verdict)| is(verdict))
        .map(|(waiter, _)| *waiter)
        .collect()
}

pub(crate) fn spends(ledger: &mut LeaseLedger, now: u64, cost: u64) -> bool {
    matches!(ledger.spend(at(now), cost), Spend::Served(_))
}
