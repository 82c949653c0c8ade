//! Decisions computed elsewhere in exact rational arithmetic.
//!
//! A file of vectors is a JSON list of cases; a case names a strategy, its parameters, and the operations on
//! one key in their order, each with the decision expected. The committed set is [`COMMITTED`]; a program elsewhere prints as
//! many others as one likes.

use std::{fmt, time::Duration};

use serde::Deserialize;
use tk_core::{
    ConfigError, Decision, FixedWindow, Gcra, SlidingWindow, SlidingWindowLog, Strategy, Timestamp,
    TokenBucket,
};

/// The committed vectors: time that only advances, and time that also runs backwards.
pub const COMMITTED: [&str; 2] = [
    include_str!("../data/vectors.json"),
    include_str!("../data/vectors-backwards.json"),
];

/// Operations on one key under one strategy.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    /// The strategy, with its parameters.
    #[serde(flatten)]
    pub strategy: Params,
    /// The operations in their order.
    pub ops: Vec<Op>,
}

/// A strategy's parameters; durations are in microseconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "strategy", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are the strategies' own parameters")]
#[non_exhaustive]
pub enum Params {
    Gcra {
        limit: u64,
        period: u64,
        burst: u64,
    },
    TokenBucket {
        capacity: u64,
        refill: u64,
        period: u64,
    },
    FixedWindow {
        limit: u64,
        window: u64,
    },
    SlidingWindow {
        limit: u64,
        window: u64,
        buckets: u64,
    },
    SlidingWindowLog {
        limit: u64,
        window: u64,
    },
}

/// A check, and the decision expected.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Op {
    /// The instant, in microseconds since the epoch.
    pub now: u64,
    /// The cost.
    pub cost: u64,
    /// The decision.
    pub expect: Expected,
}

/// A decision in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of `Decision`")]
pub struct Expected {
    pub allowed: bool,
    pub limit: u64,
    pub remaining: u64,
    pub reset_at: u64,
    pub retry_after: u64,
}

impl From<Decision> for Expected {
    fn from(decision: Decision) -> Self {
        Self {
            allowed: decision.allowed,
            limit: decision.limit,
            remaining: decision.remaining,
            reset_at: decision.reset_at.as_micros(),
            // Decisions wait for less than 2^54 microseconds.
            retry_after: decision.retry_after.as_micros() as u64,
        }
    }
}

/// Where an answer differs from the one expected.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// The case, counted from 0, with its parameters.
    pub case: String,
    /// The operation within it, counted from 0.
    pub op: usize,
    /// The operation, with the decision expected.
    pub expected: Op,
    /// The answer.
    pub answered: Expected,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            case,
            op,
            expected,
            answered,
        } = self;
        write!(
            f,
            "{case}, op {op}: expected {expected:?}, answered {answered:?}"
        )
    }
}

/// Something that decides on one key: a strategy with a state, or a store.
pub trait Subject {
    /// Decides on `cost` at `now`.
    fn decide(&mut self, now: Timestamp, cost: u64) -> Decision;
}

/// A strategy with the state of one key.
#[derive(Clone, Debug)]
pub struct Pure<S: Strategy>(pub S, pub S::State);

impl<S: Strategy> Subject for Pure<S> {
    fn decide(&mut self, now: Timestamp, cost: u64) -> Decision {
        self.0.decide(&mut self.1, now, cost)
    }
}

/// Makes a subject for each strategy, with a new state.
pub trait Subjects {
    /// A subject under `strategy`.
    fn of<S: Strategy>(&mut self, strategy: S) -> Box<dyn Subject>;
}

/// The strategies themselves.
#[derive(Clone, Copy, Debug)]
pub struct PureSubjects;

impl Subjects for PureSubjects {
    fn of<S: Strategy>(&mut self, strategy: S) -> Box<dyn Subject> {
        Box::new(Pure(strategy, S::State::default()))
    }
}

/// One of the five strategies.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the variants are the strategies")]
#[non_exhaustive]
pub enum AnyStrategy {
    Gcra(Gcra),
    TokenBucket(TokenBucket),
    FixedWindow(FixedWindow),
    SlidingWindow(SlidingWindow),
    SlidingWindowLog(SlidingWindowLog),
}

impl Params {
    /// The strategy with these parameters.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if a parameter is out of range.
    pub fn build(&self) -> Result<AnyStrategy, ConfigError> {
        let span = Duration::from_micros;
        Ok(match *self {
            Self::Gcra {
                limit,
                period,
                burst,
            } => AnyStrategy::Gcra(Gcra::new(limit, span(period))?.burst(burst)?),
            Self::TokenBucket {
                capacity,
                refill,
                period,
            } => AnyStrategy::TokenBucket(TokenBucket::new(capacity, refill, span(period))?),
            Self::FixedWindow { limit, window } => {
                AnyStrategy::FixedWindow(FixedWindow::new(limit, span(window))?)
            }
            Self::SlidingWindow {
                limit,
                window,
                buckets,
            } => AnyStrategy::SlidingWindow(
                SlidingWindow::new(limit, span(window))?.buckets(buckets)?,
            ),
            Self::SlidingWindowLog { limit, window } => {
                AnyStrategy::SlidingWindowLog(SlidingWindowLog::new(limit, span(window))?)
            }
        })
    }

    /// A subject for these parameters.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if a parameter is out of range.
    pub fn subject(&self, subjects: &mut impl Subjects) -> Result<Box<dyn Subject>, ConfigError> {
        Ok(match self.build()? {
            AnyStrategy::Gcra(strategy) => subjects.of(strategy),
            AnyStrategy::TokenBucket(strategy) => subjects.of(strategy),
            AnyStrategy::FixedWindow(strategy) => subjects.of(strategy),
            AnyStrategy::SlidingWindow(strategy) => subjects.of(strategy),
            AnyStrategy::SlidingWindowLog(strategy) => subjects.of(strategy),
        })
    }
}

/// What a comparison found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Operations compared.
    pub operations: usize,
    /// Where the answers differ.
    pub disagreements: Vec<Disagreement>,
}

/// Reads a file of vectors.
///
/// # Errors
///
/// What is wrong with the text.
pub fn parse(text: &str) -> Result<Vec<Case>, serde_json::Error> {
    serde_json::from_str(text)
}

/// Compares the answers of `subjects` with those expected.
///
/// # Errors
///
/// [`ConfigError`] if a parameter is out of range.
pub fn compare(cases: &[Case], subjects: &mut impl Subjects) -> Result<Report, ConfigError> {
    let mut report = Report::default();
    for (number, case) in cases.iter().enumerate() {
        let mut subject = case.strategy.subject(subjects)?;
        for (op, &expected) in case.ops.iter().enumerate() {
            let now = Timestamp::from_micros(expected.now);
            let answered = Expected::from(subject.decide(now, expected.cost));
            report.operations += 1;
            if answered != expected.expect {
                let case = format!("case {number} {:?}", case.strategy);
                report.disagreements.push(Disagreement {
                    case,
                    op,
                    expected,
                    answered,
                });
            }
        }
    }
    Ok(report)
}
