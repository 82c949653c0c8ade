//! Transactions decide as the rule does, field for field, for strategies that have scripts and for one that has none.

use tk_testkit::conformance::{self, block_on};

use crate::support::{OnCallersClock, Tab};

#[test]
fn the_store_conforms_under_all_five_strategies() {
    let harness = OnCallersClock::new();
    block_on(conformance::conforms(&harness));
    harness.server.assert_all_keys_expire();
}

#[test]
fn the_store_conforms_under_a_strategy_of_ones_own() {
    let harness = OnCallersClock::new();
    block_on(conformance::conforms_under(&harness, &Tab { limit: 50 }));
    harness.server.assert_all_keys_expire();
}
