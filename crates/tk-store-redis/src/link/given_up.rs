//! What is asked in place of callers who have given up: `crate::given_up` says why.
//!
//! Every node that a call, or some calls of a batch, went to is asked. Calls that were gathered need no question: their command goes on without
//! their callers, and `gathering.rs` tells how it ended.

use std::sync::Arc;

use fred::{bytes::Bytes, types::Value, util::redis_keyslot};
use futures_util::future::join_all;
use tokio::time::{Instant, timeout_at};

use super::{Call, GRACE, Link, command::Command, connection::Connection};
use crate::error::{ErrorKind, StoreError};

impl Link {
    /// Asks for signs of life in place of a caller who has given these calls up.
    pub(super) fn ask_instead(self: &Arc<Self>, connection: &Arc<Connection>, calls: &[Call]) {
        connection.questions.ask(&self.runtime, || {
            let (link, connection) = (self.clone(), connection.clone());
            let keys = a_key_of_each_node(&connection, calls);
            async move {
                let asked = keys.iter().map(|key| link.sign_of_life(&connection, key));
                link.note_all(&join_all(asked).await);
            }
        });
    }

    /// Has the server of a key say anything at all.
    async fn sign_of_life(&self, connection: &Connection, key: &[u8]) -> Result<Value, StoreError> {
        let due = Instant::now() + self.bounds.deadline;
        let ping = Command {
            name: "PING",
            arguments: Vec::new(),
            key,
            calls: 1,
        };
        let asked = async {
            connection.connected(due).await?;
            let left = due.duration_since(Instant::now());
            self.send_once(connection, ping, left).await
        };
        let answer = timeout_at(due + GRACE, asked).await;
        answer.unwrap_or_else(|_elapsed| Err(ErrorKind::Timeout.into()))
    }
}

/// A key for each node of the cluster that has some; any, if there is no cluster.
fn a_key_of_each_node(connection: &Connection, calls: &[Call]) -> Vec<Bytes> {
    let first = calls.first().into_iter().map(|call| call.key().clone());
    let Some(cluster) = connection.cluster() else {
        return first.collect();
    };
    let (mut nodes, mut keys) = (Vec::new(), Vec::new());
    for call in calls {
        let node = cluster.get_server(redis_keyslot(call.key()));
        if !nodes.contains(&node) {
            nodes.push(node);
            keys.push(call.key().clone());
        }
    }
    keys
}
