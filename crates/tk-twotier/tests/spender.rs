//! The client of a limit service.

#[path = "clocks/behind.rs"]
mod behind;
#[path = "clocks/panics_for.rs"]
mod panics_for;

mod spender {
    pub(crate) mod service;

    mod by_hand;
    mod refreshing;
}
