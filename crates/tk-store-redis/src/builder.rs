//! How a store is set up.

use std::{fmt, marker::PhantomData, sync::Arc, time::Duration};

use fred::{
    clients::{Client, Pool},
    types::{
        Builder as FredBuilder,
        config::{Config, ReconnectPolicy},
    },
};
use tk_core::{Clock, ConfigError, Range};
use tokio::runtime::Handle;

use crate::{
    RedisStore, Warning,
    key::Space,
    link::{Bounds, DEFAULT_BOUNDS, Link, never_again},
    scripted::Scripted,
    url,
    warning::{Hook, inspect},
};

/// Why a store could not be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A setting is outside of what is allowed.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// No server is given.
    #[error("no server is given; call `url`, `config`, `client` or `pool`")]
    NoServer,
    /// The URL cannot be used; it is not repeated here, since it may hold a password.
    #[error("`url` cannot be used: {0}")]
    Url(Box<str>),
    /// A store connects in the background, which takes a runtime.
    #[error("a store must be built within a tokio runtime")]
    NoRuntime,
}

/// Sets up a [`RedisStore`]; see [`RedisStore::builder`].
#[must_use = "a builder does nothing until `build` is called"]
pub struct Builder<S> {
    policy: String,
    prefix: String,
    server: Option<Server>,
    connections: usize,
    bounds: Bounds,
    clock: Option<Arc<dyn Clock>>,
    hook: Hook,
    strategy: PhantomData<fn() -> S>,
}

enum Server {
    Url(String),
    Config(Box<Config>),
    Clients(Vec<Client>),
}

impl<S: Scripted> Builder<S> {
    pub(crate) fn new(policy: &str) -> Self {
        Self {
            policy: policy.to_owned(),
            prefix: "tk".to_owned(),
            server: None,
            connections: 1,
            bounds: DEFAULT_BOUNDS,
            clock: None,
            hook: Box::new(|warning| log::warn!("{warning}")),
            strategy: PhantomData,
        }
    }

