//! The client of a limit service.

mod spender {
    pub(crate) mod service;

    mod by_hand;
    mod refreshing;
}
