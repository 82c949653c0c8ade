//! The tasks that a limiter has spawned.

use std::{
    future::{Future, poll_fn},
    task::Poll,
};

use parking_lot::Mutex;
use tokio::{runtime::Handle, task::AbortHandle, task::JoinSet};

/// Tasks that end with their owner.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    set: Mutex<JoinSet<()>>,
    /// Whose turn it is to wait: a set wakes only the last who looked at it, so that two would wait for ever.
    turn: tokio::sync::Mutex<()>,
}

impl Tasks {
    pub(crate) fn spawn(
        &self,
        runtime: &Handle,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> AbortHandle {
        let mut tasks = self.set.lock();
        // Those that have ended are forgotten here, so that the set stays as small as what is in flight.
        while tasks.try_join_next().is_some() {}
        tasks.spawn_on(task, runtime)
    }

    /// Waits until all have ended.
    pub(crate) async fn drain(&self) {
        let _turn = self.turn.lock().await;
        poll_fn(|context| {
            let mut tasks = self.set.lock();
            loop {
                match tasks.poll_join_next(context) {
                    Poll::Ready(Some(_)) => {}
                    Poll::Ready(None) => return Poll::Ready(()),
                    Poll::Pending => return Poll::Pending,
                }
            }
        })
        .await;
    }

    pub(crate) fn abort_all(&self) {
        self.set.lock().abort_all();
    }
}
