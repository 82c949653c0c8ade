//! The fleet in one mode.

use std::{error::Error, sync::Arc, time::Duration};

use indicatif::ProgressBar;
use throttlekit::{
    Clock, ConfigError, FixedWindow, MemoryStore, Store, SystemClock,
    twotier::{FailurePolicy, TwoTier},
};
use tokio::task::JoinSet;

use crate::{
    args::Args,
    clock::{Charged, NodeClock},
    load::schedule,
    mode::Compared,
    node::{Node, wait_until},
    report::Report,
    store::{NodeStore, Shared},
};

pub(crate) struct Fleet<'a> {
    args: &'a Args,
    mode: Compared,
    nodes: Vec<Node<NodeStore<Shared>>>,
}

impl<'a> Fleet<'a> {
    pub(crate) fn new(args: &'a Args, mode: Compared) -> Result<Self, ConfigError> {
        let shared = Arc::new(MemoryStore::new());
        let nodes = (0..args.nodes).map(|number| node(args, mode, shared.clone(), number));
        Ok(Self {
            args,
            mode,
            nodes: nodes.collect::<Result<_, _>>()?,
        })
    }

    /// Lives through all windows, from the next edge of one.
    pub(crate) async fn live(self, bar: &ProgressBar) -> Result<Report, Box<dyn Error>> {
        let start = next_edge(self.args, Duration::ZERO);
        let mut tasks = JoinSet::new();
        for node in self.nodes {
            tasks.spawn(node.live(start, schedule(self.args).collect::<Vec<_>>().into_iter()));
        }
        follow(self.args, start, bar).await;
        let mut report = Report::new(self.args, self.mode, start);
        while let Some(seen) = tasks.join_next().await {
            report.add(seen?.map_err(|error| error as Box<dyn Error>)?);
        }
        Ok(report)
    }
}

/// The first edge between two windows that is so far off at least.
pub(crate) fn next_edge(args: &Args, at_least: Duration) -> u64 {
    let (window, at_least) = (args.window_micros(), at_least.as_micros() as u64);
    ((SystemClock.now().as_micros() + at_least) / window + 1) * window
}

/// Moves the bar on, window by window.
pub(crate) async fn follow(args: &Args, start: u64, bar: &ProgressBar) {
    for number in 1..=args.windows() {
        wait_until(start + number * args.window_micros()).await;
        bar.inc(1);
    }
}

/// A node of this number over a store that all share.
pub(crate) fn node<L2: Store<Strategy = FixedWindow>>(
    args: &Args,
    mode: Compared,
    shared: L2,
    number: u64,
) -> Result<Node<NodeStore<L2>>, ConfigError> {
    let strategy = FixedWindow::new(args.limit, args.window)?;
    let (charged, window) = (Charged::default(), args.window_micros());
    let store = NodeStore::new(shared, charged.clone(), window);
    let on_failure = if args.survive {
        FailurePolicy::deny()
    } else {
        FailurePolicy::Error
    };
    let limiter = TwoTier::builder(strategy, store)
        .mode(mode.mode(args))
        .on_failure(on_failure)
        .clock(NodeClock::new(args, number, charged.clone()))
        .build()?;
    Ok(Node {
        limiter,
        charged,
        window,
    })
}
