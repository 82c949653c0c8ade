//! Calls that are made at the same time, gathered to be sent together.
//!
//! A call that finds others in flight waits until every task that is ready to run has had its turn, which is when the first
//! of those that wait comes up again, and not until any answer comes: so it is delayed by others' work, never by the
//! network. A call that is alone is sent at once.

use std::{
    mem, ptr,
    sync::{Arc, Mutex, PoisonError},
};

use fred::types::Value;
use tokio::{
    sync::oneshot::{Receiver, Sender, channel},
    task::yield_now,
    time::Instant,
};

use super::{Call, Link};
use crate::error::{ErrorKind, StoreError};

type Answer = Result<Value, StoreError>;

/// Calls that wait to be sent.
#[derive(Debug, Default)]
pub(super) struct Gathering(Mutex<Vec<Waiting>>);

#[derive(Debug)]
struct Waiting {
    call: Call,
    due: Instant,
    caller: Sender<Answer>,
}

impl Gathering {
    /// Adds a call, and answers whether it is the first, for which somebody has to come.
    fn add(&self, call: Call, due: Instant) -> (Receiver<Answer>, bool) {
        let (caller, answer) = channel();
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push(Waiting { call, due, caller });
        (answer, waiting.len() == 1)
    }

    fn take(&self) -> Vec<Waiting> {
        mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Comes for what has been gathered; should its task end before it has, the callers learn of it.
struct Collector(Option<Arc<Link>>);

impl Collector {
    async fn collect(mut self) {
        yield_now().await;
        if let Some(link) = self.0.take() {
            link.send_gathered().await;
        }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        if let Some(link) = &self.0 {
            // With their ends of the channels.
            drop(link.gathering.take());
        }
    }
}

impl Link {
    /// Sends a call together with others that are made now, and waits for its answer.
    pub(super) async fn send_with_others(self: &Arc<Self>, call: Call, due: Instant) -> Answer {
        let (answer, is_first) = self.gathering.add(call, due);
        if is_first {
            tokio::spawn(Collector(Some(self.clone())).collect());
        }
        let lost = |_| Err(ErrorKind::Lost("the runtime is shutting down".into()).into());
        answer.await.unwrap_or_else(lost)
    }

    async fn send_gathered(&self) {
        let mut waiting = self.gathering.take();
        // Nobody is charged for a call that was given up before it was sent.
        waiting.retain(|waiting| !waiting.caller.is_closed());
        // They have no order of their own, and those of one script go together if they are neighbours.
        waiting.sort_by_key(|waiting| waiting.call.shared_text().map(ptr::from_ref));
        let Some(due) = waiting.iter().map(|waiting| waiting.due).min() else {
            return;
        };
        let (calls, callers): (Vec<_>, Vec<_>) = waiting
            .into_iter()
            .map(|waiting| (waiting.call, waiting.caller))
            .unzip();
        let answers = self.send_all(self.client(), &calls, false, due).await;
        let answers = answers.unwrap_or_else(|error| vec![Err(error); calls.len()]);
        for (caller, answer) in callers.into_iter().zip(answers) {
            // A caller who is gone asks for no answer.
            let _ = caller.send(answer);
        }
    }
}
