//! Connections that are open and answer nothing.
//!
//! A host that vanishes without a word leaves its connection open. fred closes one that has waited for long, but counts from the last
//! command *written*, so under steady traffic never. So whoever leaves several calls in a row unanswered is counted here, and reconnected to.
//! Each client counts by itself: one that is answered proves nothing for another.
//! In a cluster that learns a new map of it, but leaves a connection alone whose node is still on the map.

use std::{
    collections::HashMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use fred::types::config::Server;
use tk_core::Monotonic;

/// Calls in a row that each node has left unanswered on the connection of a client. Outside of a cluster the node is `None`.
#[derive(Debug)]
pub(super) struct Silence {
    /// Calls in a row after which a connection counts as dead.
    threshold: u32,
    /// How long to leave a new connection alone, in microseconds.
    patience: u64,
    any: AtomicBool,
    nodes: Mutex<HashMap<Option<Server>, u32>>,
    /// When connections may be given up again.
    not_before: AtomicU64,
}

impl Silence {
    pub(super) fn new(threshold: u32, patience: Duration) -> Self {
        Self {
            threshold,
            patience: u64::try_from(patience.as_micros()).unwrap_or(u64::MAX),
            any: AtomicBool::new(false),
            nodes: Mutex::default(),
            not_before: AtomicU64::new(0),
        }
    }

    /// The node answered. `node` is looked up only if some node was silent.
    pub(super) fn answered(&self, node: impl FnOnce() -> Option<Server>) {
        if self.any.load(Relaxed) {
            let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
            nodes.remove(&node());
            self.any.store(!nodes.is_empty(), Relaxed);
        }
    }

    /// The node left `calls` of one command unanswered. Whether its connection is to be given up: once for all calls that find that out.
    pub(super) fn unanswered(&self, node: Option<Server>, calls: u32, now: Monotonic) -> bool {
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        self.any.store(true, Relaxed);
        let count = nodes.entry(node).or_default();
        *count = count.saturating_add(calls);
        let now = now.as_micros();
        if *count < self.threshold || now < self.not_before.load(Relaxed) {
            return false;
        }
        *count = 0;
        self.not_before
            .store(now.saturating_add(self.patience), Relaxed);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_given_up_after_calls_in_a_row_and_not_again_at_once() {
        let silence = Silence::new(3, Duration::from_secs(1));
        let at = |millis: u64| Monotonic::from_micros(millis * 1_000);
        assert!(!silence.unanswered(None, 1, at(0)));
        assert!(!silence.unanswered(None, 1, at(0)));
        silence.answered(|| None);
        assert!(!silence.unanswered(None, 1, at(0)));
        assert!(!silence.unanswered(None, 1, at(0)));
        assert!(silence.unanswered(None, 1, at(0)));
        for _ in 0..100 {
            assert!(
                !silence.unanswered(None, 1, at(999)),
                "others in flight find the same out"
            );
        }
        assert!(silence.unanswered(None, 1, at(1_000)));
        assert!(silence.unanswered(None, 3, at(2_000)), "of one command");
    }

    #[test]
    fn the_answers_of_other_nodes_prove_nothing() {
        let silence = Silence::new(2, Duration::from_secs(1));
        let node = |port| Some(Server::new("127.0.0.1", port));
        assert!(!silence.unanswered(node(1), 1, Monotonic::ORIGIN));
        silence.answered(|| node(2));
        assert!(silence.unanswered(node(1), 1, Monotonic::ORIGIN));
    }
}
