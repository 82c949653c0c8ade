//! Sliding window log.
//!
//! A log is too large to be sent with each answer; the script sends what a decision needs to know of it, a [`LogView`].

use std::time::Duration;

use tk_core::{Decision, LogView, Mark, SlidingWindowLog, Strategy, Timestamp};

use super::sealed::Dialect;
use crate::{
    operation::{Arguments, Operation},
    reply::numbers,
    script::{LOG, Scripts},
};

/// A log that is seen through a view of it. The view's blocking instant is right for one cost: the one it was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Viewed(SlidingWindowLog);

impl Strategy for Viewed {
    type State = LogView;

    fn capacity(&self) -> u64 {
        self.0.limit()
    }

    fn decide(&self, view: &mut LogView, now: Timestamp, cost: u64) -> Decision {
        let decision = self.0.answer(*view, now, cost);
        if decision.allowed && cost > 0 {
            view.live += cost;
            view.newest = view.newest.max(now.as_micros());
        }
        decision
    }

    fn span(&self, _view: &LogView, _now: Timestamp) -> Duration {
        self.0.window()
    }

    /// As [`SlidingWindowLog`] marks its grants: the instant, with the scale.
    fn mark(&self, view: &LogView, now: Timestamp) -> Mark {
        let at = view.newest.max(now.as_micros());
        Mark(u128::from(at) << 64 | self.0.window().as_micros())
    }
}

impl Dialect for SlidingWindowLog {
    type Rule = Viewed;

    const NAME: &'static str = "log";

    fn scripts() -> &'static Scripts {
        &LOG
    }

    fn rule(&self) -> Viewed {
        Viewed(*self)
    }

    fn arguments(&self, operation: Operation, arguments: &mut Arguments) -> Option<()> {
        let window = self.window().as_micros() as u64;
        arguments.push(window);
        arguments.push(self.limit());
        match operation {
            Operation::Peek { cost } | Operation::Check { cost } => arguments.push(cost),
            Operation::Lease { want, at_least } => {
                arguments.push(want);
                arguments.push(at_least);
            }
            Operation::GiveBack { mark, amount } => {
                if mark.0 as u64 != window {
                    return None;
                }
                arguments.push((mark.0 >> 64) as u64);
                arguments.push(amount);
            }
        }
        Some(())
    }

    fn read(state: &[u8]) -> Option<LogView> {
        let [live, newest, blocking] = numbers(str::from_utf8(state).ok()?)?;
        Some(LogView {
            live,
            newest,
            blocking,
        })
    }
}
