//! What is running now, on one line of a terminal; elsewhere a line per finished check.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;

use super::report::{Checked, grouped};

pub(super) struct Progress {
    is_live: bool,
    total: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    done: usize,
    running: BTreeMap<String, u64>,
}

impl Progress {
    pub(super) fn new(total: usize) -> Self {
        let is_live = std::io::stderr().is_terminal();
        Self {
            is_live,
            total,
            state: Mutex::default(),
        }
    }

    /// The check `id` is running and has found so many states.
    pub(super) fn found(&self, id: &str, states: u64) {
        if !self.is_live {
            return;
        }
        let Ok(mut state) = self.state.lock() else {
            return;
        };
        let news = state.running.insert(id.to_owned(), states) != Some(states);
        if news {
            eprint!("\r\x1b[2K{}", self.line(&state));
            let _ = std::io::stderr().flush();
        }
    }

    /// The check is done.
    pub(super) fn done(&self, row: &Checked) {
        let Ok(mut state) = self.state.lock() else {
            return;
        };
        state.done += 1;
        state.running.remove(&row.id);
        let clear = if self.is_live { "\r\x1b[2K" } else { "" };
        let (done, total) = (state.done, self.total);
        eprintln!(
            "{clear}[{done}/{total}] {} {}: {} ({})",
            row.source.shown(),
            row.id,
            row.verdict(),
            row.time()
        );
    }

    fn line(&self, state: &State) -> String {
        let running = state.running.iter().map(|(id, states)| match states {
            0 => id.clone(),
            states => format!("{id} ({} states)", grouped(*states)),
        });
        let running: Vec<_> = running.collect();
        let line = format!("[{}/{}] {}", state.done, self.total, running.join(" · "));
        // A line that wraps cannot be cleared.
        line.chars().take(79).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_what_runs_and_how_far_it_is() {
        let progress = Progress::new(9);
        let running = BTreeMap::from([("a".to_owned(), 0), ("b".to_owned(), 1_215)]);
        let state = State { done: 3, running };
        assert_eq!(progress.line(&state), "[3/9] a · b (1,215 states)");
    }
}
