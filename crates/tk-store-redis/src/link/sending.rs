//! How calls are sent: one, or many in rounds, in commands that carry as many as go together.

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use fred::{
    error::{Error, ErrorKind as Kind},
    interfaces::ClientLike,
    types::{ClusterHash, CustomCommand, Value, config::Options},
};
use futures_util::future::join_all;
use tk_core::Clock;
use tokio::time::{Instant, timeout};

use super::{
    Call, GRACE, Link,
    attempt::{Attempt, Remedy},
    classify,
    command::{Command, alone, answers_of, together},
    connection::Connection,
};
use crate::error::{ErrorKind, StoreError};

impl Link {
    /// Sends a call in a command of its own, and once more if it is certain that it was not applied and likely that it will be now.
    pub(super) async fn send(
        &self,
        connection: &Connection,
        call: &Call,
        mut began: Instant,
        due: Instant,
    ) -> Result<Value, StoreError> {
        if !connection.client.is_connected() {
            connection.connected(due).await?;
            began = Instant::now();
        }
        let mut attempt = Attempt::new(false);
        loop {
            let command = alone(call, attempt.with_text);
            let left = due.duration_since(began);
            let error = match self.send_once(connection, command, left).await {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            let again = match attempt.remedy(&error) {
                // It went alone.
                None | Some(Remedy::SendAlone) => false,
                Some(Remedy::SendAgain) => true,
                Some(Remedy::Refresh) => connection.refresh(began, due).await,
            };
            if !again {
                return Err(error);
            }
            began = Instant::now();
        }
    }

    /// Sends calls in rounds: in each, in their order, those that it is certain were not applied and likely that they will be now. With
    /// their texts from the start, if that is asked for.
    pub(super) async fn send_all(
        &self,
        connection: &Connection,
        calls: &[Call],
        with_text: bool,
        due: Instant,
    ) -> Result<Vec<Result<Value, StoreError>>, StoreError> {
        // Were each to wait for a connection by itself, they would wake in any order.
        connection.connected(due).await?;
        let mut attempts = vec![Attempt::new(with_text); calls.len()];
        let mut results: Vec<_> = calls.iter().map(|_| Ok(Value::Null)).collect();
        let mut round: Vec<_> = (0..calls.len()).collect();
        while !round.is_empty() {
            let began = Instant::now();
            let alike = |&a: &usize, &b: &usize| {
                calls[a].goes_with(&calls[b]) && attempts[a].with_text == attempts[b].with_text
            };
            let most = self.most_together();
            // Of several, one that is left over runs the same script: by another name it might be known while the others are not.
            let shared = most > 1 && calls.len() > 1;
            let groups = round.chunk_by(alike).flat_map(|group| group.chunks(most));
            let sent = groups.map(|group| {
                let with_text = attempts[group[0]].with_text;
                let group = group.iter().map(|&i| &calls[i]).collect();
                self.send_group(connection, group, shared, with_text, due)
            });
            let answers = join_all(sent).await;
            let (mut next, mut stale) = (Vec::new(), false);
            for (&i, answer) in round.iter().zip(answers.into_iter().flatten()) {
                if let Err(error) = &answer
                    && let Some(remedy) = attempts[i].remedy(error)
                {
                    next.push(i);
                    stale |= remedy == Remedy::Refresh;
                    if remedy == Remedy::SendAlone {
                        self.only_alone.store(true, Relaxed);
                    }
                }
                results[i] = answer;
            }
            if stale && !connection.refresh(began, due).await {
                break;
            }
            round = next;
        }
        Ok(results)
    }

    /// How many calls one command may carry.
    pub(super) fn most_together(&self) -> usize {
        let is_clustered = self
            .connections
            .iter()
            .any(|connection| connection.client.is_clustered());
        if is_clustered || self.only_alone.load(Relaxed) {
            1
        } else {
            self.bounds.max_batch
        }
    }

    /// Sends a group as one command if that is to be `shared`, and else, or if one of its keys is forbidden, each call as a command of its
    /// own.
    async fn send_group(
        &self,
        connection: &Connection,
        group: Vec<&Call>,
        shared: bool,
        with_text: bool,
        due: Instant,
    ) -> Vec<Result<Value, StoreError>> {
        let text = group.first().and_then(|call| call.shared_text());
        if let Some(text) = text.filter(|_| shared) {
            let command = together(text, &group, with_text);
            let left = due.duration_since(Instant::now());
            let answer = self.send_once(connection, command, left).await;
            if !matches!(&answer, Err(error) if error.is_forbidden()) {
                return answers_of(answer, group.len());
            }
            // One of the keys is forbidden to us. The script has not begun: it would have caught an error of its own.
        }
        let left = due.duration_since(Instant::now());
        let commands = group.into_iter().map(|call| alone(call, with_text));
        join_all(commands.map(|command| self.send_once(connection, command, left))).await
    }

    pub(super) async fn send_once(
        &self,
        connection: &Connection,
        command: Command<'_>,
        left: Duration,
    ) -> Result<Value, StoreError> {
        let client = &connection.client;
        let options = Options {
            max_attempts: Some(1),
            // Zero would mean no timeout.
            timeout: Some(left.max(Duration::from_millis(1))),
            fail_fast: true,
            ..Options::default()
        };
        // fred's own EVALSHA and EVAL do not exist on a client with options: they silently take one without.
        let slot = if client.is_clustered() {
            fred::util::redis_keyslot(command.key)
        } else {
            // Nobody looks at it.
            0
        };
        let custom = CustomCommand::new_static(command.name, ClusterHash::Custom(slot), false);
        let client = client.with_options(&options);
        let sent = client.custom(custom, command.arguments);
        let result: Result<Value, _> = if connection.interrupts {
            // In a box, so that what fred keeps for a call is not kept twice.
            let sent = timeout(left + GRACE, Box::pin(sent)).await;
            sent.unwrap_or_else(|_elapsed| Err(Error::new(Kind::Timeout, "")))
        } else {
            sent.await
        };
        let result = result.map_err(|error| StoreError::new(classify(&error)));
        let (key, calls) = (command.key, command.calls);
        self.listen(connection, key, calls, result.as_ref().err());
        result
    }

    /// Gives a connection up that leaves calls unanswered.
    fn listen(&self, connection: &Connection, key: &[u8], calls: u32, error: Option<&StoreError>) {
        let node = || connection.node(key);
        match error.map(StoreError::kind) {
            Some(ErrorKind::Timeout) => {
                let now = self.clock.monotonic();
                if connection.silence.unanswered(node(), calls, now) {
                    let client = connection.client.clone();
                    // If it fails, the next calls fail too, and it is tried again.
                    self.runtime
                        .spawn(async move { client.force_reconnection().await });
                }
            }
            Some(ErrorKind::Unreachable(_) | ErrorKind::Lost(_)) => {}
            _ => connection.silence.answered(node),
        }
    }
}
