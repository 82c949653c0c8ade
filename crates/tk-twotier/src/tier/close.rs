//! The end of a limiter.

use std::sync::Arc;

use tk_core::{Clock, Store};

use super::{Observer, entry::Entry, homeward::Homeward, inner::Inner};

impl<L2: Store, C: Clock + 'static, O: Observer> Inner<L2, C, O> {
    pub(super) async fn close(this: &Arc<Self>) -> u64 {
        this.set_closed();
        // Whoever was let in before has begun its lease under one of these locks.
        this.l1.shards().for_each(drop);
        this.stop_watching();
        this.land_all().await;
        let Some(lease) = this.lease_plan() else {
            return 0;
        };
        let now = this.clock.monotonic();
        let mut given_up = Vec::new();
        for mut shard in this.l1.shards() {
            for place in 0..shard.places() {
                let entry = shard.open_at(place, now);
                given_up.extend(entry.map(|mut entry| entry.give_up(&lease.rules, now)));
            }
        }
        Homeward::new(this, given_up).send().await
    }

    /// Waits for the leases under way, those included that are about to take off, and for what is on its way home.
    async fn land_all(&self) {
        loop {
            self.tasks.drain().await;
            let asks = |entry: &Entry<L2>| entry.line.ledger.is_asking();
            if !self.l1.shards().any(|shard| shard.entries().any(asks)) {
                return;
            }
            tokio::task::yield_now().await;
        }
    }
}
