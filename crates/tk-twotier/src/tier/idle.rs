//! The credits of keys that nobody asks for.

use std::{sync::Arc, time::Duration};

use tk_core::{Clock, Store};
use tokio::{runtime::Handle, task::AbortHandle, time::timeout};

use super::{Observer, homeward::Homeward, inner::Inner};

/// The shortest pause between two looks at the idle keys.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);

impl<L2: Store, C: Clock + 'static, O: Observer> Inner<L2, C, O> {
    /// Hands back what is idle.
    pub(super) async fn return_idle(this: &Arc<Self>) -> u64 {
        if this.lease_plan().is_none_or(|lease| lease.idle.is_none()) {
            return 0;
        }
        let strategy = this.strategy();
        let mut given_up = Vec::new();
        for mut shard in this.l1.shards() {
            let room = this.room(&strategy);
            given_up.append(&mut this.l1.return_idle(&mut shard, &room));
        }
        Homeward::new(this, given_up).send().await
    }

    /// Starts the task that looks for idle keys, unless it runs.
    pub(super) fn watch_idle(this: &Arc<Self>, runtime: &Handle) {
        let Some(idle) = this.lease_plan().and_then(|lease| lease.idle) else {
            return;
        };
        let mut task = this.idle_task.lock();
        // A request that was let in before may come here after `close` has ended the task: another would never end.
        if this.is_closed() {
            return;
        }
        // An observer that panics ends it.
        if task.as_ref().is_none_or(AbortHandle::is_finished) {
            let inner = this.clone();
            let pause = (idle / 2).max(SHORTEST_PAUSE);
            let watch = async move {
                while timeout(pause, inner.closing.notified()).await.is_err() {
                    Self::return_idle(&inner).await;
                }
            };
            *task = Some(this.tasks.spawn(runtime, watch));
        }
    }

    /// Ends that task, once what it has begun to hand back is home. Called when the limiter refuses requests.
    pub(super) fn stop_watching(&self) {
        // With the lock, so that no task is begun after its end has been called for.
        let _task = self.idle_task.lock();
        self.closing.notify_one();
    }
}
