//! Reads what TLC prints under `-tool`: messages between marked lines, each with a number.
//!
//! The numbers say what plain text leaves to guessing, so nothing here takes a parse error, an
//! evaluation error or a killed process for a violated invariant, nor silence for success.

/// Numbers of TLC's messages (its class `EC`) that decide something.
mod code {
    pub(super) const INVARIANT_VIOLATED_AT_START: u32 = 2107;
    pub(super) const INVARIANT_VIOLATED: u32 = 2110;
    pub(super) const BEHAVIOUR_FOLLOWS: u32 = 2121;
    pub(super) const FINISHED: u32 = 2186;
    pub(super) const NO_ERROR_FOUND: u32 = 2193;
    pub(super) const DEPTH: u32 = 2194;
    pub(super) const FINAL_COUNTS: u32 = 2199;
    pub(super) const PROGRESS: u32 = 2200;
    pub(super) const STATE: u32 = 2217;
}

/// TLC's exit code when an invariant is violated.
const EXIT_VIOLATED: i32 = 12;

/// What one run of TLC has shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) outcome: Outcome,
    /// Distinct states found, if TLC came to count any.
    pub(crate) states: Option<u64>,
    /// States on the longest of the shortest paths, if the search came to an end.
    pub(crate) depth: Option<u64>,
    /// The states of the counterexample, as TLC prints them.
    pub(crate) trace: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Every reachable state was visited and satisfies every invariant.
    Holds,
    /// A reachable state breaks this invariant.
    Violated(String),
    /// Anything else; nothing is known.
    Failed(String),
}

/// Fed line by line, so that progress can be shown while TLC runs.
#[derive(Default)]
pub(crate) struct Parser {
    /// Messages that have begun, the innermost last: an exception's message holds its cause.
    open: Vec<Message>,
    errors: Vec<Message>,
    trace: Vec<String>,
    counts: Option<Counts>,
    depth: Option<u64>,
    no_error_found: bool,
    finished: bool,
}

#[derive(Default)]
struct Message {
    code: u32,
    /// 1: error, 2: a fault of TLC's own; the others say nothing about success.
    class: u32,
    text: String,
}

#[derive(Clone, Copy)]
struct Counts {
    distinct: u64,
    left_on_queue: u64,
}

impl Parser {
    pub(crate) fn feed(&mut self, line: &str) {
        if let Some((code, class)) = start_of(line) {
            let text = String::new();
            self.open.push(Message { code, class, text });
        } else if line.contains("@!@!@ENDMSG ") {
            self.close();
        } else if let Some(open) = self.open.last_mut() {
            open.text.push_str(line);
            open.text.push('\n');
        }
    }

    /// Distinct states found so far.
    pub(crate) fn states(&self) -> Option<u64> {
        self.counts.map(|counts| counts.distinct)
    }

    fn close(&mut self) {
        let Some(message) = self.open.pop() else {
            return;
        };
        if let Some(outer) = self.open.last_mut() {
            outer.text.push_str(&message.text);
        }
        match message.code {
            code::NO_ERROR_FOUND => self.no_error_found = true,
            code::FINISHED => self.finished = true,
            code::FINAL_COUNTS | code::PROGRESS => {
                self.counts = counts_in(&message.text).or(self.counts);
            }
            code::DEPTH => self.depth = depth_in(&message.text),
            code::STATE => self.trace.push(message.text.trim().to_owned()),
            _ => {}
        }
        if matches!(message.class, 1 | 2) {
            self.errors.push(message);
        }
    }

    /// The verdict, strictly: whatever does not add up is a failure.
    pub(crate) fn finish(self, exit_code: Option<i32>) -> Run {
        let said_all = self.finished && self.open.is_empty();
        let outcome = match (self.violated(), exit_code) {
            (Some(name), Some(EXIT_VIOLATED)) if said_all => Outcome::Violated(name),
            (None, Some(0)) if said_all && self.is_complete() => Outcome::Holds,
            _ => Outcome::Failed(self.complaint(exit_code)),
        };
        Run {
            outcome,
            states: self.states(),
            depth: self.depth,
            trace: self.trace,
        }
    }

    /// The violated invariant, if that is all that went wrong.
    fn violated(&self) -> Option<String> {
        let (first, rest) = self.errors.split_first()?;
        let is_violation = match first.code {
            code::INVARIANT_VIOLATED_AT_START => rest.is_empty(),
            code::INVARIANT_VIOLATED => rest
                .iter()
                .all(|error| error.code == code::BEHAVIOUR_FOLLOWS),
            _ => false,
        };
        let name = first.text.strip_prefix("Invariant ")?.split(' ').next()?;
        is_violation.then(|| name.to_owned())
    }

    fn is_complete(&self) -> bool {
        let nothing_left = self.counts.is_some_and(|counts| counts.left_on_queue == 0);
        self.errors.is_empty() && self.no_error_found && nothing_left
    }

