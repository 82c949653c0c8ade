//! Fixed window.

use tk_core::{FixedWindow, FixedWindowState};

use super::sealed::Dialect;
use crate::{
    operation::{Arguments, Operation},
    reply::packed,
    script::{FIXED_WINDOW, Scripts},
};

impl Dialect for FixedWindow {
    type Rule = Self;

    const NAME: &'static str = "fixed";

    fn scripts() -> &'static Scripts {
        &FIXED_WINDOW
    }

    fn rule(&self) -> Self {
        *self
    }

    fn arguments(&self, operation: Operation, arguments: &mut Arguments) -> Option<()> {
        let window = self.window().as_micros() as u64;
        arguments.push(window);
        arguments.push(self.limit());
        match operation {
            Operation::Peek { .. } => {}
            Operation::Check { cost } => arguments.push(cost),
            Operation::Lease { want, at_least } => {
                arguments.push(want);
                arguments.push(at_least);
            }
            Operation::GiveBack { mark, amount } => {
                let (start, granted_under) = ((mark.0 >> 64) as u64, mark.0 as u64);
                if granted_under != window {
                    return None;
                }
                arguments.push(start);
                arguments.push(amount);
            }
        }
        Some(())
    }

    fn read(state: &[u8]) -> Option<FixedWindowState> {
        if state.is_empty() {
            return Some(FixedWindowState::default());
        }
        let [start, used, window, _incarnation] = packed(state)?;
        Some(FixedWindowState {
            start,
            used,
            window,
        })
    }
}
