//! How a store of transactions is set up.

use std::{fmt, marker::PhantomData, sync::Arc, time::Duration};

use fred::types::config::Config;
use serde::{Serialize, de::DeserializeOwned};
use tk_core::{Clock, ConfigError, Range, Strategy};
use tokio::runtime::Handle;

use super::{TransactionStore, connection::Manager, core::Core};
use crate::{
    BuildError,
    key::Space,
    link::{Bounds, DEFAULT_BOUNDS},
    url,
};

/// Sets up a [`TransactionStore`]; see [`TransactionStore::builder`].
#[must_use = "a builder does nothing until `build` is called"]
pub struct TransactionBuilder<S> {
    policy: String,
    name: String,
    prefix: String,
    server: Option<Server>,
    connections: u32,
    attempts: u32,
    bounds: Bounds,
    clock: Option<Arc<dyn Clock>>,
    strategy: PhantomData<fn() -> S>,
}

enum Server {
    Url(String),
    Config(Box<Config>),
}

impl<S> TransactionBuilder<S>
where
    S: Strategy,
    S::State: Serialize + DeserializeOwned,
{
    pub(super) fn new(policy: &str, name: &str) -> Self {
        Self {
            policy: policy.to_owned(),
            name: name.to_owned(),
            prefix: "tk".to_owned(),
            server: None,
            connections: 8,
            attempts: 32,
            bounds: DEFAULT_BOUNDS,
            clock: None,
            strategy: PhantomData,
        }
    }

    /// The server; see [`Builder::url`](crate::Builder::url).
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.server = Some(Server::Url(url.into()));
        self
    }

    /// The server, as fred describes it: for what a URL cannot say, as certificates.
    pub fn config(mut self, config: Config) -> Self {
        self.server = Some(Server::Config(Box::new(config)));
        self
    }

    /// How many transactions may run at once, each on a connection of its own; 8 if not set. In a cluster each has one to every node.
    pub const fn connections(mut self, connections: u32) -> Self {
        self.connections = connections;
        self
    }

    /// How often a transaction is tried that others got in the way of; 32 if not set.
    pub const fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// What all keys in the server begin with; `tk` if not set.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// How long a call may take with all its attempts; 100 ms if not set.
    pub const fn deadline(mut self, deadline: Duration) -> Self {
        self.bounds.deadline = deadline;
        self
    }

    /// How many calls may run or wait; those beyond fail at once. 16,384 if not set.
    pub const fn max_in_flight(mut self, calls: usize) -> Self {
        self.bounds.max_in_flight = calls;
        self
    }

    /// Stop asking after `failures` calls in a row without an answer, and then ask once per `probe_interval`; 5 and 1 s if
    /// not set.
    pub const fn breaker(mut self, failures: u32, probe_interval: Duration) -> Self {
        self.bounds.failures = failures;
        self.bounds.probe_interval = probe_interval;
        self
    }

    /// Decides by this clock instead of the server's; see [`Builder::clock`](crate::Builder::clock).
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Builds the store, which connects when it is first asked: the server need not be up.
    ///
    /// # Errors
    ///
    /// A setting outside of its range, no server or a bad URL, or no runtime.
    pub fn build(self) -> Result<TransactionStore<S>, BuildError> {
        self.check()?;
        let runtime = Handle::try_current().map_err(|_| BuildError::NoRuntime)?;
        let config = match self.server.ok_or(BuildError::NoServer)? {
            Server::Config(config) => *config,
            Server::Url(url) => url::config(&url)?,
        };
        // Never the name of a strategy that has scripts: those hold other things.
        let name = format!("tx.{}", self.name);
        let space = Space::new(&self.prefix, &self.policy, &name);
        let manager = Manager::new(config, self.bounds);
        let (connections, attempts) = (self.connections, self.attempts);
        let (bounds, clock) = (self.bounds, self.clock);
        let core = Core::new(runtime, manager, connections, bounds, attempts, clock);
        Ok(TransactionStore::new(core, space))
    }

    fn check(&self) -> Result<(), ConfigError> {
        Range::name("policy", &self.policy)?;
        Range::name("strategy", &self.name)?;
        Range::name("prefix", &self.prefix)?;
        Range::between("connections", self.connections.into(), 1, 1_024)?;
        Range::between("attempts", self.attempts.into(), 1, 1_000)?;
        self.bounds.check()
    }
}

impl<S> fmt::Debug for TransactionBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The server is left out, since it may hold a password.
        f.debug_struct("TransactionBuilder")
            .field("policy", &self.policy)
            .field("name", &self.name)
            .field("prefix", &self.prefix)
            .field("connections", &self.connections)
            .field("attempts", &self.attempts)
            .field("bounds", &self.bounds)
            .finish_non_exhaustive()
    }
}