    fn complaint(&self, exit_code: Option<i32>) -> String {
        match (self.errors.first(), exit_code) {
            (Some(error), _) => {
                let text: Vec<_> = self.errors.iter().map(|error| error.text.trim()).collect();
                format!("TLC error {}: {}", error.code, text.join("\n"))
            }
            (None, Some(code)) => format!("TLC ended with code {code} before it was done"),
            (None, None) => "TLC was killed".to_owned(),
        }
    }
}

/// Reads `@!@!@STARTMSG 2110:1 @!@!@`, wherever on the line it stands.
fn start_of(line: &str) -> Option<(u32, u32)> {
    let (_, rest) = line.split_once("@!@!@STARTMSG ")?;
    let (code, class) = rest.split_whitespace().next()?.split_once(':')?;
    Some((code.parse().ok()?, class.parse().ok()?))
}

/// `31 states generated, 8 distinct states found, 0 states left on queue.`
fn counts_in(text: &str) -> Option<Counts> {
    Some(Counts {
        distinct: number_before(text, " distinct states found")?,
        left_on_queue: number_before(text, " states left on queue")?,
    })
}

/// `The depth of the complete state graph search is 6.`
fn depth_in(text: &str) -> Option<u64> {
    text.trim()
        .rsplit(' ')
        .next()?
        .trim_end_matches('.')
        .parse()
        .ok()
}

/// The number that ends right before `phrase`; thousands may be set apart with commas.
fn number_before(text: &str, phrase: &str) -> Option<u64> {
    let (before, _) = text.split_once(phrase)?;
    // A rate may stand between: `6 distinct states found (392 ds/min)` has it after the phrase.
    let number = before.rsplit(' ').next()?;
    number.replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What TLC 2.15 printed for small modules, and the exit code it ended with.
    fn run_of(captured: &str, exit_code: i32) -> Run {
        let mut parser = Parser::default();
        captured.lines().for_each(|line| parser.feed(line));
        parser.finish(Some(exit_code))
    }

    fn assert_failed(run: &Run, why: &str) {
        let Outcome::Failed(complaint) = &run.outcome else {
            panic!("{run:?} is not a failure")
        };
        assert!(
            complaint.contains(why),
            "{complaint:?} does not say {why:?}"
        );
    }

    const HOLDS: &str = include_str!("../../captured/holds.txt");
    const VIOLATED: &str = include_str!("../../captured/violated.txt");

    #[test]
    fn a_complete_run_without_errors_holds() {
        let run = run_of(HOLDS, 0);
        assert_eq!(run.outcome, Outcome::Holds);
        assert_eq!(
            (run.states, run.depth, run.trace.len()),
            (Some(6), Some(6), 0)
        );
    }

    #[test]
    fn a_violated_invariant_is_named_with_its_trace() {
        let run = run_of(VIOLATED, 12);
        assert_eq!(run.outcome, Outcome::Violated("Small".to_owned()));
        assert_eq!(run.states, Some(5));
        assert_eq!(run.trace.len(), 5);
        assert!(run.trace[4].ends_with("x = 4"), "{:?}", run.trace[4]);
    }

    #[test]
    fn a_violation_by_an_initial_state_counts_too() {
        let run = run_of(include_str!("../../captured/violated_at_start.txt"), 12);
        assert_eq!(run.outcome, Outcome::Violated("Small".to_owned()));
    }

    #[test]
    fn other_errors_are_never_taken_for_a_violation() {
        let deadlock = run_of(include_str!("../../captured/deadlock.txt"), 11);
        assert_failed(&deadlock, "Deadlock reached");
        let unknown = run_of(include_str!("../../captured/unknown_invariant.txt"), 151);
        assert_failed(&unknown, "Nope");
        let mistyped = run_of(include_str!("../../captured/type_error.txt"), 75);
        assert_failed(&mistyped, "non-integer");
        let no_config = run_of(include_str!("../../captured/no_config.txt"), 255);
        assert_failed(&no_config, "File not found");
    }

    #[test]
    fn a_truncated_run_never_holds() {
        let lines: Vec<_> = HOLDS.lines().collect();
        for length in 0..lines.len() {
            let run = run_of(&lines[..length].join("\n"), 0);
            assert_ne!(run.outcome, Outcome::Holds, "cut after line {length}");
        }
    }

    #[test]
    fn the_exit_code_must_agree_with_the_words() {
        assert_failed(&run_of(HOLDS, 1), "ended with code 1");
        assert_failed(&run_of(VIOLATED, 0), "Small");
    }

    #[test]
    fn states_left_on_the_queue_mean_an_unfinished_search() {
        let unfinished = HOLDS.replace(" 0 states left", " 3 states left");
        assert_failed(&run_of(&unfinished, 0), "before it was done");
    }

    #[test]
    fn thousands_are_read() {
        let text = "Progress(9) at now: 1,234,567 states generated (9 s/min), 65,432 distinct states found (7 ds/min), 21 states left on queue.";
        let counts = counts_in(text).expect("the line has both counts");
        assert_eq!((counts.distinct, counts.left_on_queue), (65_432, 21));
    }
}
