//! What is claimed of which system, row by row.
//!
//! The counts are in `spec/twins.json`, as they were recorded; nothing here says what they are.

mod apart;
mod atomic;
mod federated;
mod pool;
mod returning;
mod skewed;

use std::fmt;

use serde_json::{Value, json};

use crate::explore::{Found, Question, System, search};

/// What a row is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the records have these three and no more"
)]
pub enum Kind {
    /// A bound that holds.
    Bound,
    /// The same bound less one, which must be violated: the bound is reached.
    Tightness,
    /// The protocol with a rule broken, which must be noticed.
    Fault,
}

/// A claim about a system, and how to find out.
#[non_exhaustive]
pub struct Row {
    /// Its name. Rows that explore the system of a TLC row are named like that.
    pub id: String,
    /// The module that it is a twin of.
    pub model: &'static str,
    /// Its constants, as an object.
    pub constants: Value,
    /// What is claimed.
    pub claim: String,
    /// What it is for.
    pub kind: Kind,
    /// Whether it is too large for every change.
    pub is_deep: bool,
    /// Whether the TLC row of the same name must count the same.
    pub is_same: bool,
    /// Whether the measure is worth recording.
    has_measure: bool,
    run: Box<dyn Fn() -> Found>,
}

impl Row {
    /// Whether the claim must hold.
    #[must_use]
    pub fn must_hold(&self) -> bool {
        self.kind == Kind::Bound
    }

    /// Explores it.
    #[must_use]
    pub fn explore(&self) -> Found {
        (self.run)()
    }

    /// The row as `cargo xtask verify` reads it.
    #[must_use]
    pub fn result(&self, found: &Found, seconds: f64) -> Value {
        let told = |holds: bool| if holds { "holds" } else { "violated" };
        let trace = found
            .violation
            .iter()
            .map(|violation| format!("violated: {violation}"));
        let trace: Vec<String> = if found.violation.is_some() {
            found.trace.iter().cloned().chain(trace).collect()
        } else {
            Vec::new()
        };
        json!({
            "id": self.id, "model": self.model, "constants": self.constants, "claim": self.claim,
            "expect": told(self.must_hold()), "outcome": told(found.violation.is_none()),
            "states": found.states, "max": self.measured(found), "seconds": seconds, "trace": trace,
        })
    }

    /// The row as it is recorded.
    #[must_use]
    pub fn record(&self, found: &Found) -> Value {
        let mut record = json!({
            "id": self.id, "model": self.model, "constants": self.constants, "claim": self.claim,
            "kind": self.kind.to_string(), "expect": if self.must_hold() { "holds" } else { "violated" },
            "states": found.states, "max": self.measured(found), "trace": found.counterexample(),
            "tier": if self.is_deep { "deep" } else { "ci" },
        });
        if self.is_same {
            record["same_as"] = json!(self.id);
        }
        record
    }

    fn measured(&self, found: &Found) -> Option<u64> {
        self.has_measure.then_some(found.highest)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bound => "bound",
            Self::Tightness => "tightness",
            Self::Fault => "fault",
        })
    }
}

/// All rows, each system's from the simplest on.
#[must_use]
pub fn rows() -> Vec<Row> {
    let mut catalog = Catalog::default();
    atomic::add(&mut catalog);
    apart::add(&mut catalog);
    returning::add(&mut catalog);
    skewed::add(&mut catalog);
    federated::add(&mut catalog);
    pool::add(&mut catalog);
    catalog.rows
}

/// Names a row and says what it is about.
#[derive(Clone)]
struct About {
    model: &'static str,
    name: String,
    constants: Value,
    claim: String,
    is_deep: bool,
    is_same: bool,
}

#[derive(Default)]
struct Catalog {
    rows: Vec<Row>,
}

impl Catalog {
    /// A bound that holds with all that belongs to it, and the row that shows that it is reached.
    fn bound<S: System + Clone + 'static>(&mut self, about: About, system: S, bound: u64) {
        let tight = About {
            name: format!("{}_tight", about.name),
            claim: format!("{}: one less is violated", about.claim),
            is_same: false,
            ..about.clone()
        };
        self.holds(about, system.clone(), bound);
        self.add(Kind::Tightness, tight, system, Question::AtMost(bound - 1));
    }

    /// A bound that nothing is known to reach, or whose tightness another row shows.
    fn holds<S: System + 'static>(&mut self, about: About, system: S, bound: u64) {
        self.add(Kind::Bound, about, system, Question::Everything(bound));
    }

    /// A broken rule, and the claim that falls with it.
    fn fault<S: System + 'static>(&mut self, about: About, system: S, question: Question) {
        let about = About {
            is_same: false,
            ..about
        };
        self.add(Kind::Fault, about, system, question);
    }

    fn add<S: System + 'static>(
        &mut self,
        kind: Kind,
        about: About,
        system: S,
        question: Question,
    ) {
        self.rows.push(Row {
            id: format!("{}/{}", about.model, about.name),
            model: about.model,
            constants: about.constants,
            claim: about.claim,
            kind,
            is_deep: about.is_deep,
            is_same: about.is_same,
            has_measure: !matches!(question, Question::Law(_)),
            run: Box::new(move || search(&system, question)),
        });
    }
}