    /// The server: `redis://user:password@host:port/database`.
    ///
    /// `redis-cluster://host:port?node=host:port` names nodes of a cluster,
    /// `redis-sentinel://host:port?sentinelServiceName=name` a sentinel. `rediss` is TLS, which is a feature of this crate, and
    /// an error without it. What is not to be taken for a separator is written `%XX`.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.server = Some(Server::Url(url.into()));
        self
    }

    /// The server, as fred describes it: for what a URL cannot say, as certificates.
    pub fn config(mut self, config: Config) -> Self {
        self.server = Some(Server::Config(Box::new(config)));
        self
    }

    /// A client of fred that is connected elsewhere.
    ///
    /// No call is sent twice whatever its settings are. In a cluster it should have `max_redirections` = 0 and
    /// `unresponsive.max_timeout` set, as the store's own clients do: with redirections allowed, a call that a node sent elsewhere counts as
    /// [unknown](crate::Applied::Unknown).
    pub fn client(mut self, client: Client) -> Self {
        self.server = Some(Server::Clients(vec![client]));
        self
    }

    /// Clients of fred that are connected elsewhere; see [`Builder::client`].
    pub fn pool(mut self, pool: &Pool) -> Self {
        self.server = Some(Server::Clients(pool.clients().to_vec()));
        self
    }

    /// How many connections to keep to the server, or to each node of a cluster; 1 if not set.
    ///
    /// Calls share a connection, and commands, without waiting for each other's answers, so one carries some 100,000 calls a second.
    pub const fn connections(mut self, connections: usize) -> Self {
        self.connections = connections;
        self
    }

    /// What all keys in the server begin with; `tk` if not set.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// How long a call may take, all told; 100 ms if not set.
    pub const fn deadline(mut self, deadline: Duration) -> Self {
        self.bounds.deadline = deadline;
        self
    }

    /// How many calls may be in flight; those beyond fail at once, and so does a larger batch. 16,384 if not set.
    pub const fn max_in_flight(mut self, calls: usize) -> Self {
        self.bounds.max_in_flight = calls;
        self
    }

    /// How many calls one command may carry, at most 1,024; 64 if not set. With 1, each goes by itself.
    ///
    /// Calls that are made while others are in flight, and those of a `check_many`, go together, as one script for many keys: that takes
    /// the server and the client less time. The server does nothing else meanwhile, for some 8 microseconds a call. Sliding windows and
    /// logs, which take it longer, go by themselves.
    ///
    /// In a cluster every call goes by itself, since its keys lie in different slots. Behind a proxy that sends a command where its first
    /// key belongs this must be 1.
    pub const fn max_batch(mut self, calls: usize) -> Self {
        self.bounds.max_batch = calls;
        self
    }

    /// Stop asking after `failures` calls in a row without an answer, and then ask once per `probe_interval`, and once when there is a
    /// new connection; 5 and 1 s if not set.
    pub const fn breaker(mut self, failures: u32, probe_interval: Duration) -> Self {
        self.bounds.failures = failures;
        self.bounds.probe_interval = probe_interval;
        self
    }

    /// Decides by this clock instead of the server's, for servers whose scripts may not read theirs, and for tests.
    ///
    /// The clocks of all users of a key must then agree: a clock that is ahead frees units early. Keys outlive their states by a
    /// minute, since the server still expires them by its own clock.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Takes warnings about the server's settings; they are logged if this is not set.
    pub fn on_warning(mut self, hook: impl Fn(&Warning) + Send + Sync + 'static) -> Self {
        self.hook = Box::new(hook);
        self
    }

    /// Builds the store, which connects in the background: the server need not be up.
    ///
    /// It must be called within a runtime of tokio whose drivers for time and I/O are enabled, and used within that.
    ///
    /// # Errors
    ///
    /// A setting outside of its range, no server or a bad URL, or no runtime.
    pub fn build(self) -> Result<RedisStore<S>, BuildError> {
        self.check()?;
        let runtime = Handle::try_current().map_err(|_| BuildError::NoRuntime)?;
        if let Some(clock) = &self.clock {
            // A clock's first reading may take long, and is not left to a request.
            let _ = clock.now();
        }
        let space = Space::new(&self.prefix, &self.policy, S::NAME);
        let (clients, own) = match self.server.ok_or(BuildError::NoServer)? {
            Server::Clients(clients) => (clients, false),
            Server::Config(config) => (clients(*config, self.connections, self.bounds)?, true),
            Server::Url(url) => (
                clients(url::config(&url)?, self.connections, self.bounds)?,
                true,
            ),
        };
        let link = Arc::new(Link::new(clients, self.bounds, runtime));
        link.heed_connections();
        if own {
            link.supervise();
        }
        let logs = S::NAME == "log";
        link.beside(inspect(
            Arc::downgrade(&link),
            link.client().clone(),
            logs,
            self.hook,
        ));
        Ok(RedisStore::new(link, space, self.prefix, self.clock))
    }

    fn check(&self) -> Result<(), ConfigError> {
        Range::name("policy", &self.policy)?;
        Range::name("prefix", &self.prefix)?;
        Range::between("connections", self.connections as u128, 1, 1_024)?;
        self.bounds.check()
    }
}

impl<S> fmt::Debug for Builder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The server is left out, since it may hold a password.
        f.debug_struct("Builder")
            .field("policy", &self.policy)
            .field("prefix", &self.prefix)
            .field("connections", &self.connections)
            .field("bounds", &self.bounds)
            .finish_non_exhaustive()
    }
}

fn unusable(error: &fred::error::Error) -> BuildError {
    BuildError::Url(error.to_string().into())
}

/// Clients that never send a call twice, whatever happens: `link.rs` says why.
fn clients(
    mut config: Config,
    connections: usize,
    bounds: Bounds,
) -> Result<Vec<Client>, BuildError> {
    // Without this a server that is down at the start would end the client.
    config.fail_fast = false;
    let mut policy = ReconnectPolicy::new_linear(0, longest_pause(bounds), 20);
    policy.set_jitter(20);
    let mut builder = FredBuilder::from_config(config);
    builder
        .set_policy(policy)
        .with_connection_config(|connection| never_again(connection, bounds));
    (0..connections)
        .map(|_| builder.build().map_err(|error| unusable(&error)))
        .collect()
}

/// The longest pause between attempts to connect, in milliseconds: a server that is back is found within the probe interval.
fn longest_pause(bounds: Bounds) -> u32 {
    let quarter = (bounds.probe_interval / 4).as_millis();
    u32::try_from(quarter).unwrap_or(u32::MAX).clamp(20, 250)
}
