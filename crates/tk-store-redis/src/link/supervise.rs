//! Keeps connections up.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use fred::{
    clients::Client,
    interfaces::{ClientLike, EventInterface},
};
use tk_core::{Clock, SystemClock};
use tokio::{sync::broadcast::error::RecvError, task::JoinHandle, time::sleep};

use crate::breaker::Breaker;

/// How long to wait before connecting again after fred has given up.
const PAUSE: Duration = Duration::from_millis(500);

/// Why there is no connection, as far as known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trouble(Arc<Mutex<Option<Box<str>>>>);

impl Trouble {
    pub(crate) fn last(&self) -> Box<str> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.clone().unwrap_or_else(|| "not connected yet".into())
    }

    fn is(&self, what: &fred::error::Error) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(what.to_string().into());
    }
}

/// A task that ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Supervisor(JoinHandle<()>);

impl Supervisor {
    /// Connects, for as long as this lives: fred reconnects by itself after most errors, and gives up after some.
    pub(crate) fn connect(client: Client, trouble: Trouble) -> Self {
        Self::spawn(async move {
            let mut errors = client.error_rx();
            loop {
                let mut connection = AbortOnDrop(client.connect());
                let ended = loop {
                    tokio::select! {
                        ended = &mut connection.0 => break ended,
                        error = errors.recv() => match error {
                            Ok((error, _server)) => trouble.is(&error),
                            Err(RecvError::Lagged(_)) => {}
                            // Nobody sends any more, so only the connection is left to wait for.
                            Err(RecvError::Closed) => break (&mut connection.0).await,
                        },
                    }
                };
                if let Ok(Err(error)) = ended {
                    trouble.is(&error);
                }
                sleep(PAUSE).await;
            }
        })
    }

    /// Lets the breaker know of new connections, so that a server that is back need not wait for the next probe.
    pub(crate) fn heed(client: &Client, breaker: Arc<Breaker>) -> Self {
        let mut connected = client.reconnect_rx();
        Self::spawn(async move {
            while !matches!(connected.recv().await, Err(RecvError::Closed)) {
                breaker.hurry(SystemClock.monotonic());
            }
        })
    }

    /// Runs `task` until it is done or this is dropped. It must be called within a runtime of tokio.
    pub(crate) fn spawn(task: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(tokio::spawn(task))
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.0.abort();
    }
}

struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
