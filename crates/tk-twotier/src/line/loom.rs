//! Every interleaving of requests at one line, up to loom's bound.
//!
//! Each thread is a request. Whoever begins a lease also flies it, as the limiter's task would, and brings the answer.

use std::convert::Infallible;

use loom::{
    sync::{
        Arc, Notify,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};
use tk_core::{FixedWindow, FixedWindowState, Grant, Monotonic, Timestamp};

use super::Line;
use crate::{Ask, LeaseRules, Spend, Verdict, sync::Mutex};

const NOW: Monotonic = Monotonic::ORIGIN;

/// A request that waits, and what it is told.
struct Ticket {
    told: Notify,
    verdict: AtomicUsize,
}

const WAITING: usize = 0;
const REFUSED: usize = 1;
const SERVED: usize = 2;

struct Node {
    line: Mutex<Line<Arc<Ticket>>>,
    store: Mutex<FixedWindowState>,
    strategy: FixedWindow,
    rules: LeaseRules,
    flights: AtomicUsize,
    admitted: AtomicUsize,
    granted: AtomicUsize,
}

impl Node {
    fn new(limit: u64, batch: u64) -> Arc<Self> {
        Arc::new(Self {
            line: Mutex::new(Line::new()),
            store: Mutex::new(FixedWindowState::default()),
            strategy: FixedWindow::per_minute(limit).expect("a limit within the range"),
            rules: LeaseRules::new(batch)
                .expect("a batch within the range")
                .coupled(true),
            flights: AtomicUsize::new(0),
            admitted: AtomicUsize::new(0),
            granted: AtomicUsize::new(0),
        })
    }

    /// One request of cost 1; a patient one waits to be told.
    fn request(&self, is_patient: bool) {
        let ticket = Arc::new(Ticket {
            told: Notify::new(),
            verdict: AtomicUsize::new(WAITING),
        });
        let mut line = self.line.lock();
        if let Spend::Served(_) = line.ledger.spend(NOW, 1) {
            drop(line);
            self.admitted.fetch_add(1, SeqCst);
            return;
        }
        let waiter = line.join(1, ticket.clone());
        let ask = line.ledger.begin(&self.rules, NOW);
        drop(line);
        if !is_patient {
            self.line.lock().leave(waiter);
        }
        if let Some(ask) = ask {
            self.fly(ask);
        }
        // Loom wakes for no reason now and then.
        while is_patient && ticket.verdict.load(SeqCst) == WAITING {
            ticket.told.wait();
        }
        if ticket.verdict.load(SeqCst) == SERVED {
            self.admitted.fetch_add(1, SeqCst);
        }
    }

    fn fly(&self, ask: Ask) {
        let mut next = Some(ask);
        while let Some(ask) = next {
            assert_eq!(self.flights.fetch_add(1, SeqCst), 0, "one lease in flight");
            let grant = Grant::charge::<_, Infallible>(
                &self.strategy,
                &mut self.store.lock(),
                Timestamp::EPOCH,
                ask.want(),
                ask.at_least(),
                0,
            )
            .expect("a cost that fits");
            self.granted.fetch_add(grant.amount as usize, SeqCst);
            self.flights.fetch_sub(1, SeqCst);
            let mut line = self.line.lock();
            let wall = Timestamp::EPOCH;
            let settlement = line.ledger.granted(&self.rules, ask, NOW, wall, &grant);
            let _ = line.settle(&settlement, |ticket, verdict| {
                let is_served = matches!(verdict, Verdict::Served(_));
                let verdict = if is_served { SERVED } else { REFUSED };
                ticket.verdict.store(verdict, SeqCst);
                ticket.told.notify();
            });
            next = line.ledger.begin(&self.rules, NOW);
        }
    }
}

/// Runs requests at once, and checks what must hold when all have ended.
fn explore(limit: u64, batch: u64, patience: &'static [bool]) {
    loom::model(move || {
        let node = Node::new(limit, batch);
        let threads: Vec<_> = patience
            .iter()
            .map(|is_patient| {
                let node = node.clone();
                thread::spawn(move || node.request(*is_patient))
            })
            .collect();
        for thread in threads {
            thread.join().expect("nobody panics");
        }
        let line = node.line.lock();
        let left = line.ledger.credits() as usize;
        let admitted = node.admitted.load(SeqCst);
        let granted = node.granted.load(SeqCst);
        assert!(!line.ledger.is_asking() && line.ledger.waiting() == 0);
        assert!(granted <= limit as usize);
        assert!(admitted + left <= granted);
        let patient = patience.iter().filter(|is_patient| **is_patient).count();
        if patient == patience.len() {
            assert_eq!(
                admitted,
                patient.min(limit as usize),
                "all are told, none in vain"
            );
            assert_eq!(admitted + left, granted, "no grant is lost");
        }
    });
}

#[test]
fn two_misses_share_one_flight() {
    explore(10, 2, &[true, true]);
}

#[test]
fn waiters_beyond_the_batch_ask_again() {
    explore(10, 1, &[true, true]);
}

#[test]
fn waiters_beyond_the_limit_are_denied() {
    explore(1, 1, &[true, true]);
}

#[test]
fn whoever_leaves_strands_nobody() {
    explore(10, 2, &[false, true]);
}

#[test]
fn three_requests_one_of_them_impatient() {
    explore(2, 2, &[true, false, true]);
}
