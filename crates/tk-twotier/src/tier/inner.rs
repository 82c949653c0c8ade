//! What a limiter and its tasks share.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use parking_lot::{Mutex, RwLock};
use tk_core::{Clock, Decision, Error, Prefix, Store, Strategy};
use tokio::{runtime::Handle, sync::Notify, task::AbortHandle};

use super::{
    Answer, FailurePolicy, Observer, Outcome, Stats, Tier, TierError,
    l1::{L1, Room},
    mode::{LeasePlan, Plan},
    stats::Counters,
    tasks::Tasks,
};
use crate::ledger::WallOffset;

pub(crate) struct Inner<L2: Store, C, O> {
    pub(super) l2: L2,
    pub(super) strategy: RwLock<L2::Strategy>,
    /// The strategy's, where it can be read without a lock.
    pub(super) capacity: AtomicU64,
    /// The offset of the newest grant, by which credits in a purse tell their reset time.
    pub(super) wall: AtomicU64,
    pub(super) plan: Plan,
    pub(super) policy: FailurePolicy,
    /// The failure policy's state of the keys for which there is no room.
    pub(super) overflow: Mutex<<L2::Strategy as Strategy>::State>,
    pub(super) l1: L1<L2>,
    prefix: Option<Box<str>>,
    pub(super) clock: C,
    pub(super) observer: O,
    pub(super) counters: Counters,
    pub(super) tasks: Tasks,
    pub(super) idle_task: Mutex<Option<AbortHandle>>,
    /// Calls for the end of that task.
    pub(super) closing: Notify,
    /// How often keys were reset: an answer from before the last reset is not remembered.
    pub(super) resets: AtomicU64,
    closed: AtomicBool,
}

/// Keys without an idle time of their own are of no use after so long.
const FORGET_AFTER: Duration = Duration::from_secs(60);

impl<L2: Store, C: Clock, O: Observer> Inner<L2, C, O> {
    #[allow(
        clippy::too_many_arguments,
        reason = "the builder is the only caller, and names each"
    )]
    pub(super) fn new(
        l2: L2,
        strategy: L2::Strategy,
        plan: Plan,
        policy: FailurePolicy,
        max_keys: u32,
        prefix: Option<Box<str>>,
        clock: C,
        observer: O,
    ) -> Self {
        Self {
            l2,
            capacity: AtomicU64::new(strategy.capacity()),
            strategy: RwLock::new(strategy),
            wall: AtomicU64::new(0),
            plan,
            policy,
            overflow: Mutex::default(),
            l1: L1::new(max_keys),
            prefix,
            clock,
            observer,
            counters: Counters::default(),
            tasks: Tasks::default(),
            idle_task: Mutex::default(),
            closing: Notify::new(),
            resets: AtomicU64::new(0),
            closed: AtomicBool::new(false),
        }
    }

    #[inline]
    pub(super) fn capacity(&self) -> u64 {
        self.capacity.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(super) fn wall_offset(&self) -> WallOffset {
        WallOffset::from_bits(self.wall.load(Ordering::Relaxed))
    }

    #[inline(always)]
    pub(super) fn fits(&self, cost: u64) -> Answer<(), L2> {
        let limit = self.capacity();
        if cost > limit {
            Err(Error::ExceedsCapacity { cost, limit })
        } else {
            Ok(())
        }
    }

    pub(super) fn strategy(&self) -> L2::Strategy {
        self.strategy.read().clone()
    }

    pub(super) const fn lease_plan(&self) -> Option<&LeasePlan> {
        self.plan.lease.as_ref()
    }

    pub(super) fn keyed<'a, K: ?Sized>(&'a self, key: &'a K) -> Prefix<'a, K> {
        Prefix {
            space: self.prefix.as_deref(),
            key,
        }
    }

    pub(super) fn room<'a>(&'a self, strategy: &'a L2::Strategy) -> Room<'a, L2> {
        let idle = self.lease_plan().and_then(|lease| lease.idle);
        Room {
            lease: self.lease_plan(),
            strategy,
            now: self.clock.monotonic(),
            wall: self.clock.now(),
            idle: idle.unwrap_or(FORGET_AFTER),
        }
    }

    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(super) fn set_closed(&self) {
        self.closed.store(true, Ordering::Release);
    }

    #[inline(always)]
    pub(super) fn refuse_if_closed(&self) -> Answer<(), L2> {
        if self.is_closed() {
            Err(Error::Store(TierError::Closed))
        } else {
            Ok(())
        }
    }

    pub(super) fn runtime() -> Answer<Handle, L2> {
        Handle::try_current().map_err(|_| Error::Store(TierError::NoRuntime))
    }

    /// Counts an answer of the shared store or of the policy, and tells the observer.
    pub(super) fn count(&self, tier: Tier, answer: &Answer<Decision, L2>, cost: u64) {
        let (counter, outcome) = match (answer, tier) {
            (Err(_), _) => (&self.counters.failed, Outcome::Failed),
            (Ok(decision), tier) => {
                let counter = match (decision.allowed, tier) {
                    (true, Tier::Policy) => &self.counters.admitted_by_policy,
                    (true, _) => &self.counters.admitted_by_l2,
                    (false, Tier::Policy) => &self.counters.denied_by_policy,
                    (false, _) => &self.counters.denied_by_l2,
                };
                let outcome = if decision.allowed {
                    Outcome::Admitted
                } else {
                    Outcome::Denied
                };
                (counter, outcome)
            }
        };
        counter.one();
        self.observer.checked(outcome, tier, cost);
    }

    pub(super) fn stats(&self) -> Stats {
        let mut stats = self.counters.snapshot(self.l1.keys() as u64);
        for shard in self.l1.shards() {
            stats.admitted_locally += shard.hits.admitted;
            stats.denied_locally += shard.hits.denied;
            stats.served += shard.hits.served;
        }
        stats
    }
}
