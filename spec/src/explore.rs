//! A complete breadth-first search.
//!
//! It is ours, and small, rather than the `stateright` crate. Three things decided that: the counts have to be those of TLC, state by
//! state and without any reduction, so that nothing may come between a state and the set of states seen; a search has to end
//! at the first violation in one fixed order, so that its counts can be recorded; and the whole of what a reader has to
//! trust here is this file. There is no symmetry and no partial-order reduction in it, for any number of nodes.
//!
//! Breadth first, a counterexample is as short as there is one. Paths are not stored: each state
//! knows the one it was first reached from, and the steps between them are found again when they are to be shown.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::hash::Hash;
use std::rc::Rc;

/// Takes a step's description, which is formatted only if somebody reads it, and the state it leads to.
pub type Visit<'a, State> = &'a mut dyn FnMut(fmt::Arguments<'_>, State);

/// A system of states and steps.
pub trait System {
    /// All that the future depends on, in one form: states that behave alike should be equal.
    type State: Clone + Eq + Hash + fmt::Debug;

    /// Where it begins.
    fn starts(&self) -> Vec<Self::State>;

    /// Everything that can happen next.
    fn steps(&self, state: &Self::State, visit: Visit<'_, Self::State>);

    /// What the bounds are about: the units admitted.
    fn measure(&self, state: &Self::State) -> u64;

    /// What must hold in every state.
    fn always(&self) -> Vec<Law<Self>>;

    /// What must hold of every step, from its first state to its second.
    fn each_step(&self) -> Vec<StepLaw<Self>> {
        Vec::new()
    }

    /// What must be seen in some state, or the system does less than it is thought to do.
    fn sometimes(&self) -> Vec<Law<Self>>;
}

/// A named property of states.
pub struct Law<S: System + ?Sized> {
    /// As in the specification, if it is there.
    pub name: &'static str,
    /// Whether the state has it.
    pub holds: fn(&S, &S::State) -> bool,
}

/// A named property of steps.
pub struct StepLaw<S: System + ?Sized> {
    /// As in the specification.
    pub name: &'static str,
    /// Whether the step from the first state to the second has it.
    pub holds: fn(&S, &S::State, &S::State) -> bool,
}

/// What a search is to find out.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a search answers each of them")]
pub enum Question {
    /// Do all laws hold, is the measure at most this, and is everything seen that should be?
    Everything(u64),
    /// Is the measure at most this?
    AtMost(u64),
    /// Does the one law hold?
    Law(&'static str),
}

/// What a search found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Found {
    /// Why the answer is no, if it is.
    pub violation: Option<String>,
    /// Distinct states; up to the violation if there was one.
    pub states: u64,
    /// The highest measure.
    pub highest: u64,
    /// States on the longest of the shortest paths.
    pub depth: u64,
    /// The steps to the violation, or if there is none to a state of the highest measure, or the last one found.
    pub trace: Vec<String>,
}

impl Found {
    /// States in the counterexample, the first one counted, if there is one.
    #[must_use]
    pub fn counterexample(&self) -> Option<usize> {
        self.violation.as_ref().map(|_| self.trace.len() + 1)
    }
}

/// Goes through all states that can be reached, until the answer is no.
pub fn search<S: System>(system: &S, question: Question) -> Found {
    let mut search = Search::new(system, question);
    for start in system.starts() {
        search.reach(None, start);
    }
    let mut index = 0;
    while search.violation.is_none() && index < search.seen.len() {
        let state = Rc::clone(&search.seen[index].state);
        system.steps(&state, &mut |_, next| {
            if search.violation.is_none() {
                search.step(index, &state, next);
            }
        });
        index += 1;
    }
    search.finish()
}

struct Seen<State> {
    state: Rc<State>,
    from: Option<usize>,
    depth: u64,
}

struct Search<'a, S: System> {
    system: &'a S,
    question: Question,
    laws: Vec<Law<S>>,
    step_laws: Vec<StepLaw<S>>,
    unseen: Vec<Law<S>>,
    index: HashMap<Rc<S::State>, usize>,
    seen: Vec<Seen<S::State>>,
    /// The highest measure, and the first state that has it.
    highest: (u64, usize),
    violation: Option<(String, usize)>,
}

impl<'a, S: System> Search<'a, S> {
    fn new(system: &'a S, question: Question) -> Self {
        let asked = |name: &str| match question {
            Question::Everything(_) => true,
            Question::AtMost(_) => false,
            Question::Law(law) => law == name,
        };
        let complete = matches!(question, Question::Everything(_));
        let mut unseen = system.sometimes();
        unseen.retain(|_| complete);
        let mut laws = system.always();
        laws.retain(|law| asked(law.name));
        let mut step_laws = system.each_step();
        step_laws.retain(|law| asked(law.name));
        Self {
            system,
            question,
            laws,
            step_laws,
            unseen,
            index: HashMap::new(),
            seen: Vec::new(),
            highest: (0, 0),
            violation: None,
        }
    }

    fn step(&mut self, from: usize, state: &S::State, next: S::State) {
        let broken = (self.step_laws.iter()).find(|law| !(law.holds)(self.system, state, &next));
        let broken = broken.map(|law| law.name.to_owned());
        let to = self.reach(Some(from), next);
        if let Some(name) = broken {
            self.violation.get_or_insert((name, to));
        }
    }

    /// Adds a state if it is new.
    fn reach(&mut self, from: Option<usize>, state: S::State) -> usize {
        let state = Rc::new(state);
        let place = self.seen.len();
        match self.index.entry(Rc::clone(&state)) {
            Entry::Occupied(entry) => return *entry.get(),
            Entry::Vacant(entry) => entry.insert(place),
        };
        let depth = from.map_or(1, |from| self.seen[from].depth + 1);
        self.judge(&state, place);
        self.seen.push(Seen { state, from, depth });
        place
    }

    fn judge(&mut self, state: &S::State, place: usize) {
        let system = self.system;
        let measure = system.measure(state);
        if measure > self.highest.0 {
            self.highest = (measure, place);
        }
        let broken = self.laws.iter().find(|law| !(law.holds)(system, state));
        if let Some(law) = broken {
            self.violation.get_or_insert((law.name.to_owned(), place));
        }
        if let Question::Everything(bound) | Question::AtMost(bound) = self.question
            && measure > bound
        {
            self.violation
                .get_or_insert((format!("{measure} is more than {bound}"), place));
        }
        self.unseen.retain(|law| !(law.holds)(system, state));
    }

    fn finish(mut self) -> Found {
        let last = self.seen.len() - 1;
        if let Some(law) = self.unseen.first() {
            self.violation
                .get_or_insert((format!("never seen: {}", law.name), last));
        }
        let shown = match &self.violation {
            Some((_, place)) => *place,
            None if self.highest.0 > 0 => self.highest.1,
            None => last,
        };
        Found {
            states: self.seen.len() as u64,
            highest: self.highest.0,
            depth: self.seen.last().map_or(0, |seen| seen.depth),
            trace: self.trace(shown),
            violation: self.violation.map(|(name, _)| name),
        }
    }

    fn trace(&self, mut place: usize) -> Vec<String> {
        let mut steps = Vec::new();
        while let Some(from) = self.seen[place].from {
            steps.push(self.describe(from, place));
            place = from;
        }
        steps.reverse();
        steps
    }

    fn describe(&self, from: usize, to: usize) -> String {
        let mut description = String::new();
        let to = &self.seen[to].state;
        self.system
            .steps(&self.seen[from].state, &mut |step, next| {
                if description.is_empty() && next == **to {
                    let measure = self.system.measure(&next);
                    description = format!("{step} (admitted: {measure})");
                }
            });
        description
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts to five, by one or by two.
    struct Counter;

    impl System for Counter {
        type State = u64;

        fn starts(&self) -> Vec<u64> {
            vec![0]
        }

        fn steps(&self, state: &u64, visit: Visit<'_, u64>) {
            for by in [1, 2] {
                if state + by <= 5 {
                    visit(format_args!("add {by}"), state + by);
                }
            }
        }

        fn measure(&self, state: &u64) -> u64 {
            *state
        }

        fn always(&self) -> Vec<Law<Self>> {
            vec![Law {
                name: "IsNotThree",
                holds: |_, state| *state != 3,
            }]
        }

        fn each_step(&self) -> Vec<StepLaw<Self>> {
            vec![StepLaw {
                name: "OnlyGrows",
                holds: |_, before, after| before < after,
            }]
        }

        fn sometimes(&self) -> Vec<Law<Self>> {
            vec![Law {
                name: "six",
                holds: |_, state| *state == 6,
            }]
        }
    }

    #[test]
    fn every_state_is_counted_once() {
        let found = search(&Counter, Question::AtMost(5));
        assert_eq!(
            (found.violation, found.states, found.highest, found.depth),
            (None, 6, 5, 4)
        );
    }

    #[test]
    fn a_counterexample_is_a_shortest_one() {
        let found = search(&Counter, Question::Law("IsNotThree"));
        assert_eq!(found.violation.as_deref(), Some("IsNotThree"));
        assert_eq!(found.trace, ["add 1 (admitted: 1)", "add 2 (admitted: 3)"]);
        assert_eq!(search(&Counter, Question::AtMost(4)).trace.len(), 3);
    }

    #[test]
    fn what_should_be_seen_and_is_not_is_a_violation() {
        let only_three_is_wrong = search(&Counter, Question::Everything(5)).violation;
        assert_eq!(only_three_is_wrong.as_deref(), Some("IsNotThree"));
        assert!(
            search(&Counter, Question::Law("OnlyGrows"))
                .violation
                .is_none()
        );
    }
}
