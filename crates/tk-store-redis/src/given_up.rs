//! Calls that their callers give up before the deadline.
//!
//! The breaker learns from callers how their calls ended, and the link from what becomes of commands. Neither learns anything of a
//! command whose caller has left. If all callers wait for less than the deadline, a server that answers nothing would cost each of them its
//! whole patience, for as long as it is gone. But that a caller has left says nothing of the server, which may be well and the
//! caller in a hurry.
//!
//! So the server is asked in its place: for a mere sign of life, on the same connection, hence behind the call, and with a deadline
//! of its own. What counts is how that ends. There is one such question at a time on each connection, however many callers leave, and a
//! call that is not given up costs nothing more.

use std::sync::Arc;

use tokio::{runtime::Handle, sync::Mutex};

/// A call whose caller waits for its answer. If this is dropped before that has come, the caller has given up, and what it was given is done.
pub(crate) struct Awaited<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Awaited<F> {
    pub(crate) const fn or_else(given_up: F) -> Self {
        Self(Some(given_up))
    }

    /// It has ended, and the breaker knows how.
    pub(crate) fn ended(mut self) {
        self.0 = None;
    }
}

impl<F: FnOnce()> Drop for Awaited<F> {
    fn drop(&mut self) {
        if let Some(given_up) = self.0.take() {
            given_up();
        }
    }
}

/// Questions in place of those who have given up, one at a time.
#[derive(Debug, Default)]
pub(crate) struct Questions(Arc<Mutex<()>>);

impl Questions {
    /// Asks, unless somebody else's question is under way, which tells as much.
    pub(crate) fn ask<Q>(&self, runtime: &Handle, question: impl FnOnce() -> Q)
    where
        Q: Future<Output = ()> + Send + 'static,
    {
        if let Ok(turn) = self.0.clone().try_lock_owned() {
            let question = question();
            runtime.spawn(async move {
                let _turn = turn;
                question.await;
            });
        }
    }
}
