//! A limit service and its client, on one clock.

use std::{
    convert::Infallible,
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use tk_core::{Clock, FixedWindow, FixedWindowState, Grant, ManualClock, Monotonic, Timestamp};
use tk_twotier::{Demand, LeaseSpender, LeaseSpenderBuilder, Refresh, Spending};

pub(crate) type Spender = LeaseSpender<Arc<ManualClock>>;

/// A service that leases from one fixed window of a second.
pub(crate) struct Service {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) strategy: FixedWindow,
    state: Mutex<FixedWindowState>,
    pub(crate) asked: Mutex<Vec<u64>>,
}

impl Service {
    pub(crate) fn new(limit: u64) -> Self {
        Self {
            clock: Arc::new(ManualClock::at(Timestamp::from_secs(60_000))),
            strategy: FixedWindow::per_second(limit).expect("a limit within the range"),
            state: Mutex::default(),
            asked: Mutex::default(),
        }
    }

    pub(crate) fn grant(&self, demand: Demand) -> Grant {
        self.asked
            .lock()
            .expect("no test panics here")
            .push(demand.want);
        let mut state = self.state.lock().expect("no test panics here");
        Grant::charge::<_, Infallible>(
            &self.strategy,
            &mut state,
            self.clock.now(),
            demand.want,
            demand.at_least,
            0,
        )
        .expect("a cost that fits")
    }

    pub(crate) async fn reserve(&self, demand: Demand) -> Result<Grant, &'static str> {
        Ok(self.grant(demand))
    }

    pub(crate) fn spender(
        &self,
        batch: u64,
        set: impl FnOnce(LeaseSpenderBuilder<Arc<ManualClock>>) -> LeaseSpenderBuilder<Arc<ManualClock>>,
    ) -> Spender {
        let builder = LeaseSpender::builder(self.strategy.limit(), Duration::from_secs(1))
            .batch(batch)
            .clock(self.clock.clone());
        set(builder).build().expect("settings within their ranges")
    }

    pub(crate) fn now(&self) -> Monotonic {
        self.clock.monotonic()
    }

    pub(crate) fn pass(&self, millis: u64) {
        self.clock.advance(Duration::from_millis(millis));
    }
}

/// The refresh that a request of `cost` needs.
pub(crate) fn refresh<C: Clock + fmt::Debug>(
    spender: &LeaseSpender<C>,
    now: Monotonic,
    cost: u64,
) -> Refresh<'_, C> {
    match spender.spend(now, cost) {
        Ok(Spending::NeedsRefresh(refresh)) => refresh,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn is_served(spender: &Spender, now: Monotonic, cost: u64) -> bool {
    matches!(spender.spend(now, cost), Ok(Spending::Served(decision)) if decision.allowed)
}
