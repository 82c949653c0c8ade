//! The fleet in one mode.

use std::{error::Error, sync::Arc};

use indicatif::ProgressBar;
use throttlekit::{Clock, ConfigError, FixedWindow, MemoryStore, SystemClock, twotier::TwoTier};
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
    nodes: Vec<Node<NodeStore>>,
}

impl<'a> Fleet<'a> {
    pub(crate) fn new(args: &'a Args, mode: Compared) -> Result<Self, ConfigError> {
        let shared = Arc::new(MemoryStore::new());
        let nodes = (0..args.nodes).map(|number| node(args, mode, &shared, number));
        Ok(Self {
            args,
            mode,
            nodes: nodes.collect::<Result<_, _>>()?,
        })
    }

    /// Lives through all windows, from the next edge of one.
    pub(crate) async fn live(self, bar: &ProgressBar) -> Result<Report, Box<dyn Error>> {
        let window = self.args.window_micros();
        let now = SystemClock.now().as_micros();
        let start = (now / window + 1) * window;
        let mut tasks = JoinSet::new();
        for node in self.nodes {
            tasks.spawn(node.live(start, schedule(self.args).collect::<Vec<_>>().into_iter()));
        }
        for number in 1..=self.args.windows() {
            wait_until(start + number * window).await;
            bar.inc(1);
        }
        let mut report = Report::new(self.args, self.mode, start);
        while let Some(seen) = tasks.join_next().await {
            report.add(seen?.map_err(|error| error as Box<dyn Error>)?);
        }
        Ok(report)
    }
}

fn node(
    args: &Args,
    mode: Compared,
    shared: &Shared,
    number: u64,
) -> Result<Node<NodeStore>, ConfigError> {
    let strategy = FixedWindow::new(args.limit, args.window)?;
    let (charged, window) = (Charged::default(), args.window_micros());
    let store = NodeStore::new(shared.clone(), charged.clone(), window);
    let limiter = TwoTier::builder(strategy, store)
        .mode(mode.mode(args))
        .clock(NodeClock::new(args, number, charged.clone()))
        .build()?;
    Ok(Node {
        limiter,
        charged,
        window,
    })
}
