//! The strategies that have scripts, and how each speaks with its own.

mod fixed_window;
mod log;
mod sliding_window;
mod tat;

use tk_core::Strategy;

use crate::{
    operation::{Arguments, Operation},
    script::Scripts,
};

/// A strategy that a [`RedisStore`](crate::RedisStore) can apply: the five of `tk-core`.
///
/// It cannot be implemented elsewhere, since each needs scripts that do its arithmetic. A strategy of one's own needs a store
/// that keeps its state as a whole.
pub trait Scripted: Strategy + sealed::Dialect {}

impl<S: Strategy + sealed::Dialect> Scripted for S {}

pub(crate) mod sealed {
    use super::{Arguments, Operation, Scripts, Strategy};

    /// What a strategy tells its scripts, and how it reads their answers.
    pub trait Dialect: Strategy {
        /// Decides on what the scripts answer.
        type Rule: Strategy;

        /// The strategy's name in keys.
        const NAME: &'static str;

        fn scripts() -> &'static Scripts;

        fn rule(&self) -> Self::Rule;

        /// Appends the strategy's arguments; `None` if the script would take nothing back, so that it need not be called.
        fn arguments(&self, operation: Operation, arguments: &mut Arguments) -> Option<()>;

        /// The state in a script's answer; `None` if it makes no sense.
        fn read(state: &[u8]) -> Option<<Self::Rule as Strategy>::State>;
    }
}
