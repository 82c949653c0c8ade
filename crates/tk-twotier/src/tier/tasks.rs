//! The tasks that a limiter has spawned.

use std::{
    future::{Future, poll_fn},
    task::Poll,
};

use parking_lot::Mutex;
use tokio::{runtime::Handle, task::AbortHandle, task::JoinSet};

/// Tasks that end with their owner.
#[derive(Debug, Default)]
pub(crate) struct Tasks(Mutex<JoinSet<()>>);

impl Tasks {
    pub(crate) fn spawn(
        &self,
        runtime: &Handle,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> AbortHandle {
        let mut tasks = self.0.lock();
        // Those that have ended are forgotten here, so that the set stays as small as what is in flight.
        while tasks.try_join_next().is_some() {}
        tasks.spawn_on(task, runtime)
    }

    /// Waits until all have ended.
    pub(crate) async fn drain(&self) {
        poll_fn(|context| {
            let mut tasks = self.0.lock();
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
        self.0.lock().abort_all();
    }
}
