//! A store that commits one fault.

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tk_core::{
    Clock, Decision, Error, Grant, Key, KeySink, ManualClock, Strategy, SyncStore, Tag, Timestamp,
};

type Answer<T> = Result<T, Error<Infallible>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// Not a fault: keys that are like new go away at each call.
    ForgetsFreshKeys,
    ForgetsAnyKey,
    DenialCharges,
    ZeroCharges,
    PeekCharges,
    DearCostIsDenied,
    EmptyKeyIsAKey,
    RetryIsTooSoon,
    RetryIsTooLate,
    RemainingIsOneMore,
    FieldsRunTogether,
    LeaseIsAllOrNothing,
    LeaseIgnoresTheLeast,
    HandBackAfterReset,
    HandBackIsDoubled,
    HandBackGoesAnywhere,
    SpanIsTooLong,
    ManyInReverse,
    ManyStopAtTheFirstRefusal,
    ChangeOfStrategyResets,
    ResetDoesNothing,
    NewStateWhenTimeStepsBack,
}

impl Fault {
    pub(crate) const ALL: [Self; 21] = [
        Self::ForgetsAnyKey,
        Self::DenialCharges,
        Self::ZeroCharges,
        Self::PeekCharges,
        Self::DearCostIsDenied,
        Self::EmptyKeyIsAKey,
        Self::RetryIsTooSoon,
        Self::RetryIsTooLate,
        Self::RemainingIsOneMore,
        Self::FieldsRunTogether,
        Self::LeaseIsAllOrNothing,
        Self::LeaseIgnoresTheLeast,
        Self::HandBackAfterReset,
        Self::HandBackIsDoubled,
        Self::HandBackGoesAnywhere,
        Self::SpanIsTooLong,
        Self::ManyInReverse,
        Self::ManyStopAtTheFirstRefusal,
        Self::ChangeOfStrategyResets,
        Self::ResetDoesNothing,
        Self::NewStateWhenTimeStepsBack,
    ];
}

pub(crate) struct Sloppy<S: Strategy> {
    fault: Fault,
    clock: Arc<ManualClock>,
    entries: Mutex<HashMap<Vec<u8>, Entry<S>>>,
    lives: AtomicU64,
}

#[derive(Clone)]
struct Entry<S: Strategy> {
    state: S::State,
    life: u64,
    written_under: S,
    at: Timestamp,
}

/// Fields as text, with or without a mark between them.
struct Text(Vec<u8>, bool);

impl KeySink for Text {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.push(b'b');
        self.0
            .extend(bytes.len().to_string().bytes().filter(|_| self.1));
        self.0.extend(bytes);
    }

    fn number(&mut self, number: u128) {
        self.0.push(b'n');
        self.0.extend(number.to_string().bytes());
    }

    fn next_field(&mut self) {
        self.0.push(b'|');
    }
}

impl<S: Strategy> Sloppy<S> {
    pub(crate) fn new(fault: Fault, clock: Arc<ManualClock>) -> Self {
        Self {
            fault,
            clock,
            entries: Mutex::default(),
            lives: AtomicU64::new(1),
        }
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn with<K: Key + ?Sized, R>(
        &self,
        strategy: &S,
        key: &K,
        apply: impl FnOnce(&mut S::State, Timestamp, u64) -> R,
    ) -> Answer<R> {
        if key.is_empty() && !self.is(Fault::EmptyKeyIsAKey) {
            return Err(Error::EmptyKey);
        }
        let mut text = Text(Vec::new(), !self.is(Fault::FieldsRunTogether));
        key.feed(&mut text);
        let now = self.clock.now();
        let mut entries = self.entries.lock().unwrap();
        match self.fault {
            Fault::ForgetsFreshKeys => {
                entries.retain(|_, entry| !strategy.is_fresh(&entry.state, now));
            }
            Fault::ForgetsAnyKey => entries.retain(|_, entry| entry.life % 3 != 0),
            Fault::ChangeOfStrategyResets => {
                entries.retain(|_, entry| strategy.same_scale(&entry.written_under));
            }
            Fault::NewStateWhenTimeStepsBack => entries.retain(|_, entry| entry.at <= now),
            _ => {}
        }
        let entry = entries.entry(text.0).or_insert_with(|| Entry {
            state: S::State::default(),
            life: self.lives.fetch_add(1, Ordering::Relaxed),
            written_under: strategy.clone(),
            at: now,
        });
        entry.written_under = strategy.clone();
        entry.at = now;
        Ok(apply(&mut entry.state, now, entry.life))
    }

    fn decide(&self, strategy: &S, state: &mut S::State, now: Timestamp, cost: u64) -> Decision {
        let cost = if self.is(Fault::ZeroCharges) {
            cost.max(1)
        } else {
            cost
        };
        let mut decision = strategy.decide(state, now, cost);
        match self.fault {
            Fault::DenialCharges if decision.is_denied() => {
                let _ = strategy.decide(state, now, 1);
            }
            Fault::RetryIsTooSoon => {
                decision.retry_after = decision
                    .retry_after
                    .saturating_sub(Duration::from_micros(1));
            }
            Fault::RetryIsTooLate if decision.is_denied() => {
                decision.retry_after += Duration::from_micros(1);
            }
            Fault::RemainingIsOneMore => decision.remaining += 1,
            _ => {}
        }
        decision
    }
}

impl<S: Strategy> SyncStore for Sloppy<S> {
    type Strategy = S;
    type Error = Infallible;

