//! Another strategy, while keys hold what was leased under the one before.

use std::sync::{Arc, atomic::Ordering};

use tk_core::{Clock, Store, Strategy};

use super::{Observer, entry::GivenUp, inner::Inner};

impl<L2: Store, C: Clock + 'static, O: Observer> Inner<L2, C, O> {
    /// Puts `strategy` in force, and with it an end to all that rests on the one before.
    ///
    /// Credits were granted by the limit that was, for the window that was: a lower limit has no room for them, and a
    /// shorter window would end before they do. So they go home, and the lease in flight is void. The shared store knows by the
    /// tag whether they still count; it has the last word, as always.
    pub(super) fn set_strategy(this: &Arc<Self>, strategy: L2::Strategy) {
        let mut current = this.strategy.write();
        this.capacity.store(strategy.capacity(), Ordering::Relaxed);
        *current = strategy;
        drop(current);
        this.resets.fetch_add(1, Ordering::AcqRel);
        let now = this.clock.monotonic();
        let mut given_up = Vec::new();
        for mut shard in this.l1.shards() {
            for place in 0..shard.places() {
                let Some(mut entry) = shard.open_at(place, now) else {
                    continue;
                };
                match this.lease_plan() {
                    Some(lease) => {
                        given_up.push(entry.start_over(&lease.rules, now));
                        // At once, for no answer can help. Were the shared store to say so, it would say it of a lease.
                        entry.refuse_above(this.capacity());
                    }
                    None => entry.denial = None,
                }
            }
            given_up.retain(|given_up: &GivenUp| given_up.units() > 0);
        }
        Self::hand_back_later(this, given_up);
    }
}
