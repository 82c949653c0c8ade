//! A store that reads, lets others run, and then writes.

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{Arc, Mutex},
};

use tk_core::{Clock, Decision, Error, Grant, Key, ManualClock, OwnedKey, Store, Strategy, Tag};

type Answer<T> = Result<T, Error<Infallible>>;

pub(crate) struct Racy<S: Strategy> {
    clock: Arc<ManualClock>,
    states: Mutex<HashMap<OwnedKey, (S::State, u64)>>,
}

impl<S: Strategy> Racy<S> {
    pub(crate) fn new(clock: Arc<ManualClock>) -> Self {
        Self {
            clock,
            states: Mutex::default(),
        }
    }

    async fn with<R>(
        &self,
        key: OwnedKey,
        apply: impl FnOnce(&mut S::State, u64) -> R,
    ) -> Answer<R> {
        if key.is_empty() {
            return Err(Error::EmptyKey);
        }
        let read = self.states.lock().unwrap().get(&key).cloned();
        tokio::task::yield_now().await;
        let (mut state, incarnation) = read.unwrap_or_default();
        let answer = apply(&mut state, incarnation);
        self.states
            .lock()
            .unwrap()
            .insert(key, (state, incarnation));
        Ok(answer)
    }
}

impl<S: Strategy> Store for Racy<S> {
    type Strategy = S;
    type Error = Infallible;

    async fn check<K: Key + ?Sized>(&self, strategy: &S, key: &K, cost: u64) -> Answer<Decision> {
        strategy.fits(cost)?;
        let now = self.clock.now();
        self.with(OwnedKey::of(key), |state, _| {
            strategy.decide(state, now, cost)
        })
        .await
    }

    async fn peek<K: Key + ?Sized>(&self, strategy: &S, key: &K) -> Answer<Decision> {
        let now = self.clock.now();
        self.with(OwnedKey::of(key), |state, _| strategy.peek(state, now))
            .await
    }

    async fn lease<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
        want: u64,
        at_least: u64,
    ) -> Answer<Grant> {
        let now = self.clock.now();
        self.with(OwnedKey::of(key), |state, incarnation| {
            Grant::charge(strategy, state, now, want, at_least, incarnation)
        })
        .await?
    }

    async fn give_back<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
        tag: Tag,
        amount: u64,
    ) -> Answer<u64> {
        let now = self.clock.now();
        self.with(OwnedKey::of(key), |state, incarnation| {
            tag.give_back(strategy, state, now, incarnation, amount)
        })
        .await
    }

    async fn reset<K: Key + ?Sized>(&self, _strategy: &S, key: &K) -> Answer<()> {
        if key.is_empty() {
            return Err(Error::EmptyKey);
        }
        let mut states = self.states.lock().unwrap();
        let life = states
            .get(&OwnedKey::of(key))
            .map_or(0, |(_, life)| life + 1);
        states.insert(OwnedKey::of(key), (S::State::default(), life));
        Ok(())
    }

    async fn check_many<K: Key>(&self, strategy: &S, calls: &[(K, u64)]) -> Vec<Answer<Decision>> {
        let mut answers = Vec::new();
        for (key, cost) in calls {
            answers.push(self.check(strategy, key, *cost).await);
        }
        answers
    }
}