    fn check_sync<K: Key + ?Sized>(&self, strategy: &S, key: &K, cost: u64) -> Answer<Decision> {
        if !self.is(Fault::DearCostIsDenied) {
            strategy.fits(cost)?;
        }
        self.with(strategy, key, |state, now, _| {
            self.decide(strategy, state, now, cost)
        })
    }

    fn peek_sync<K: Key + ?Sized>(&self, strategy: &S, key: &K) -> Answer<Decision> {
        self.with(strategy, key, |state, now, _| {
            let peeked = strategy.peek(state, now);
            if self.is(Fault::PeekCharges) {
                let _ = strategy.decide(state, now, 1);
            }
            peeked
        })
    }

    fn lease_sync<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
        want: u64,
        at_least: u64,
    ) -> Answer<Grant> {
        let at_least = match self.fault {
            Fault::LeaseIsAllOrNothing => want.min(strategy.capacity()),
            Fault::LeaseIgnoresTheLeast => at_least.min(1),
            _ => at_least,
        };
        strategy.fits(at_least)?;
        let mut grant = self.with(strategy, key, |state, now, life| {
            Grant::charge(strategy, state, now, want, at_least, life)
        })??;
        if self.is(Fault::SpanIsTooLong) {
            grant.span += Duration::from_micros(1);
        }
        Ok(grant)
    }

    fn give_back_sync<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
        tag: Tag,
        amount: u64,
    ) -> Answer<u64> {
        let (any_life, any_place) = (
            self.is(Fault::HandBackAfterReset),
            self.is(Fault::HandBackGoesAnywhere),
        );
        self.with(strategy, key, |state, now, life| {
            let tag = Tag::new(
                if any_life { life } else { tag.incarnation() },
                if any_place {
                    strategy.mark(state, now)
                } else {
                    tag.mark()
                },
                tag.amount() << u64::from(self.is(Fault::HandBackIsDoubled)),
            );
            tag.give_back(strategy, state, now, life, amount)
        })
    }

    fn reset_sync<K: Key + ?Sized>(&self, strategy: &S, key: &K) -> Answer<()> {
        let new = self.lives.fetch_add(1, Ordering::Relaxed);
        self.with(strategy, key, |state, _, _| {
            if !self.is(Fault::ResetDoesNothing) {
                *state = S::State::default();
            }
        })?;
        let mut text = Text(Vec::new(), !self.is(Fault::FieldsRunTogether));
        key.feed(&mut text);
        if let Some(entry) = self.entries.lock().unwrap().get_mut(&text.0) {
            entry.life = new;
        }
        Ok(())
    }

    fn check_many_sync<K: Key>(&self, strategy: &S, calls: &[(K, u64)]) -> Vec<Answer<Decision>> {
        let check = |(key, cost): &(K, u64)| self.check_sync(strategy, key, *cost);
        let mut refused = false;
        match self.fault {
            Fault::ManyInReverse => {
                let mut answers: Vec<_> = calls.iter().rev().map(check).collect();
                answers.reverse();
                answers
            }
            Fault::ManyStopAtTheFirstRefusal => calls
                .iter()
                .map(|call| {
                    let answer = if refused {
                        Err(Error::EmptyKey)
                    } else {
                        check(call)
                    };
                    refused |= answer.is_err();
                    answer
                })
                .collect(),
            _ => calls.iter().map(check).collect(),
        }
    }
}
