//! A connection that a transaction owns, and how the pool makes them.

use std::sync::{Arc, Mutex, PoisonError};

use fred::{
    clients::Client,
    interfaces::{ClientLike, TransactionInterface},
    types::{
        Builder as FredBuilder, ClusterHash, ConnectHandle, CustomCommand, Value, config::Config,
    },
    util::redis_keyslot,
};
use tk_core::Timestamp;

use crate::{
    error::{ErrorKind, StoreError},
    link::{Bounds, classify, never_again},
    reply::malformed,
};

/// Makes connections for the pool.
#[derive(Clone)]
pub(super) struct Manager {
    config: Config,
    bounds: Bounds,
    trouble: Arc<Mutex<Box<str>>>,
}

impl Manager {
    pub(super) fn new(mut config: Config, bounds: Bounds) -> Self {
        config.fail_fast = true;
        Self {
            config,
            bounds,
            trouble: Arc::new(Mutex::new("not connected yet".into())),
        }
    }

    /// Why the last attempt to connect failed.
    pub(super) fn trouble(&self) -> Box<str> {
        let trouble = self.trouble.lock();
        trouble.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl bb8::ManageConnection for Manager {
    type Connection = Connection;
    type Error = fred::error::Error;

    async fn connect(&self) -> Result<Connection, fred::error::Error> {
        let mut builder = FredBuilder::from_config(self.config.clone());
        // No policy for reconnections: with a connection goes what it watches.
        builder
            .with_connection_config(|connection| never_again(connection, self.bounds))
            .with_performance_config(|performance| {
                performance.default_command_timeout = self.bounds.deadline;
            });
        let connected = async {
            let client = builder.build()?;
            let task = client.init().await?;
            Ok(Connection {
                client,
                task,
                is_clean: true,
            })
        };
        connected.await.inspect_err(|error: &fred::error::Error| {
            let trouble = self.trouble.lock();
            *trouble.unwrap_or_else(PoisonError::into_inner) = error.to_string().into();
        })
    }

    async fn is_valid(&self, _connection: &mut Connection) -> Result<(), fred::error::Error> {
        // The first use finds out, and costs no more.
        Ok(())
    }

    fn has_broken(&self, connection: &mut Connection) -> bool {
        !connection.is_clean || !connection.client.is_connected()
    }
}

/// A connection, which is of no use any more once a call on it has failed or was dropped.
pub(super) struct Connection {
    client: Client,
    task: ConnectHandle,
    is_clean: bool,
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Closes the socket too.
        self.task.abort();
    }
}

/// What lies under a key.
pub(super) struct Found {
    pub(super) bytes: Option<Vec<u8>>,
    /// It would live for ever.
    pub(super) is_immortal: bool,
    /// The server's clock, if it was asked.
    pub(super) now: Option<Timestamp>,
}

/// What is to be written, for so many milliseconds.
pub(super) enum Write {
    State(Vec<u8>, u64),
    Life(u64),
}

impl Connection {
    /// Watches a key and reads it, in one round trip.
    pub(super) async fn read(&mut self, key: &[u8], by_server: bool) -> Result<Found, StoreError> {
        self.is_clean = false;
        // What is still watched from a transaction that had nothing to write.
        let mut commands = vec![
            self.send(key, "UNWATCH", vec![]),
            self.send(key, "WATCH", vec![key.into()]),
            self.send(key, "GET", vec![key.into()]),
            self.send(key, "PTTL", vec![key.into()]),
        ];
        if by_server {
            commands.push(self.send(key, "TIME", vec![]));
        }
        let answers = futures_util::future::try_join_all(commands).await;
        let answers = answers.map_err(clock_refused)?;
        let found = found(answers).ok_or_else(|| malformed("not what was asked for"))?;
        self.is_clean = true;
        Ok(found)
    }

    /// Writes to the key that was read; `false` if it was changed since, and nothing was written.
    pub(super) async fn commit(&mut self, key: &[u8], write: Write) -> Result<bool, StoreError> {
        self.is_clean = false;
        let transaction = self.client.multi();
        let (command, arguments) = match write {
            Write::State(bytes, life) => {
                let state = Value::Bytes(bytes.into());
                ("SET", vec![key.into(), state, "PX".into(), millis(life)])
            }
            Write::Life(life) => ("PEXPIRE", vec![key.into(), millis(life)]),
        };
        let queued = transaction.custom::<Value, _>(on(key, command), arguments);
        queued.await.map_err(|error| why(&error))?;
        let answer = transaction.exec::<Value>(true).await;
        let answer = answer.map_err(|error| why(&error))?;
        self.is_clean = true;
        Ok(!answer.is_null())
    }

    /// Forgets a key.
    pub(super) async fn forget(&mut self, key: &[u8]) -> Result<(), StoreError> {
        self.is_clean = false;
        self.send(key, "UNLINK", vec![key.into()]).await?;
        self.is_clean = true;
        Ok(())
    }

    /// Asks the server of a key for nothing.
    pub(super) async fn ping(&mut self, key: &[u8]) -> Result<(), StoreError> {
        self.is_clean = false;
        self.send(key, "PING", vec![]).await?;
        self.is_clean = true;
        Ok(())
    }

    async fn send(
        &self,
        key: &[u8],
        command: &'static str,
        arguments: Vec<Value>,
    ) -> Result<Value, StoreError> {
        let answer = self.client.custom(on(key, command), arguments).await;
        answer.map_err(|error| why(&error))
    }
}

/// A command that goes to the node of a key, whether it names the key or not.
fn on(key: &[u8], command: &'static str) -> CustomCommand {
    CustomCommand::new_static(command, ClusterHash::Custom(redis_keyslot(key)), false)
}

fn millis(life: u64) -> Value {
    Value::Integer(i64::try_from(life).unwrap_or(i64::MAX))
}

/// With no redirections allowed, this is how fred says that the key of a transaction is elsewhere.
const MOVED: &str = "Max redirections exceeded";

fn why(error: &fred::error::Error) -> StoreError {
    let moved = error.details() == MOVED;
    StoreError::new(if moved {
        ErrorKind::Moving
    } else {
        classify(error)
    })
}

/// A server that keeps its clock from this user says so by the command's name, and will say so again.
fn clock_refused(error: StoreError) -> StoreError {
    match error.kind() {
        ErrorKind::Refused(why) if why.starts_with("NOPERM") && why.contains("'time'") => {
            ErrorKind::TimeRefused(why.clone()).into()
        }
        _ => error,
    }
}

/// The answers to UNWATCH, WATCH, GET, PTTL and perhaps TIME.
fn found(answers: Vec<Value>) -> Option<Found> {
    let mut answers = answers.into_iter().skip(2);
    let bytes = match answers.next()? {
        Value::Null => None,
        value => Some(value.as_bytes()?.to_vec()),
    };
    let is_immortal = answers.next()?.as_i64()? == -1;
    let now = match answers.next() {
        None => None,
        Some(Value::Array(time)) => {
            let [seconds, micros] = &time[..] else {
                return None;
            };
            let micros = seconds.as_u64()?.checked_mul(1_000_000)? + micros.as_u64()?;
            Some(Timestamp::from_micros(micros))
        }
        Some(_) => return None,
    };
    Some(Found {
        bytes,
        is_immortal,
        now,
    })
}
