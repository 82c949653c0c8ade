//! The rules of the lease protocol, one by one.

mod ledger {
    pub(crate) mod bench;

    mod answers;
    mod asking;
    mod credits;
    mod ends;
    mod queue;
    mod resets;
}
