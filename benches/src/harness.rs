//! Contenders take turns.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Control, Stopwatch};

/// One of those that are compared.
pub struct Contender<'a> {
    name: String,
    body: Box<dyn Fn(usize, usize) + Sync + 'a>,
}

impl std::fmt::Debug for Contender<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Contender").field(&self.name).finish()
    }
}

impl<'a> Contender<'a> {
    /// `body(thread, operations)` performs that many operations on the thread of that number.
    pub fn new(name: impl Into<String>, body: impl Fn(usize, usize) + Sync + 'a) -> Self {
        Self {
            name: name.into(),
            body: Box::new(body),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Blocks per contender.
    pub rounds: usize,
    /// Operations per block and thread.
    pub operations: usize,
    /// Threads that run a block together.
    pub threads: usize,
}

/// Runs contenders in turns.
#[derive(Debug)]
pub struct Harness {
    control: Control,
    repeated: usize,
    kept_disturbed: usize,
}

/// How often a disturbed block is repeated before it is kept as it is.
const PATIENCE: usize = 4;

impl Harness {
    /// A harness on a machine whose usual speed it has measured.
    #[must_use]
    pub fn new() -> Self {
        Self {
            control: Control::calibrate(),
            repeated: 0,
            kept_disturbed: 0,
        }
    }

    /// Blocks repeated because the machine was disturbed, and blocks kept although it was.
    #[must_use]
    pub const fn disturbances(&self) -> (usize, usize) {
        (self.repeated, self.kept_disturbed)
    }

    /// Nanoseconds per operation, as a thread sees it, of each contender: the median of its blocks.
    pub fn compare(&mut self, plan: Plan, contenders: &[Contender<'_>]) -> Vec<f64> {
        let mut samples = vec![Vec::new(); contenders.len()];
        for contender in contenders {
            // Once without looking, so that caches and branch predictors know everybody.
            block(plan, contender);
        }
        for round in 0..plan.rounds {
            for turn in 0..contenders.len() {
                let at = (turn + round) % contenders.len();
                samples[at].push(self.calm_block(plan, &contenders[at]));
            }
        }
        samples.into_iter().map(median).collect()
    }

    fn calm_block(&mut self, plan: Plan, contender: &Contender<'_>) -> f64 {
        let mut sample = f64::NAN;
        for _ in 0..PATIENCE {
            let before = self.control.is_calm();
            sample = block(plan, contender);
            if before && self.control.is_calm() {
                return sample;
            }
            self.repeated += 1;
        }
        self.kept_disturbed += 1;
        sample
    }
}

impl Default for Harness {
    fn default() -> Self {
        Self::new()
    }
}

/// Nanoseconds per operation of one block, averaged over its threads.
fn block(plan: Plan, contender: &Contender<'_>) -> f64 {
    let timed = |thread| {
        let stopwatch = Stopwatch::start();
        (contender.body)(thread, plan.operations);
        stopwatch.elapsed().as_nanos() as f64 / plan.operations as f64
    };
    if plan.threads == 1 {
        return timed(0);
    }
    let (ready, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let run = &|thread| {
        ready.fetch_add(1, Ordering::AcqRel);
        while ready.load(Ordering::Acquire) < plan.threads {
            std::hint::spin_loop();
        }
        let nanoseconds = timed(thread);
        done.fetch_add(1, Ordering::AcqRel);
        // Whoever is done goes on, so that nobody is timed while alone.
        while done.load(Ordering::Acquire) < plan.threads {
            (contender.body)(thread, plan.operations / 20);
        }
        nanoseconds
    };
    let total: f64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..plan.threads)
            .map(|thread| scope.spawn(move || run(thread)))
            .collect();
        // A contender that panics shows as a figure that is none.
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or(f64::NAN))
            .sum()
    });
    total / plan.threads as f64
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}
