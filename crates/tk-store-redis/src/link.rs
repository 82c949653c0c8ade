//! Calls to the server: bounded in time and in number, and never sent twice.
//!
//! What a client library does by itself decides whether a call can be applied twice, so here is what fred 10 does, and
//! what follows from it.
//!
//! - By default it sends a command up to 3 times: commands in flight on a connection that breaks go to a buffer, and from there to the
//!   next connection, whether or not the server has run them. `fail_fast` filters that buffer on one path only; in a cluster, a reconnection for the sake
//!   of one node moves the commands in flight to all others. What holds on all paths is the number of attempts, hence `max_attempts` = 1.
//! - Each redirection counts as an attempt too, and so fails with an error that also stands for lost replies. The store's own
//!   clients therefore follow no redirections (`max_redirections` = 0): fred then refreshes its map of the cluster, and reports an error that stands for nothing else. Such
//!   a call was not applied, and is sent once more from here. fred's own handling of ASK, which may take another call's reply
//!   for the answer to ASKING, is not reached either.
//! - A client with options (attempts, a timeout) has no EVAL and EVALSHA of its own; the call compiles all the same, goes to the client
//!   beneath, and the options are not applied. Hence commands are built here, by hand.
//! - Its timeout marks a command as dead, so that it is not written any more if it still waits in a queue; a timeout of our own
//!   around it would not. So the deadline is fred's timeout. A call alone has no other, since nothing else in it waits for longer; ours around calls that
//!   share a command is a safety net.
//! - A host that vanishes without a word is noticed by fred only if nobody calls; `silence.rs` does it under traffic.

mod attempt;
mod bounds;
mod classify;
mod command;
mod connection;
mod gathering;
mod given_up;
mod sending;
mod silence;
mod supervise;

