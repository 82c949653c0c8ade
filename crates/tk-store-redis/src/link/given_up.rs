//! Calls that their callers give up before the deadline.
//!
//! The breaker learns from callers how their calls ended, and `silence.rs` from what becomes of commands. Neither learns anything of a
//! command whose caller has left. If all callers wait for less than the deadline, a server that answers nothing would cost each of them its
//! whole patience, for as long as it is gone. But that a caller has left says nothing of the server, which may be well and the
//! caller in a hurry.
//!
//! So the server is asked in its place: for a mere sign of life, on the same connection, hence behind the call, and with a deadline
//! of its own. What counts is how that ends. There is one such question at a time on each connection, however many callers leave, and a
//! call that is not given up costs nothing more.
//!
//! In a cluster, a batch that is given up has one node asked, that of its first key.
//!
//! Calls that were gathered need none: their command goes on without their callers, and `gathering.rs` tells how it ended.

use std::sync::Arc;

use fred::{bytes::Bytes, types::Value};
use tokio::time::{Instant, timeout_at};

use super::{GRACE, Link, command::Command, connection::Connection};
use crate::error::{ErrorKind, StoreError};

/// A call whose caller waits for its answer. If this is dropped before that has come, the caller has given up.
pub(super) struct Awaited<'a> {
    link: &'a Arc<Link>,
    connection: &'a Arc<Connection>,
    key: Bytes,
    is_over: bool,
}

impl<'a> Awaited<'a> {
    pub(super) const fn new(
        link: &'a Arc<Link>,
        connection: &'a Arc<Connection>,
        key: Bytes,
    ) -> Self {
        Self {
            link,
            connection,
            key,
            is_over: false,
        }
    }

    /// It has ended, and the breaker knows how.
    pub(super) fn ended(mut self) {
        self.is_over = true;
    }
}

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        // Somebody else's question tells as much.
        let Ok(turn) = self.connection.question.clone().try_lock_owned() else {
            return;
        };
        let (link, connection) = (self.link.clone(), self.connection.clone());
        let key = std::mem::take(&mut self.key);
        self.link.runtime.spawn(async move {
            let _turn = turn;
            let answer = link.sign_of_life(&connection, key).await;
            link.note(answer.err().as_ref());
        });
    }
}

impl Link {
    /// Has the server of a key say anything at all.
    async fn sign_of_life(&self, connection: &Connection, key: Bytes) -> Result<Value, StoreError> {
        let due = Instant::now() + self.bounds.deadline;
        let ping = Command {
            name: "PING",
            arguments: Vec::new(),
            key,
            calls: 1,
        };
        let asked = async {
            connection.connected(due).await?;
            self.send_once(connection, ping, due).await
        };
        let answer = timeout_at(due + GRACE, asked).await;
        answer.unwrap_or_else(|_elapsed| Err(ErrorKind::Timeout.into()))
    }
}
