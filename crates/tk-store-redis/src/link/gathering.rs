//! Calls that are made at the same time, gathered to be sent together.
//!
//! A call that finds others in flight waits until every task that is ready to run has had its turn, and not until any answer
//! comes: so it is delayed by others' work, never by the network. A call that is alone is sent at once.

use std::{
    future::poll_fn,
    mem,
    pin::pin,
    ptr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::Poll,
};

use fred::types::Value;
use futures_util::future::join_all;
use tokio::{
    sync::oneshot::{Receiver, Sender, channel},
    time::{Instant, timeout_at},
};

use super::{Call, GRACE, Link};
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
    told: Arc<Told>,
}

/// Whether the breaker knows how a call ended, which the caller's patience and the call's command may both find out.
#[derive(Debug, Default)]
struct Told(AtomicBool);

impl Gathering {
    /// Adds a call, and answers whether it is the first, for which somebody has to come.
    fn add(&self, call: Call, due: Instant, told: Arc<Told>) -> (Receiver<Answer>, bool) {
        let (caller, answer) = channel();
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push(Waiting {
            call,
            due,
            caller,
            told,
        });
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
        after_others().await;
        if let Some(link) = self.0.take() {
            link.send_gathered().await;
        }
    }
}

/// Ends when every task that was ready to run on this thread has had its turn.
///
/// `tokio::task::yield_now` leaves its task with the thread until that has nothing else to do, so one that is kept busy would hold up
/// the calls of all threads. A task that wakes itself goes to the end of a queue from which idle threads help themselves.
async fn after_others() {
    let mut is_behind = false;
    poll_fn(|context| {
        if mem::replace(&mut is_behind, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl Drop for Collector {
    fn drop(&mut self) {
        if let Some(link) = &self.0 {
            for waiting in link.gathering.take() {
                let ended = ErrorKind::Unreachable("the store's runtime has ended".into());
                // A caller who is gone asks for no answer.
                let _ = waiting.caller.send(Err(ended.into()));
            }
        }
    }
}

impl Link {
    /// Sends a call together with others that are made now, and waits for its answer.
    pub(super) async fn call_with_others(self: &Arc<Self>, call: Call, due: Instant) -> Answer {
        let told = Arc::new(Told::default());
        let (answer, is_first) = self.gathering.add(call, due, told.clone());
        if is_first {
            self.runtime.spawn(Collector(Some(self.clone())).collect());
        }
        let lost = |_| Err(ErrorKind::Lost("the store's runtime has ended".into()).into());
        let answer = match timeout_at(due + GRACE, pin!(answer)).await {
            Ok(answer) => answer.unwrap_or_else(lost),
            Err(_elapsed) => Err(ErrorKind::Timeout.into()),
        };
        self.note_once(&told, &answer);
        answer
    }

    fn note_once(&self, told: &Told, answer: &Answer) {
        if !told.0.swap(true, Relaxed) {
            self.note(answer.as_ref().err());
        }
    }

    /// Sends what has been gathered, and tells each command's callers their answers as soon as it is answered.
    async fn send_gathered(&self) {
        let mut waiting = self.gathering.take();
        // Nobody is charged for a call that was given up before it was sent.
        waiting.retain(|waiting| !waiting.caller.is_closed());
        // They have no order of their own, and those of one script go together if they are neighbours.
        waiting.sort_by_key(|waiting| waiting.call.shared_text().map(ptr::from_ref));
        let mut groups: Vec<Vec<Waiting>> = Vec::new();
        for waiting in waiting {
            match groups.last_mut() {
                Some(group)
                    if group.len() < self.bounds.max_batch
                        && group[0].call.goes_with(&waiting.call) =>
                {
                    group.push(waiting);
                }
                _ => groups.push(vec![waiting]),
            }
        }
        join_all(groups.into_iter().map(|group| self.answer(group))).await;
    }

    async fn answer(&self, group: Vec<Waiting>) {
        let Some(due) = group.iter().map(|waiting| waiting.due).min() else {
            return;
        };
        let waiting = group.into_iter();
        let (calls, callers): (Vec<_>, Vec<_>) = waiting
            .map(|waiting| (waiting.call, (waiting.caller, waiting.told)))
            .unzip();
        let answers = self.send_all(self.connection(), &calls, false, due).await;
        let answers = answers.unwrap_or_else(|error| vec![Err(error); calls.len()]);
        for ((caller, told), answer) in callers.into_iter().zip(answers) {
            self.note_once(&told, &answer);
            // A caller who is gone asks for no answer.
            let _ = caller.send(answer);
        }
    }
}
