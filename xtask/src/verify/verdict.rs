//! Compares what came out with what was recorded. Anything that differs is a surprise.

use super::models::{Expect, Model};
use super::output::{Outcome, Run};

/// What is surprising about this run of TLC, if anything is.
///
/// `checked` are the invariants that the configuration lists.
pub(crate) fn surprise(model: &Model, checked: &[String], run: &Run) -> Option<String> {
    if checked != model.checks {
        return Some(format!("{} checks {}", model.config, checked.join(", ")));
    }
    if !checked.contains(&model.invariant) {
        return Some(format!(
            "{} does not check {}",
            model.config, model.invariant
        ));
    }
    match (model.expect, &run.outcome) {
        (_, Outcome::Failed(complaint)) => Some(complaint.clone()),
        (Expect::Holds, Outcome::Violated(name)) => Some(format!("{name} is violated")),
        (Expect::Violated, Outcome::Holds) => {
            Some(format!("{} must be violated and holds", model.invariant))
        }
        (Expect::Violated, Outcome::Violated(name)) if *name != model.invariant => Some(format!(
            "{name} is violated, where {} must be",
            model.invariant
        )),
        _ => count_surprise(model, run),
    }
}

/// Counts must be recorded where a claim holds: a model that shrinks to nothing proves nothing.
fn count_surprise(model: &Model, run: &Run) -> Option<String> {
    if model.expect == Expect::Holds && model.states.is_none() {
        let found = run.states.unwrap_or(0);
        return Some(format!("{found} states, and no count is recorded"));
    }
    let steps = (model.expect == Expect::Violated).then_some(run.trace.len() as u64);
    differs("states", model.states, run.states)
        .or_else(|| differs("levels", model.depth, run.depth))
        .or_else(|| differs("states in the counterexample", model.trace, steps))
}

fn differs(what: &str, recorded: Option<u64>, found: Option<u64>) -> Option<String> {
    let recorded = recorded?;
    let shown = found.map_or_else(|| "no".to_owned(), |found| found.to_string());
    (found != Some(recorded)).then(|| format!("{shown} {what}, recorded are {recorded}"))
}

#[cfg(test)]
mod tests {
    use super::super::models::{Kind, Tier};
    use super::*;

    fn checked() -> Vec<String> {
        vec!["TypeOK".to_owned(), "Small".to_owned()]
    }

    fn model(expect: Expect, states: Option<u64>) -> Model {
        Model {
            id: "toy".to_owned(),
            module: "Toy".to_owned(),
            config: "Toy.cfg".to_owned(),
            constants: "Max=5".to_owned(),
            claim: "small stays small".to_owned(),
            kind: Kind::Bound,
            expect,
            invariant: "Small".to_owned(),
            checks: checked(),
            bound: Some(3),
            states,
            depth: None,
            trace: None,
            tier: Tier::Ci,
            seconds: 1.0,
        }
    }

    fn run(outcome: Outcome, states: u64) -> Run {
        let trace = vec!["x = 0".to_owned()];
        Run {
            outcome,
            states: Some(states),
            depth: Some(3),
            trace,
        }
    }

    fn violated(name: &str) -> Outcome {
        Outcome::Violated(name.to_owned())
    }

    fn check(model: &Model, run: &Run) -> Option<String> {
        surprise(model, &checked(), run)
    }

    #[test]
    fn what_was_recorded_surprises_nobody() {
        assert_eq!(
            check(&model(Expect::Holds, Some(6)), &run(Outcome::Holds, 6)),
            None
        );
        assert_eq!(
            check(
                &model(Expect::Violated, Some(5)),
                &run(violated("Small"), 5)
            ),
            None
        );
        assert_eq!(
            check(&model(Expect::Violated, None), &run(violated("Small"), 5)),
            None
        );
    }

    #[test]
    fn a_planted_wrong_count_is_caught() {
        let surprise = check(&model(Expect::Holds, Some(7)), &run(Outcome::Holds, 6));
        assert_eq!(surprise.as_deref(), Some("6 states, recorded are 7"));
    }

    #[test]
    fn a_check_that_must_fail_and_passes_is_caught() {
        let surprise = check(&model(Expect::Violated, None), &run(Outcome::Holds, 6));
        assert_eq!(
            surprise.as_deref(),
            Some("Small must be violated and holds")
        );
    }

    #[test]
    fn a_violation_of_another_invariant_does_not_count() {
        let surprise = check(&model(Expect::Violated, None), &run(violated("TypeOK"), 5));
        assert_eq!(
            surprise.as_deref(),
            Some("TypeOK is violated, where Small must be")
        );
    }

    #[test]
    fn an_error_is_not_the_violation_that_was_expected() {
        let failed = Outcome::Failed("TLC error 2229".to_owned());
        assert!(check(&model(Expect::Violated, None), &run(failed, 5)).is_some());
    }

    #[test]
    fn a_configuration_that_checks_nothing_proves_nothing() {
        let surprise = surprise(&model(Expect::Holds, Some(6)), &[], &run(Outcome::Holds, 6));
        assert!(surprise.is_some());
        let model = Model {
            checks: Vec::new(),
            ..model(Expect::Holds, Some(6))
        };
        let surprise = super::surprise(&model, &[], &run(Outcome::Holds, 6));
        assert_eq!(surprise.as_deref(), Some("Toy.cfg does not check Small"));
    }

    #[test]
    fn a_counterexample_of_another_length_is_caught() {
        let mut model = model(Expect::Violated, None);
        model.trace = Some(2);
        let surprise = check(&model, &run(violated("Small"), 5));
        let expected = "1 states in the counterexample, recorded are 2";
        assert_eq!(surprise.as_deref(), Some(expected));
    }

    #[test]
    fn a_claim_that_holds_needs_a_recorded_count() {
        assert!(check(&model(Expect::Holds, None), &run(Outcome::Holds, 6)).is_some());
    }
}
