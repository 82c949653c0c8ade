//! Servers, stores and a strategy for tests.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tk_core::{Decision, ManualClock, Strategy, Timestamp};
use tk_store_redis::{TransactionBuilder, TransactionStore};
use tk_testkit::{conformance::Harness, servers::RedisServer};

/// A deadline that no test meets by accident, on a machine that is busy with other tests.
pub(crate) const PATIENT: Duration = Duration::from_secs(20);

/// Long enough that nothing replenishes while a test runs.
pub(crate) const LONG: Duration = Duration::from_secs(1 << 24);

/// A patient store on a server.
pub(crate) fn on<S>(server: &RedisServer) -> TransactionBuilder<S>
where
    S: Strategy,
    S::State: Serialize + DeserializeOwned,
{
    TransactionStore::builder("test", "own")
        .url(server.url())
        .deadline(PATIENT)
}

/// A server whose every store is a name space of its own and reads the clock it is given.
pub(crate) struct OnCallersClock {
    pub(crate) server: RedisServer,
    stores: AtomicU64,
}

impl OnCallersClock {
    pub(crate) fn new() -> Self {
        Self {
            server: RedisServer::start(),
            stores: AtomicU64::new(0),
        }
    }
}

impl<S> Harness<S> for OnCallersClock
where
    S: Strategy,
    S::State: Serialize + DeserializeOwned,
{
    type Store = TransactionStore<S>;

    async fn store(&self, clock: Arc<ManualClock>) -> TransactionStore<S> {
        let prefix = format!("test {}", self.stores.fetch_add(1, Relaxed));
        on(&self.server)
            .prefix(prefix)
            .clock(clock)
            .connections(2)
            .build()
            .unwrap()
    }
}

/// A strategy of a user's own: a number of units until someone pays, which is to be within an hour of the first.
#[derive(Clone, Debug)]
pub(crate) struct Tab {
    pub(crate) limit: u64,
}

/// What stands on a tab.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Owed {
    since: Option<Timestamp>,
    units: u64,
    notes: Vec<String>,
}

const HOUR: Duration = Duration::from_secs(3_600);

impl Strategy for Tab {
    type State = Owed;

    fn capacity(&self) -> u64 {
        self.limit
    }

    fn decide(&self, state: &mut Owed, now: Timestamp, cost: u64) -> Decision {
        let due = state
            .since
            .map(|since| since + HOUR)
            .filter(|due| now < *due);
        let owed = if due.is_some() { state.units } else { 0 };
        let allowed = cost == 0 || cost <= self.limit.saturating_sub(owed);
        let after = if allowed { owed + cost } else { owed };
        if allowed && cost > 0 {
            let mut notes = if owed > 0 {
                state.notes.clone()
            } else {
                Vec::new()
            };
            notes.push(format!("{cost} at {now}"));
            let since = state.since.filter(|_| due.is_some()).or(Some(now));
            *state = Owed {
                since,
                units: after,
                notes,
            };
        }
        let ends = due.unwrap_or(now + HOUR);
        Decision {
            allowed,
            limit: self.limit,
            remaining: self.limit.saturating_sub(after),
            reset_at: if after > 0 { ends } else { now },
            retry_after: if allowed {
                Duration::ZERO
            } else {
                ends.since(now)
            },
        }
    }
}
