//! Credits on their way home.

use std::{sync::Arc, time::Duration};

use tk_core::{Clock, Store};
use tokio::{runtime::Handle, task::AbortHandle};

use super::{Observer, entry::GivenUp, inner::Inner};
use crate::HandBack;

/// The shortest pause between two looks at the idle keys.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);

impl<L2: Store, C: Clock + 'static, O: Observer> Inner<L2, C, O> {
    /// Sends hand-backs on a task of their own. Without a runtime the units are lost until their window ends.
    pub(super) fn hand_back_later(this: &Arc<Self>, mut given_up: Vec<GivenUp>) {
        for given_up in &mut given_up {
            this.strand(std::mem::take(&mut given_up.stranded));
        }
        given_up.retain(|given_up| !given_up.backs.is_empty());
        if given_up.is_empty() {
            return;
        }
        match Handle::try_current() {
            Ok(runtime) => {
                let inner = this.clone();
                this.tasks.spawn(&runtime, async move {
                    inner.hand_back(given_up).await;
                });
            }
            Err(_) => this.strand(given_up.iter().map(GivenUp::units).sum()),
        }
    }

    /// Sends hand-backs, each once, and returns how many units the shared store took.
    pub(super) async fn hand_back(&self, given_up: Vec<GivenUp>) -> u64 {
        let mut taken = 0;
        for GivenUp {
            key,
            backs,
            stranded,
        } in given_up
        {
            self.strand(stranded);
            for HandBack { tag, amount } in backs {
                // Rule 5: a hand-back whose answer is lost is not sent again. Its units are lost until the window ends.
                let strategy = self.strategy();
                let keyed = self.keyed(&*key);
                let answer = self.l2.give_back(&strategy, &keyed, tag, amount).await;
                let applied = self.called(answer).ok();
                let took = applied.unwrap_or(0).min(amount);
                self.counters.handed_back.add(amount);
                self.counters.taken_back.add(took);
                self.observer.handed_back(amount, applied);
                self.strand(amount - took);
                taken += took;
            }
        }
        taken
    }

    pub(super) fn strand(&self, units: u64) {
        if units > 0 {
            self.counters.stranded.add(units);
            self.observer.stranded(units);
        }
    }

    /// Hands back what is idle.
    pub(super) async fn return_idle(&self) -> u64 {
        if self.lease_plan().is_none_or(|lease| lease.idle.is_none()) {
            return 0;
        }
        let strategy = self.strategy();
        let mut given_up = Vec::new();
        for mut shard in self.l1.shards() {
            let room = self.room(&strategy);
            given_up.append(&mut self.l1.return_idle(&mut shard, &room));
        }
        self.hand_back(given_up).await
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
                loop {
                    tokio::time::sleep(pause).await;
                    inner.return_idle().await;
                }
            };
            *task = Some(this.tasks.spawn(runtime, watch));
        }
    }
}
