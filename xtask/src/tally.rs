//! The closing lines of test runners, kept and added up.
//!
//! A run of many steps buries them; CI prints them again at its end, with a total that any reader,
//! or program, finds on the last line.

/// What the runs so far have said at their ends.
#[derive(Default)]
pub(crate) struct Tally {
    closing_lines: Vec<String>,
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Tally {
    /// Reads one line of a runner's output and keeps it if it is a closing one.
    pub(crate) fn watch(&mut self, line: &str) {
        let plain = without_colour(line);
        // Under nextest a failed test's own closing line comes again, indented; it is not one more.
        let counts = nextest_counts(plain.trim()).or_else(|| libtest_counts(&plain));
        let Some(counts) = counts else {
            return;
        };
        self.passed += counts.passed;
        self.failed += counts.failed;
        self.skipped += counts.skipped;
        // Dozens of empty doctest and binary runs would bury the ones that say something.
        if counts.passed + counts.failed > 0 {
            self.closing_lines.push(plain.trim().to_owned());
        }
    }

    /// Tests that ran, to whatever end.
    pub(crate) fn ran(&self) -> u64 {
        self.passed + self.failed
    }

    /// The closing lines, then the total alone on the last line.
    pub(crate) fn shown(&self) -> String {
        let mut lines = self.closing_lines.clone();
        lines.push(format!(
            "total: {} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        ));
        lines.join("\n")
    }
}

struct Counts {
    passed: u64,
    failed: u64,
    skipped: u64,
}

/// `Summary [   0.9s] 12 tests run: 11 passed (1 slow), 1 failed, 3 skipped`
fn nextest_counts(line: &str) -> Option<Counts> {
    let (_, rest) = line.strip_prefix("Summary [")?.split_once("] ")?;
    let (run, outcomes) = rest.split_once(" run: ")?;
    // An interrupted run says `5/12 tests run`.
    let run = run.split([' ', '/']).next()?.parse::<u64>().ok()?;
    let passed = count_before(outcomes, " passed");
    // Failed, timed out and not executed alike: whatever ran and did not pass.
    Some(Counts {
        passed,
        failed: run.saturating_sub(passed),
        skipped: count_before(outcomes, " skipped"),
    })
}

/// `test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s`
fn libtest_counts(line: &str) -> Option<Counts> {
    let rest = line.strip_prefix("test result: ")?;
    Some(Counts {
        passed: count_before(rest, " passed"),
        failed: count_before(rest, " failed"),
        skipped: count_before(rest, " ignored"),
    })
}

/// The number that stands before `word`, 0 if there is none.
fn count_before(text: &str, word: &str) -> u64 {
    let Some((before, _)) = text.split_once(word) else {
        return 0;
    };
    let digits = before
        .rsplit(|c: char| !c.is_ascii_digit())
        .next()
        .unwrap_or_default();
    digits.parse().unwrap_or(0)
}

/// The line without terminal escapes of the form `ESC [ ... letter`.
fn without_colour(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            let _ = characters.find(char::is_ascii_alphabetic);
        } else {
            plain.push(character);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total_of(lines: &[&str]) -> String {
        let mut tally = Tally::default();
        for line in lines {
            tally.watch(line);
        }
        tally.shown().lines().last().unwrap_or_default().to_owned()
    }

    #[test]
    fn both_runners_are_read() {
        let total = total_of(&[
            "     Summary [   1.234s] 12 tests run: 10 passed (1 slow), 1 failed, 1 timed out, 3 skipped",
            "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s",
            "test some::case ... ok",
        ]);
        assert_eq!(total, "total: 15 passed, 2 failed, 4 skipped");
    }

    #[test]
    fn colours_do_not_hide_a_closing_line() {
        let total = total_of(&[
            "\u{1b}[32;1m     Summary\u{1b}[0m [   0.010s] \u{1b}[1m1\u{1b}[0m test run: \u{1b}[1m1\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m, \u{1b}[1m0\u{1b}[0m \u{1b}[33;1mskipped\u{1b}[0m",
        ]);
        assert_eq!(total, "total: 1 passed, 0 failed, 0 skipped");
    }

    #[test]
    fn what_nextest_shows_of_a_failed_test_is_not_counted_again() {
        let total = total_of(&[
            "    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out",
            "     Summary [   0.100s] 2 tests run: 1 passed, 1 failed, 0 skipped",
        ]);
        assert_eq!(total, "total: 1 passed, 1 failed, 0 skipped");
    }

    #[test]
    fn a_run_without_tests_is_counted_and_not_shown() {
        let mut tally = Tally::default();
        tally.watch("test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
        assert_eq!(tally.ran(), 0);
        assert_eq!(tally.shown(), "total: 0 passed, 0 failed, 0 skipped");
    }
}
