//! The client of a limit service.

#[path = "clocks/behind.rs"]
mod behind;

mod spender {
    pub(crate) mod service;

    mod by_hand;
    mod refreshing;
}