use std::{
    pin::pin,
    slice,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use fred::{clients::Client, types::Value};
use tk_core::{Clock, SystemClock};
use tokio::{
    runtime::Handle,
    time::{Instant, timeout_at},
};

pub(crate) use self::{
    bounds::{Bounds, DEFAULT_BOUNDS, never_again},
    classify::classify,
    command::Call,
    supervise::Supervisor,
};
use self::{connection::Connection, gathering::Gathering, supervise::Trouble};
use crate::{
    breaker::Breaker,
    error::{ErrorKind, StoreError},
    given_up::Awaited,
};

/// Connections to the server or the cluster, shared by all users of a store.
#[derive(Debug)]
pub(crate) struct Link {
    connections: Box<[Arc<Connection>]>,
    turn: AtomicUsize,
    bounds: Bounds,
    /// Where the connections live, and what calls share: callers may have others, which may stand still.
    runtime: Handle,
    breaker: Arc<Breaker>,
    in_flight: AtomicUsize,
    gathering: Gathering,
    /// The server wants keys of different slots in commands of their own, though it is no cluster that fred would know of.
    only_alone: AtomicBool,
    clock: SystemClock,
    trouble: Trouble,
    /// Keeps connections up, if they are the store's own.
    supervisors: Mutex<Vec<Supervisor>>,
}

/// How much later than fred's timeout our own strikes.
const GRACE: Duration = Duration::from_millis(10);

impl Link {
    pub(crate) fn new(clients: Vec<Client>, bounds: Bounds, runtime: Handle) -> Self {
        let trouble = Trouble::default();
        let clients = clients.into_iter();
        Self {
            connections: clients
                .map(|client| Connection::new(client, bounds, trouble.clone()).into())
                .collect(),
            turn: AtomicUsize::new(0),
            bounds,
            runtime,
            breaker: Arc::new(Breaker::new(bounds.failures, bounds.probe_interval)),
            in_flight: AtomicUsize::new(0),
            gathering: Gathering::default(),
            only_alone: AtomicBool::new(false),
            clock: SystemClock,
            trouble,
            supervisors: Mutex::new(Vec::new()),
        }
    }

    /// Connects, and stays connected for as long as the link lives.
    pub(crate) fn supervise(&self) {
        for connection in &self.connections {
            let (client, trouble) = (connection.client.clone(), self.trouble.clone());
            self.beside(Supervisor::connect(client, trouble));
        }
    }

    /// Lets the breaker know of new connections.
    pub(crate) fn heed_connections(&self) {
        for connection in &self.connections {
            let breaker = self.breaker.clone();
            self.beside(Supervisor::heed(&connection.client, breaker));
        }
    }

    /// Runs a task beside the link that ends with it.
    pub(crate) fn beside(&self, task: Supervisor) {
        self.supervisors
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(task);
    }

    /// One of the clients.
    pub(crate) fn client(&self) -> &Client {
        &self.connection().client
    }

    /// The connection whose turn it is.
    fn connection(&self) -> &Arc<Connection> {
        match &*self.connections {
            [only] => only,
            many => &many[self.turn.fetch_add(1, Relaxed) % many.len()],
        }
    }

    /// Sends a call and waits for its answer, within the deadline. Calls that are made while others are in flight go together.
    pub(crate) async fn call(self: &Arc<Self>, call: Call) -> Result<Value, StoreError> {
        let entered = self.enter(1)?;
        let began = Instant::now();
        let due = began + self.bounds.deadline;
        if entered.is_alone || call.shared_text().is_none() || self.most_together() == 1 {
            self.call_alone(&call, began, due).await
        } else {
            self.call_with_others(call, due).await
        }
    }

    async fn call_alone(
        self: &Arc<Self>,
        call: &Call,
        began: Instant,
        due: Instant,
    ) -> Result<Value, StoreError> {
        let connection = self.connection();
        let awaited = Awaited::or_else(|| self.ask_instead(connection, slice::from_ref(call)));
        let result = self.send(connection, call, began, due).await;
        self.note(result.as_ref().err());
        awaited.ended();
        result
    }

    /// Sends calls one right behind the other and waits for all answers, within one deadline.
    ///
    /// On one connection they are written in their order and in one go, so they take one round trip, and neighbours that go together are
    /// one command; in a cluster, they take a round trip to each node. Calls that must be sent again are, in their order: so they are
    /// applied in their order too, unless some of them must and others need not: because somebody else loaded the script in between, or
    /// the server refuses some of the commands for their keys, forbidden ones or for the first time those of different slots.
    pub(crate) async fn call_all(
        self: &Arc<Self>,
        calls: &[Call],
    ) -> Vec<Result<Value, StoreError>> {
        if calls.is_empty() {
            // Nobody need be asked for nothing, and nothing is learnt from it.
            return Vec::new();
        }
        let all = |error: StoreError| calls.iter().map(|_| Err(error.clone())).collect();
        let _entered = match self.enter(calls.len()) {
            Ok(entered) => entered,
            Err(error) => return all(error),
        };
        let due = Instant::now() + self.bounds.deadline;
        // Were one of several scripts unknown to the server, the others would overtake it.
        let mixed = calls.windows(2).any(|pair| !pair[0].is_like(&pair[1]));
        let connection = self.connection();
        let awaited = Awaited::or_else(|| self.ask_instead(connection, calls));
        let sent = pin!(self.send_all(connection, calls, mixed, due));
        let results = timeout_at(due + GRACE, sent).await;
        let results = results
            .unwrap_or_else(|_elapsed| Err(ErrorKind::Timeout.into()))
            .unwrap_or_else(all);
        self.note_all(&results);
        awaited.ended();
        results
    }

    /// Takes a place among the calls in flight, if the breaker lets calls through.
    fn enter(&self, calls: usize) -> Result<Entered<'_>, StoreError> {
        let max = self.bounds.max_in_flight;
        if calls > max {
            return Err(ErrorKind::BatchTooLarge { calls, max }.into());
        }
        let before = self.in_flight.fetch_add(calls, Relaxed);
        let entered = Entered {
            in_flight: &self.in_flight,
            calls,
            is_alone: before == 0,
        };
        if before.saturating_add(calls) > max {
            return Err(ErrorKind::TooManyInFlight(max).into());
        }
        if !self.breaker.is_closed() && !self.breaker.admits(self.clock.monotonic()) {
            return Err(ErrorKind::BreakerOpen.into());
        }
        Ok(entered)
    }

    /// Tells the breaker how calls went that were made at once: whatever its place among them, an answer says that somebody is there.
    fn note_all(&self, results: &[Result<Value, StoreError>]) {
        let is_lost =
            |result: &Result<_, StoreError>| result.as_ref().is_err_and(StoreError::is_outage);
        if results.iter().all(is_lost) {
            for result in results {
                self.note(result.as_ref().err());
            }
        } else {
            self.note(None);
        }
    }

    /// Tells the breaker how a call went.
    fn note(&self, error: Option<&StoreError>) {
        match error {
            Some(error) if error.is_outage() => self.breaker.failed(self.clock.monotonic()),
            _ => self.breaker.succeeded(),
        }
    }
}

/// A place among the calls in flight.
struct Entered<'a> {
    in_flight: &'a AtomicUsize,
    calls: usize,
    /// Nobody else was in flight.
    is_alone: bool,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.in_flight.fetch_sub(self.calls, Relaxed);
    }
}
