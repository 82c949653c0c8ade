//! A store beside the rule itself: each answer must be one that the rule gives.

use std::{fmt::Debug, sync::Arc};

use tk_core::{
    Clock, Decision, Error, Grant, Key, ManualClock, OwnedKey, Store, Strategy, Tag, Timestamp,
};

use super::{Harness, model::Model};

/// A store under test, its clock, and what it may answer.
///
/// Each method asks the store, and panics unless the answer equals that of the strategy applied to a state in memory: decisions field
/// for field, of grants the amount, decision, span and the tag's mark and amount (only the decision, if nothing was granted).
pub struct Twin<St: Store> {
    /// The store.
    pub store: Arc<St>,
    /// The strategy in force; a script may change it.
    pub strategy: St::Strategy,
    clock: Arc<ManualClock>,
    model: Model<St::Strategy>,
    /// What a failure is announced with.
    story: String,
    steps: u64,
}

/// A grant that was not handed back yet.
#[derive(Clone, Debug)]
pub struct Held {
    /// The store's grant.
    pub grant: Grant,
    /// The lives of the key in which it may have been made.
    lives: Vec<u64>,
}

impl<St: Store> Twin<St> {
    /// A new store that stands at `now`; failures are announced with `story`.
    pub async fn new<H: Harness<St::Strategy, Store = St>>(
        harness: &H,
        strategy: &St::Strategy,
        now: Timestamp,
        story: impl Into<String>,
    ) -> Self {
        let clock = Arc::new(ManualClock::at(now));
        Self {
            store: Arc::new(harness.store(clock.clone()).await),
            strategy: strategy.clone(),
            clock,
            model: Model::new(),
            story: story.into(),
            steps: 0,
        }
    }

    /// The instant at which the store stands.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Moves the store's clock, forwards or backwards.
    pub fn set_now(&self, now: Timestamp) {
        self.clock.set_wall(now);
    }

    /// Compares a check.
    pub async fn check<K: Key + ?Sized>(&mut self, key: &K, cost: u64) -> Answer<St, Decision> {
        let answer = self.store.check(&self.strategy, key, cost).await;
        self.settle_check(key, cost, answer)
    }

    /// Compares a check that is expected to give a decision.
    pub async fn decide<K: Key + ?Sized>(&mut self, key: &K, cost: u64) -> Decision {
        match self.check(key, cost).await {
            Ok(decision) => decision,
            Err(error) => self.fail(&format_args!("a check of cost {cost} gave {error:?}")),
        }
    }

    /// Compares a check whose decision is of no further interest.
    pub async fn charge<K: Key + ?Sized>(&mut self, key: &K, cost: u64) {
        let _ = self.decide(key, cost).await;
    }

    /// Compares a peek.
    pub async fn peek<K: Key + ?Sized>(&mut self, key: &K) -> Answer<St, Decision> {
        let answer = self.store.peek(&self.strategy, key).await;
        if self.refused(&"peek", key, 0, &answer) {
            return answer;
        }
        let (strategy, now) = (self.strategy.clone(), self.now());
        self.settle(
            key,
            &"peek",
            &answer.as_ref().ok(),
            |state, _| (strategy.peek(state, now), false),
            |decision| answer.as_ref().ok() == Some(decision),
        );
        answer
    }

    /// Compares a lease.
    pub async fn lease<K: Key + ?Sized>(
        &mut self,
        key: &K,
        want: u64,
        at_least: u64,
    ) -> Answer<St, Held> {
        let answer = self.store.lease(&self.strategy, key, want, at_least).await;
        let call = format!("lease of {want}, at least {at_least}");
        if self.refused(&call, key, at_least, &answer) {
            let nothing = |_| self.fail(&"a refused lease made a grant");
            return answer.map(nothing);
        }
        let (strategy, now) = (self.strategy.clone(), self.now());
        let grant = answer?;
        let lives = self.settle(
            key,
            &call,
            &grant,
            |state, _| {
                let model = Grant::charge::<_, St::Error>(&strategy, state, now, want, at_least, 0);
                let wrote = model.as_ref().is_ok_and(|grant| grant.amount > 0);
                (model.ok(), wrote)
            },
            |model| model.is_some_and(|model| alike(&model, &grant)),
        );
        Ok(Held { grant, lives })
    }

    /// Compares a lease that is expected to be answered.
    pub async fn grant<K: Key + ?Sized>(&mut self, key: &K, want: u64, at_least: u64) -> Held {
        match self.lease(key, want, at_least).await {
            Ok(held) => held,
            Err(error) => self.fail(&format_args!("a lease of {want} gave {error:?}")),
        }
    }

    /// Compares a hand-back of `amount` units of a grant; answers how many were taken.
    pub async fn give_back<K: Key + ?Sized>(
        &mut self,
        key: &K,
        held: &Held,
        amount: u64,
    ) -> Answer<St, u64> {
        let tag = held.grant.tag;
        let answer = self.store.give_back(&self.strategy, key, tag, amount).await;
        let call = format!("hand-back of {amount} of {:?}", held.grant);
        if self.refused(&call, key, 0, &answer) {
            return answer;
        }
        let (strategy, now) = (self.strategy.clone(), self.now());
        let here = Tag::new(0, tag.mark(), tag.amount());
        self.settle(
            key,
            &call,
            &answer.as_ref().ok(),
            |state, lives| {
                let alive = lives.iter().any(|life| held.lives.contains(life));
                let incarnation = u64::from(!alive);
                let applied = here.give_back(&strategy, state, now, incarnation, amount);
                (applied, applied > 0)
            },
            |applied| answer.as_ref().ok() == Some(applied),
        );
        answer
    }

