//! A sentinel.

use std::time::Duration;

use super::{
    Answer,
    redis::{RedisServer, free_port, pause},
};

/// What the watched servers are called.
const NAME: &str = "limits";

/// A sentinel that watches a primary and has a replica take its place when it is gone for half a second. It decides alone.
#[derive(Debug)]
pub struct RedisSentinel(RedisServer);

impl RedisSentinel {
    /// A sentinel of a primary; returns when it knows of a replica.
    ///
    /// # Panics
    ///
    /// If it cannot be started, or never learns of a replica.
    #[must_use]
    pub fn of(primary: &RedisServer) -> Self {
        let settings = format!(
            "dir .\n\
             sentinel monitor {NAME} 127.0.0.1 {} 1\n\
             sentinel down-after-milliseconds {NAME} 500\n\
             sentinel failover-timeout {NAME} 5000\n",
            primary.port()
        );
        let sentinel = Self(RedisServer::sentinel(free_port(), &settings));
        sentinel.wait("it knows of a replica", |sentinel| {
            let replicas = sentinel.0.ask(&["SENTINEL", "REPLICAS", NAME]);
            let replicas = replicas.list().unwrap_or_default();
            !replicas.is_empty() && replicas.iter().all(is_usable)
        });
        sentinel
    }

    /// Its URL, which leads to whoever is the primary.
    #[must_use]
    pub fn url(&self) -> String {
        let port = self.0.port();
        format!("redis-sentinel://127.0.0.1:{port}?sentinelServiceName={NAME}")
    }

    /// The port of the primary.
    ///
    /// # Panics
    ///
    /// If the sentinel does not answer.
    #[must_use]
    pub fn primary(&self) -> Option<u16> {
        let address = self.0.ask(&["SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME]);
        address.list()?.get(1)?.text()?.parse().ok()
    }

    /// Has a replica take the place of a primary that is well.
    ///
    /// # Panics
    ///
    /// If the sentinel refuses.
    pub fn fail_over(&self) {
        self.0.ask(&["SENTINEL", "FAILOVER", NAME]);
    }

    /// Waits until the server on this port is the primary.
    ///
    /// # Panics
    ///
    /// If it never is.
    pub fn wait_for_primary(&self, port: u16) {
        self.wait("another server is the primary", |sentinel| {
            sentinel.primary() == Some(port)
        });
    }

    fn wait(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        for _ in 0..3_000 {
            if holds(self) {
                return;
            }
            pause(Duration::from_millis(10));
        }
        panic!("the sentinel never says that {what}: {}", self.0.log());
    }
}

/// Whether a sentinel has heard from a replica, which it describes as a list of names and values.
fn is_usable(replica: &Answer) -> bool {
    let fields = replica.list().unwrap_or_default();
    let mut pairs = fields.chunks_exact(2);
    let status = pairs.find(|pair| pair[0].text().as_deref() == Some("master-link-status"));
    status.is_some_and(|pair| pair[1].text().as_deref() == Some("ok"))
}
