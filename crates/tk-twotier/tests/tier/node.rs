//! Nodes of a fleet, each with a clock of its own.

use std::{sync::Arc, time::Duration};

use tk_core::{FixedWindow, ManualClock, Strategy};
use tk_twotier::{Lease, Local, Mode, TwoTier, TwoTierBuilder};
use tokio::task::JoinHandle;

use super::l2::{L2, START};

pub(crate) type Tier<S = FixedWindow> = TwoTier<L2<S>, Arc<ManualClock>>;
pub(crate) type Builder<S = FixedWindow> = TwoTierBuilder<L2<S>, Arc<ManualClock>>;

/// A node and its clock.
#[derive(Clone)]
pub(crate) struct Node<S: Strategy = FixedWindow> {
    pub(crate) tier: Arc<Tier<S>>,
    pub(crate) clock: Arc<ManualClock>,
}

pub(crate) fn per_second(limit: u64) -> FixedWindow {
    FixedWindow::per_second(limit).expect("a limit within the range")
}

pub(crate) fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Credits end with their window.
pub(crate) fn coupled(batch: u64) -> Mode {
    Mode::Leased(Lease::batch(batch).window_coupled(true))
}

/// Credits are carried over.
pub(crate) fn carried(batch: u64) -> Mode {
    Mode::Leased(Lease::batch(batch))
}

impl<S: Strategy> Node<S> {
    pub(crate) fn new(l2: &L2<S>, strategy: S, mode: Mode) -> Self {
        Self::with(l2, strategy, mode, |builder| builder)
    }

    pub(crate) fn with(
        l2: &L2<S>,
        strategy: S,
        mode: Mode,
        set: impl FnOnce(Builder<S>) -> Builder<S>,
    ) -> Self {
        let clock = Arc::new(ManualClock::at(START));
        let builder = TwoTier::builder(strategy, l2.clone()).clock(clock.clone());
        let tier = set(builder.mode(mode)).build();
        Self {
            tier: Arc::new(tier.expect("settings within their ranges")),
            clock,
        }
    }

    pub(crate) async fn admits(&self, cost: u64) -> bool {
        self.tier
            .check_n("key", cost)
            .await
            .expect("it answers")
            .allowed
    }

    /// How many of `calls` are admitted, one after the other.
    pub(crate) async fn hammer(&self, calls: u64) -> u64 {
        let mut admitted = 0;
        for _ in 0..calls {
            admitted += u64::from(self.admits(1).await);
        }
        admitted
    }

    /// Whether a request is admitted without asking anybody.
    pub(crate) fn hits(&self) -> bool {
        let answer = self.tier.try_check("key").expect("a cost that fits");
        matches!(answer, Local::Decided(decision) if decision.allowed)
    }

    /// A request that runs by itself.
    pub(crate) fn spawn(&self, cost: u64) -> JoinHandle<bool> {
        let node = self.clone();
        tokio::spawn(async move { node.admits(cost).await })
    }
}

/// Moves the store's clock and those of the nodes.
pub(crate) fn pass<S: Strategy>(l2: &L2<S>, nodes: &[Node<S>], time: Duration) {
    l2.clock().advance(time);
    nodes.iter().for_each(|node| node.clock.advance(time));
}

/// Lets all tasks run until they wait for the test.
pub(crate) async fn settle() {
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
}
