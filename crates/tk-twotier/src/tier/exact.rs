//! One call of the shared store for one request, and what is answered if it fails.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use tk_core::{Clock, Decision, Error, Key, Monotonic, Store, Strategy, Timestamp};

use super::{
    Answer, FailurePolicy, Observer, Tier, TierError,
    denial::Denial,
    inner::Inner,
    policy::{blind, local_share},
};

impl<L2: Store, C: Clock + 'static, O: Observer> Inner<L2, C, O> {
    /// Decides on what this node cannot decide alone.
    pub(super) async fn ask<K: Key + ?Sized>(
        self: &Arc<Self>,
        key: &K,
        cost: u64,
    ) -> Answer<Decision, L2> {
        let answer = if self.lease_plan().is_some() && cost > 0 {
            self.lease(key, cost).await
        } else {
            self.exact(key, cost).await
        };
        let (tier, answer) = match answer {
            Err(Error::Store(error)) if error.is_outage() => self.fall_back(key, cost, error),
            answer => (Tier::L2, answer),
        };
        self.count(tier, &answer, cost);
        answer
    }

    /// Asks the shared store for this one request.
    ///
    /// The call is boxed: a store's future may take kilobytes, which a hit would reserve and move, though it never asks.
    pub(super) async fn exact<K: Key + ?Sized>(
        self: &Arc<Self>,
        key: &K,
        cost: u64,
    ) -> Answer<Decision, L2> {
        self.refuse_if_closed()?;
        let resets = self.resets.load(Ordering::Acquire);
        let sent = self.clock.monotonic();
        let strategy = self.strategy();
        let answer = Box::pin(self.l2.check(&strategy, &self.keyed(key), cost)).await;
        let decision = self.called(answer)?;
        if decision.is_denied() {
            self.remember(key, cost, decision, sent, resets);
        }
        Ok(decision)
    }

    pub(super) async fn peek_l2<K: Key + ?Sized>(&self, key: &K) -> Answer<Decision, L2> {
        self.refuse_if_closed()?;
        let strategy = self.strategy();
        let answer = self.l2.peek(&strategy, &self.keyed(key)).await;
        self.called(answer)
    }

    /// Counts a call of the shared store, and gives its error a place among ours.
    pub(super) fn called<T>(&self, answer: Result<T, Error<L2::Error>>) -> Answer<T, L2> {
        self.counters.l2_calls.one();
        answer.map_err(|error| {
            if matches!(error, Error::Store(_)) {
                self.counters.l2_failures.one();
            }
            error.map_store(|error| TierError::L2(Arc::new(error)))
        })
    }

    /// Remembers a denial, unless a reset came between question and answer.
    fn remember<K: Key + ?Sized>(
        self: &Arc<Self>,
        key: &K,
        cost: u64,
        decision: Decision,
        sent: Monotonic,
        resets: u64,
    ) {
        let Some(max_age) = self.plan.max_denial else {
            return;
        };
        let fingerprint = self.l1.fingerprint(key);
        let strategy = self.strategy();
        let room = self.room(&strategy);
        let mut evicted = Vec::new();
        let mut shard = self.l1.lock(fingerprint);
        if let Some((mut entry, _)) =
            self.l1
                .enter(&mut shard, fingerprint, key, &room, &mut evicted)
            && self.resets.load(Ordering::Acquire) == resets
        {
            entry.used_at = room.now;
            entry.learn(Denial::of(cost, decision, sent, max_age), room.now);
        }
        drop(shard);
        self.counters.evicted.add(evicted.len() as u64);
        Inner::hand_back_later(self, evicted);
    }

    /// Answers by the failure policy.
    fn fall_back<K: Key + ?Sized>(
        self: &Arc<Self>,
        key: &K,
        cost: u64,
        error: TierError<L2::Error>,
    ) -> (Tier, Answer<Decision, L2>) {
        let blind = |allowed, wait| blind(allowed, self.capacity(), self.clock.now(), wait);
        let decision = match self.policy {
            FailurePolicy::Error => return (Tier::L2, Err(Error::Store(error))),
            // Cost 0 is allowed whoever answers.
            FailurePolicy::Deny { .. } if cost == 0 => blind(true, Duration::ZERO),
            FailurePolicy::Deny { retry_after } => blind(false, retry_after),
            FailurePolicy::Allow => blind(true, Duration::ZERO),
            FailurePolicy::LocalShare { share } => self.share(key, cost, share),
        };
        (Tier::Policy, Ok(decision))
    }

    /// Decides within this node's share, with states of its own; keys for which there is no room share one.
    ///
    /// A key that gets a state of its own may have been charged in the shared one, and nobody knows by how much: it starts with a copy of that,
    /// so that no key is admitted more than a share. Once the shared one is fresh, it owes nothing.
    fn share<K: Key + ?Sized>(self: &Arc<Self>, key: &K, cost: u64, share: (u64, u64)) -> Decision {
        let strategy = self.strategy();
        let room = self.room(&strategy);
        let fingerprint = self.l1.fingerprint(key);
        let mut evicted = Vec::new();
        let decision = {
            let mut shard = self.l1.lock(fingerprint);
            let found = self
                .l1
                .enter(&mut shard, fingerprint, key, &room, &mut evicted);
            match found {
                Some((mut entry, _)) => {
                    entry.used_at = room.now;
                    let state = entry
                        .local
                        .get_or_insert_with(|| Box::new(self.overflowed(&strategy, room.wall)));
                    local_share(&strategy, state, room.wall, cost, share)
                }
                None => local_share(&strategy, &mut self.overflow.lock(), room.wall, cost, share),
            }
        };
        // Without the lock: an observer is told of what is stranded, and may ask for statistics.
        self.counters.evicted.add(evicted.len() as u64);
        Inner::hand_back_later(self, evicted);
        decision
    }

    /// The share's state of a key that has none of its own yet.
    fn overflowed(
        &self,
        strategy: &L2::Strategy,
        now: Timestamp,
    ) -> <L2::Strategy as Strategy>::State {
        let shared = self.overflow.lock();
        if strategy.is_fresh(&shared, now) {
            <L2::Strategy as Strategy>::State::default()
        } else {
            shared.clone()
        }
    }
}
