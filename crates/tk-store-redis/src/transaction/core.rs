//! The loop around a transaction: turns, deadline, attempts, breaker.

use std::{
    hash::{BuildHasher, RandomState},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use serde::{Serialize, de::DeserializeOwned};
use tk_core::{Clock, Error, Strategy, SystemClock, Timestamp};
use tokio::{
    runtime::Handle,
    sync::Mutex,
    time::{Instant, sleep, timeout_at},
};

use super::{
    connection::{Manager, Write},
    record::{decode, encode, life},
};
use crate::{
    breaker::Breaker,
    error::{Applied, ErrorKind, StoreError},
    given_up::{Awaited, Questions},
    incarnation::Incarnations,
    link::Bounds,
    store::SLACK,
};

/// Keys that take turns apart; those that share one wait for each other needlessly.
const TURNS: usize = 256;

/// The longest pause after the first failed attempt; it doubles with each.
const FIRST_PAUSE: Duration = Duration::from_micros(250);
const LONGEST_PAUSE: Duration = Duration::from_millis(16);

/// Everything of a store that knows neither strategies nor names.
pub(super) struct Core {
    pool: bb8::Pool<Manager>,
    manager: Manager,
    bounds: Bounds,
    attempts: u32,
    clock: Option<Arc<dyn Clock>>,
    breaker: Breaker,
    in_flight: AtomicUsize,
    turns: Box<[Mutex<()>]>,
    hasher: RandomState,
    incarnations: Incarnations,
    /// Where questions for those who have given up are asked.
    runtime: Handle,
    questions: Questions,
}

impl Core {
    /// It must be called within a runtime of tokio, the one that is given.
    pub(super) fn new(
        runtime: Handle,
        manager: Manager,
        connections: u32,
        bounds: Bounds,
        attempts: u32,
        clock: Option<Arc<dyn Clock>>,
    ) -> Self {
        let pool = bb8::Pool::builder()
            .max_size(connections)
            .test_on_check_out(false)
            .connection_timeout(bounds.deadline)
            .build_unchecked(manager.clone());
        Self {
            pool,
            manager,
            bounds,
            attempts,
            clock,
            breaker: Breaker::new(bounds.failures, bounds.probe_interval),
            in_flight: AtomicUsize::new(0),
            turns: (0..TURNS).map(|_| Mutex::new(())).collect(),
            hasher: RandomState::new(),
            incarnations: Incarnations::new(),
            runtime,
            questions: Questions::default(),
        }
    }

    /// The caller's clock, if that is to decide.
    pub(super) fn now(&self) -> Option<Timestamp> {
        self.clock.as_ref().map(|clock| clock.now())
    }

    /// Lets `step` change the state of a key, given also the instant and the state's incarnation, and writes what it
    /// changed. It may be called several times, on states that others have written meanwhile.
    pub(super) async fn transact<S, R, F>(
        self: &Arc<Self>,
        strategy: &S,
        key: Vec<u8>,
        now: Option<Timestamp>,
        step: F,
    ) -> Result<R, Error<StoreError>>
    where
        S: Strategy,
        S::State: Serialize + DeserializeOwned,
        F: Fn(&mut S::State, Timestamp, u64) -> Result<R, Error<StoreError>> + Send + Sync,
        R: Send,
    {
        let _entered = self.enter()?;
        let awaited = Awaited::or_else(|| self.ask_instead(&key));
        let answer = self.attempts(strategy, &key, now, &step).await;
        awaited.ended();
        answer
    }

    async fn attempts<S, R, F>(
        &self,
        strategy: &S,
        key: &[u8],
        now: Option<Timestamp>,
        step: &F,
    ) -> Result<R, Error<StoreError>>
    where
        S: Strategy,
        S::State: Serialize + DeserializeOwned,
        F: Fn(&mut S::State, Timestamp, u64) -> Result<R, Error<StoreError>> + Send + Sync,
        R: Send,
    {
        let due = Instant::now() + self.bounds.deadline;
        let turn = &self.turns[self.hasher.hash_one(key) as usize % TURNS];
        let Ok(_turn) = timeout_at(due, turn.lock()).await else {
            return Err(StoreError::new(ErrorKind::Busy).into());
        };
        let mut was_sent_elsewhere = false;
        for attempt in 0..self.attempts {
            if attempt > 0 {
                self.pause(attempt, due).await;
            }
            match self.attempt(strategy, key, now, due, step).await {
                Ok(None) => {}
                Ok(Some(answer)) => return Ok(answer),
                Err(Error::Store(error)) => {
                    let elsewhere = matches!(error.kind(), ErrorKind::Moving | ErrorKind::ReadOnly);
                    if !elsewhere || std::mem::replace(&mut was_sent_elsewhere, true) {
                        return Err(error.into());
                    }
                }
                Err(refusal) => return Err(refusal),
            }
        }
        Err(StoreError::new(ErrorKind::Contended(self.attempts)).into())
    }

    /// Forgets a key.
    pub(super) async fn forget(self: &Arc<Self>, key: &[u8]) -> Result<(), StoreError> {
        let _entered = self.enter()?;
        let awaited = Awaited::or_else(|| self.ask_instead(key));
        let due = Instant::now() + self.bounds.deadline;
        let forgotten = async {
            let mut connection = self.connection(due).await?;
            let forgotten = timeout_at(due, connection.forget(key)).await;
            self.heard(forgotten.unwrap_or_else(|_elapsed| Err(ErrorKind::Timeout.into())))
        };
        let forgotten = forgotten.await;
        awaited.ended();
        forgotten
    }

    /// Asks for a sign of life in place of a caller who has given up.
    fn ask_instead(self: &Arc<Self>, key: &[u8]) {
        self.questions.ask(&self.runtime, || {
            let (core, key) = (self.clone(), key.to_vec());
            async move { core.sign_of_life(&key).await }
        });
    }

    /// Has the server of a key say anything at all.
    async fn sign_of_life(&self, key: &[u8]) {
        let due = Instant::now() + self.bounds.deadline;
        // Without a connection the breaker knows already; unless others keep them all, who will tell.
        if let Ok(mut connection) = self.connection(due).await {
            let answer = timeout_at(due, connection.ping(key)).await;
            let _ = self.heard(answer.unwrap_or_else(|_elapsed| Err(ErrorKind::Timeout.into())));
        }
    }

    /// Nothing if others have written meanwhile.
    async fn attempt<S, R, F>(
        &self,
        strategy: &S,
        key: &[u8],
        now: Option<Timestamp>,
        due: Instant,
        step: &F,
    ) -> Result<Option<R>, Error<StoreError>>
    where
        S: Strategy,
        S::State: Serialize + DeserializeOwned,
        F: Fn(&mut S::State, Timestamp, u64) -> Result<R, Error<StoreError>> + Send + Sync,
        R: Send,
    {
        let mut connection = self.connection(due).await?;
        let read = timeout_at(due, connection.read(key, now.is_none())).await;
        let read = read.unwrap_or_else(|_elapsed| Err(unread("no answer in time")));
        let found = unwritten(self.heard(read))?;
        let (at, slack) = match now.or(found.now) {
            Some(at) => (at, if now.is_some() { SLACK } else { 0 }),
            None => return Err(unread("the server did not tell its time").into()),
        };
        let (incarnation, mut state) = match &found.bytes {
            Some(bytes) => decode(bytes)?,
            None => (self.incarnations.draw(), S::State::default()),
        };
        let before = match found.bytes {
            Some(bytes) => bytes,
            None => encode(incarnation, &state)?,
        };
        let answer = step(&mut state, at, incarnation)?;
        let after = encode(incarnation, &state)?;
        let life = life(strategy, &state, at) + slack;
        let write = if after != before {
            Write::State(after, life)
        } else if found.is_immortal {
            Write::Life(life)
        } else {
            return Ok(Some(answer));
        };
        let committed = timeout_at(due, connection.commit(key, write)).await;
        let committed = committed.unwrap_or_else(|_elapsed| Err(ErrorKind::Timeout.into()));
        Ok(self.heard(committed)?.then_some(answer))
    }

    async fn connection(
        &self,
        due: Instant,
    ) -> Result<bb8::PooledConnection<'_, Manager>, StoreError> {
        match timeout_at(due, self.pool.get()).await {
            Ok(Ok(connection)) => Ok(connection),
            // That others keep them all says nothing of the server.
            _ if self.pool.state().connections > 0 => Err(ErrorKind::Busy.into()),
            _ => self.heard(Err(ErrorKind::Unreachable(self.manager.trouble()).into())),
        }
    }

    /// Waits for a random while, longer after each attempt and never beyond `due`.
    async fn pause(&self, attempt: u32, due: Instant) {
        let longest = FIRST_PAUSE * (1 << (attempt - 1).min(6));
        let longest = longest.min(LONGEST_PAUSE).as_micros() as u64;
        let pause = Duration::from_micros(self.incarnations.draw() % longest);
        sleep(pause.min(due.duration_since(Instant::now()))).await;
    }

    /// Takes a place among the calls in flight, if the breaker lets calls through.
    fn enter(&self) -> Result<Entered<'_>, StoreError> {
        let max = self.bounds.max_in_flight;
        let entered = Entered(&self.in_flight);
        if self.in_flight.fetch_add(1, Relaxed) >= max {
            return Err(ErrorKind::TooManyInFlight(max).into());
        }
        if !self.breaker.admits(SystemClock.monotonic()) {
            return Err(ErrorKind::BreakerOpen.into());
        }
        Ok(entered)
    }

    /// Tells the breaker whether the server answered. An answer is one, whatever it says and whatever becomes of the call.
    fn heard<T>(&self, answer: Result<T, StoreError>) -> Result<T, StoreError> {
        match &answer {
            Err(error) if error.is_outage() => self.breaker.failed(SystemClock.monotonic()),
            _ => self.breaker.succeeded(),
        }
        answer
    }
}

/// What went wrong before anything was written was not applied, even if nobody knows what went wrong.
fn unwritten<T>(read: Result<T, StoreError>) -> Result<T, StoreError> {
    read.map_err(|error| match error.applied() {
        Applied::No => error,
        Applied::Unknown => unread(&error.kind().to_string()),
    })
}

fn unread(why: &str) -> StoreError {
    ErrorKind::Unread(why.into()).into()
}

/// A place among the calls in flight.
struct Entered<'a>(&'a AtomicUsize);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}
