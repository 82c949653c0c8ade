//! A client of fred: a connection to the server, or one to each node of a cluster, with what is known of it.
//!
//! All of that is known of each client by itself. What one of several has learnt, that it is answered or who is the primary, another has
//! not: it may be open to a host that is gone.

use std::{sync::Arc, time::Duration};

use fred::{
    clients::Client,
    interfaces::{ClientLike, ClusterInterface},
};
use tokio::{
    sync::Mutex,
    time::{Instant, sleep_until, timeout, timeout_at},
};

use super::{Bounds, silence::Silence, supervise::Trouble};
use crate::error::{ErrorKind, StoreError};

/// How often the topology is refreshed at most.
const REFRESH_INTERVAL: Duration = Duration::from_millis(200);

/// How often a call that waits for a connection looks for one.
const CONNECTION_POLL: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) client: Client,
    pub(super) silence: Silence,
    trouble: Trouble,
    /// When the topology was last refreshed.
    refreshed: Mutex<Option<Instant>>,
    /// Held by a question for those who have given up.
    pub(super) question: Arc<Mutex<()>>,
}

impl Connection {
    pub(super) fn new(client: Client, bounds: Bounds, trouble: Trouble) -> Self {
        Self {
            client,
            silence: Silence::new(bounds.failures, bounds.patience()),
            trouble,
            refreshed: Mutex::new(None),
            question: Arc::default(),
        }
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
