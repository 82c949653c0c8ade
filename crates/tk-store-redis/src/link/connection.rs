//! A client of fred: a connection to the server, or one to each node of a cluster, with what is known of it.
//!
//! All of that is known of each client by itself. What one of several has learnt, that it is answered or who is the primary, another has
//! not: it may be open to a host that is gone.

use std::time::Duration;

use fred::{
    clients::Client,
    interfaces::{ClientLike, ClusterInterface},
    types::{
        cluster::ClusterRouting,
        config::{Blocking, Server},
    },
    util::redis_keyslot,
};
use tokio::{
    sync::Mutex,
    time::{Instant, sleep_until, timeout, timeout_at},
};

use super::{Bounds, silence::Silence, supervise::Trouble};
use crate::{
    error::{ErrorKind, StoreError},
    given_up::Questions,
};

/// How often the topology is refreshed at most.
const REFRESH_INTERVAL: Duration = Duration::from_millis(200);

/// How often a call that waits for a connection looks for one.
const CONNECTION_POLL: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) client: Client,
    pub(super) silence: Silence,
    /// Before fred sends a command, and counts its time, it has others give way that block: so a client of the user's may be set.
    pub(super) interrupts: bool,
    trouble: Trouble,
    /// When the topology was last refreshed.
    refreshed: Mutex<Option<Instant>>,
    pub(super) questions: Questions,
}

impl Connection {
    pub(super) fn new(client: Client, bounds: Bounds, trouble: Trouble) -> Self {
        Self {
            interrupts: client.client_config().blocking == Blocking::Interrupt,
            client,
            silence: Silence::new(bounds.failures, bounds.patience()),
            trouble,
            refreshed: Mutex::new(None),
            questions: Questions::default(),
        }
    }

    /// The map of the cluster, if there is one.
    pub(super) fn cluster(&self) -> Option<ClusterRouting> {
        let client = &self.client;
        client
            .is_clustered()
            .then(|| client.cached_cluster_state())?
    }

    /// The node of a cluster that has a key.
    pub(super) fn node(&self, key: &[u8]) -> Option<Server> {
        self.cluster()?.get_server(redis_keyslot(key)).cloned()
    }

    /// Waits until it is there, or until `due`.
    pub(super) async fn connected(&self, due: Instant) -> Result<(), StoreError> {
        while !self.client.is_connected() {
            if Instant::now() >= due {
                return Err(ErrorKind::Unreachable(self.trouble.last()).into());
            }
            // The event may slip in between the look above and the subscription, so look again soon.
            let soon = (Instant::now() + CONNECTION_POLL).min(due);
            if let Ok(Err(_)) = timeout_at(soon, self.client.wait_for_connect()).await {
                sleep_until(soon).await;
            }
        }
        Ok(())
    }

    /// Learns who is the primary, unless somebody did since `began`, and waits for a connection to it. Whether that worked: not if it was
    /// tried just now, to no avail.
    pub(super) async fn refresh(&self, began: Instant, due: Instant) -> bool {
        self.learn_primary(began, due).await.is_some() && self.connected(due).await.is_ok()
    }

    async fn learn_primary(&self, began: Instant, due: Instant) -> Option<()> {
        let mut refreshed = timeout_at(due, self.refreshed.lock()).await.ok()?;
        if let Some(last) = *refreshed {
            if last >= began {
                return Some(());
            }
            if last.elapsed() < REFRESH_INTERVAL {
                return None;
            }
        }
        *refreshed = Some(Instant::now());
        let left = due.duration_since(Instant::now());
        let result = if self.client.is_clustered() {
            timeout(left, self.client.sync_cluster()).await
        } else {
            timeout(left, self.client.force_reconnection()).await
        };
        *refreshed = Some(Instant::now());
        result.ok()?.ok()
    }
}
