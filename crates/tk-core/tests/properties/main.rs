//! What a decision promises, over any state that a key can be in.
//!
//! A state is reached by a random story: checks, leases, hand-backs, a clock that mostly advances, and now and then
//! another strategy. Then the strategy in force must keep each promise. `QUICKCHECK_TESTS` in the environment sets how
//! many stories are told.

mod bounds;
mod change;
mod promises;
mod story;

/// States each promise once for each of the five strategies.
macro_rules! for_each_strategy {
    ($($promise:ident),* $(,)?) => {
        for_each_strategy!(@ gcra tk_core::Gcra, $($promise)*);
        for_each_strategy!(@ token_bucket tk_core::TokenBucket, $($promise)*);
        for_each_strategy!(@ fixed_window tk_core::FixedWindow, $($promise)*);
        for_each_strategy!(@ sliding_window tk_core::SlidingWindow, $($promise)*);
        for_each_strategy!(@ sliding_window_log tk_core::SlidingWindowLog, $($promise)*);
    };
    (@ $name:ident $strategy:ty, $($promise:ident)*) => {
        mod $name {
            $(
                #[test]
                fn $promise() {
                    crate::story::holds(super::$promise::<$strategy>);
                }
            )*
        }
    };
}
use for_each_strategy;