    /// Compares a hand-back that is expected to be answered.
    pub async fn take_back<K: Key + ?Sized>(&mut self, key: &K, held: &Held, amount: u64) -> u64 {
        match self.give_back(key, held, amount).await {
            Ok(applied) => applied,
            Err(error) => self.fail(&format_args!("a hand-back of {amount} gave {error:?}")),
        }
    }

    /// Compares a hand-back under a tag that names nothing: it must take nothing.
    pub async fn refuse<K: Key + ?Sized>(&mut self, key: &K, tag: Tag, what: &str) {
        let answer = self.store.give_back(&self.strategy, key, tag, 1).await;
        if !matches!(answer, Ok(0)) {
            self.fail(&format_args!("a hand-back {what} gave {answer:?}, not 0"))
        }
    }

    /// Resets a key.
    pub async fn reset<K: Key + ?Sized>(&mut self, key: &K) -> Answer<St, ()> {
        let answer = self.store.reset(&self.strategy, key).await;
        if !self.refused(&"reset", key, 0, &answer) {
            let now = self.now();
            self.model.reset(&self.strategy, &OwnedKey::of(key), now);
        }
        answer
    }

    /// Compares several checks at one instant.
    pub async fn check_many<K: Key>(&mut self, calls: &[(K, u64)]) -> Vec<Answer<St, Decision>> {
        let answers = self.store.check_many(&self.strategy, calls).await;
        if answers.len() != calls.len() {
            self.fail(&format_args!(
                "{} calls got {} answers",
                calls.len(),
                answers.len()
            ))
        }
        calls
            .iter()
            .zip(answers)
            .map(|((key, cost), answer)| self.settle_check(key, *cost, answer))
            .collect()
    }

    /// Ends the test with the story so far.
    #[track_caller]
    pub fn fail(&self, what: &dyn std::fmt::Display) -> ! {
        panic!(
            "{}, step {} at {}: {what}",
            self.story,
            self.steps,
            self.now()
        )
    }

    /// Fails unless `claim` holds.
    #[track_caller]
    pub fn claim(&self, claim: bool, what: impl std::fmt::Display) {
        if !claim {
            self.fail(&what)
        }
    }

    fn settle_check<K: Key + ?Sized>(
        &mut self,
        key: &K,
        cost: u64,
        answer: Answer<St, Decision>,
    ) -> Answer<St, Decision> {
        let call = format!("check of cost {cost}");
        if self.refused(&call, key, cost, &answer) {
            return answer;
        }
        let (strategy, now) = (self.strategy.clone(), self.now());
        self.settle(
            key,
            &call,
            &answer.as_ref().ok(),
            |state, _| {
                let decision = strategy.decide(state, now, cost);
                (decision, decision.allowed && cost > 0)
            },
            |decision| answer.as_ref().ok() == Some(decision),
        );
        answer
    }

    /// Whether the call had to be refused before any state was touched; fails if it was refused otherwise, or not.
    fn refused<K: Key + ?Sized, R: Debug>(
        &mut self,
        call: &dyn std::fmt::Display,
        key: &K,
        cost: u64,
        answer: &Answer<St, R>,
    ) -> bool {
        self.steps += 1;
        let limit = self.strategy.capacity();
        let (empty, too_much) = (key.is_empty(), cost > limit);
        let right = match *answer {
            Ok(_) => !empty && !too_much,
            Err(Error::EmptyKey) => empty,
            Err(Error::ExceedsCapacity { cost: c, limit: l }) => {
                too_much && (c, l) == (cost, limit)
            }
            _ => false,
        };
        if !right {
            self.fail(&format_args!("{call} gave {answer:?}"))
        }
        empty || too_much
    }

    fn settle<K: Key + ?Sized, R: Debug>(
        &mut self,
        key: &K,
        call: &dyn std::fmt::Display,
        answer: &dyn Debug,
        step: impl Fn(&mut <St::Strategy as Strategy>::State, &[u64]) -> (R, bool),
        right: impl Fn(&R) -> bool,
    ) -> Vec<u64> {
        let (key, now) = (OwnedKey::of(key), self.now());
        match self.model.settle(&self.strategy, &key, now, step, right) {
            Ok(lives) => lives,
            Err(outcomes) => self.fail(&format_args!(
                "{call} on {key:?} gave {answer:?}, but the rule gives {outcomes:?}"
            )),
        }
    }
}

/// The answer of a store.
pub type Answer<St, R> = Result<R, Error<<St as Store>::Error>>;

/// Incarnations are each store's own, and a grant of nothing has nowhere to be handed back to.
fn alike(one: &Grant, other: &Grant) -> bool {
    let place = |grant: &Grant| (grant.span, grant.tag.mark());
    one.amount == other.amount
        && one.decision == other.decision
        && one.tag.amount() == other.tag.amount()
        && (one.amount == 0 || place(one) == place(other))
}
