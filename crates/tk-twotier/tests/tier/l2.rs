//! A shared store under the test's control.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use tk_core::{
    Clock, Decision, Error, Grant, Key, ManualClock, OwnedKey, Store, Strategy, Tag, Timestamp,
};
use tokio::sync::watch;

/// Why the store of a test did not answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Down;

/// A shared store: clones are connections to one store. Requests and replies can be held up, and it reads a clock of its own.
#[derive(Clone)]
pub(crate) struct L2<S: Strategy>(Arc<Shared<S>>);

pub(crate) struct Shared<S: Strategy> {
    pub(crate) clock: ManualClock,
    states: Mutex<HashMap<OwnedKey, S::State>>,
    incarnation: AtomicU64,
    requests: watch::Sender<bool>,
    replies: watch::Sender<bool>,
    fails: AtomicBool,
    panics: AtomicBool,
    /// What every grant claims to be, whatever was charged.
    claims: Mutex<Option<u64>>,
    /// How long a reply takes, and on which other clock that shows.
    latency: Mutex<Option<(Duration, Arc<ManualClock>)>>,
    pub(crate) log: Mutex<Log>,
}

/// What the store has seen.
#[derive(Debug, Default, Clone)]
pub(crate) struct Log {
    pub(crate) checks: u64,
    pub(crate) leases: Vec<(u64, u64)>,
    pub(crate) in_flight: usize,
    pub(crate) most_in_flight: usize,
    pub(crate) granted: u64,
    pub(crate) hand_backs: Vec<(Tag, u64, u64)>,
}

/// When the tests begin: the start of a minute, by the store's clock.
pub(crate) const START: Timestamp = Timestamp::from_secs(60_000);

impl<S: Strategy> L2<S> {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Shared {
            clock: ManualClock::at(START),
            states: Mutex::default(),
            incarnation: AtomicU64::new(1),
            requests: watch::Sender::new(true),
            replies: watch::Sender::new(true),
            fails: AtomicBool::new(false),
            panics: AtomicBool::new(false),
            claims: Mutex::default(),
            latency: Mutex::default(),
            log: Mutex::default(),
        }))
    }

    pub(crate) fn clock(&self) -> &ManualClock {
        &self.0.clock
    }

    /// Whether requests arrive, or wait on the way.
    pub(crate) fn requests(&self, flow: bool) {
        self.0.requests.send_replace(flow);
    }

    /// Whether replies arrive, or wait on the way after the request was applied.
    pub(crate) fn replies(&self, flow: bool) {
        self.0.replies.send_replace(flow);
    }

    pub(crate) fn fails(&self, fails: bool) {
        self.0.fails.store(fails, SeqCst);
    }

    pub(crate) fn panics(&self, panics: bool) {
        self.0.panics.store(panics, SeqCst);
    }

    /// From now on every grant claims to be of `amount`.
    pub(crate) fn claims(&self, amount: Option<u64>) {
        *self.0.claims.lock().expect("no test panics here") = amount;
    }

    /// From now on a reply takes `time`, during which `clock` goes on too.
    pub(crate) fn takes(&self, time: Duration, clock: &Arc<ManualClock>) {
        *self.0.latency.lock().expect("no test panics here") = Some((time, clock.clone()));
    }

    pub(crate) fn log(&self) -> Log {
        self.0.log.lock().expect("no test panics here").clone()
    }

    /// Units that fit now, without asking.
    pub(crate) fn available(&self, strategy: &S, key: &str) -> u64 {
        self.apply(&key, |state, now| strategy.available(state, now))
    }

    fn apply<K: Key + ?Sized, R>(
        &self,
        key: &K,
        f: impl FnOnce(&mut S::State, Timestamp) -> R,
    ) -> R {
        let mut states = self.0.states.lock().expect("no test panics here");
        f(
            states.entry(OwnedKey::of(key)).or_default(),
            self.0.clock.now(),
        )
    }

    async fn call<K: Key + ?Sized, R>(
        &self,
        key: &K,
        f: impl FnOnce(&mut S::State, Timestamp) -> R,
    ) -> Result<R, Error<Down>> {
        flows(&self.0.requests).await;
        assert!(!self.0.panics.load(SeqCst), "the store was told to panic");
        if self.0.fails.load(SeqCst) {
            return Err(Error::Store(Down));
        }
        let answer = self.apply(key, f);
        if let Some((time, clock)) = &*self.0.latency.lock().expect("no test panics here") {
            self.0.clock.advance(*time);
            clock.advance(*time);
        }
        flows(&self.0.replies).await;
        Ok(answer)
    }

    fn note(&self, note: impl FnOnce(&mut Log)) {
        note(&mut self.0.log.lock().expect("no test panics here"));
    }
}

async fn flows(gate: &watch::Sender<bool>) {
    // The sender lives as long as the store, so this cannot fail.
    let _ = gate.subscribe().wait_for(|flow| *flow).await;
}

impl<S: Strategy> Store for L2<S> {
    type Strategy = S;
    type Error = Down;

    async fn check<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
        cost: u64,
    ) -> Result<Decision, Error<Down>> {
        self.note(|log| log.checks += 1);
        strategy.fits(cost)?;
        self.call(key, |state, now| strategy.decide(state, now, cost))
            .await
    }

    async fn peek<K: Key + ?Sized>(&self, strategy: &S, key: &K) -> Result<Decision, Error<Down>> {
        self.call(key, |state, now| strategy.peek(state, now)).await
    }

    async fn lease<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
        want: u64,
        at_least: u64,
    ) -> Result<Grant, Error<Down>> {
        self.note(|log| {
            log.leases.push((want, at_least));
            log.in_flight += 1;
            log.most_in_flight = log.most_in_flight.max(log.in_flight);
        });
        let incarnation = || self.0.incarnation.load(SeqCst);
        let answer = self
            .call(key, |state, now| {
                Grant::charge(strategy, state, now, want, at_least, incarnation())
            })
            .await;
        self.note(|log| log.in_flight -= 1);
        let mut grant = answer??;
        if let Some(amount) = *self.0.claims.lock().expect("no test panics here") {
            grant.amount = amount;
        }
        self.note(|log| log.granted = log.granted.saturating_add(grant.amount));
        Ok(grant)
    }

    async fn give_back<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
        tag: Tag,
        amount: u64,
    ) -> Result<u64, Error<Down>> {
        let incarnation = self.0.incarnation.load(SeqCst);
        let applied = self
            .call(key, |state, now| {
                tag.give_back(strategy, state, now, incarnation, amount)
            })
            .await?;
        self.note(|log| log.hand_backs.push((tag, amount, applied)));
        Ok(applied)
    }

    async fn reset<K: Key + ?Sized>(&self, _: &S, key: &K) -> Result<(), Error<Down>> {
        self.call(key, |state, _| {
            *state = S::State::default();
            self.0.incarnation.fetch_add(1, SeqCst);
        })
        .await
    }

    async fn check_many<K: Key>(
        &self,
        strategy: &S,
        calls: &[(K, u64)],
    ) -> Vec<Result<Decision, Error<Down>>> {
        let mut answers = Vec::new();
        for (key, cost) in calls {
            answers.push(self.check(strategy, key, *cost).await);
        }
        answers
    }
}
