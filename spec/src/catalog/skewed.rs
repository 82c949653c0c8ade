//! Clocks that differ: the end of a credit counted from the send, and the two ways that break the bound.

use serde_json::json;
use tk_twotier::Fault;

use super::{About, Catalog};
use crate::explore::Question;
use crate::systems::skewed::{Skewed, TICK};
use crate::world::{self, Store};

pub(super) fn add(catalog: &mut Catalog) {
    holds(catalog);
    broken(catalog);
}

fn fleet([nodes, limit, batch]: [u64; 3], window: u64) -> Skewed {
    Skewed {
        nodes: nodes as usize,
        rules: (world::rules(batch, true).drift_ppm(0)).expect("0 is at most half"),
        is_coupled: true,
        store: Store {
            is_partial: false,
            ..Store::new(limit, TICK * window as u32)
        },
        skew: 0,
        drift: 0,
        window,
        horizon: 2 * window,
    }
}

fn carried(system: Skewed) -> Skewed {
    Skewed {
        rules: system.rules.coupled(false),
        is_coupled: false,
        ..system
    }
}

/// A clock whose rate is off by a quarter, and a margin of `ppm`.
fn slow(system: Skewed, ppm: u32) -> Skewed {
    let rules = system.rules.drift_ppm(ppm).expect("at most half");
    Skewed {
        rules,
        drift: system.horizon,
        ..system
    }
}

fn about(name: &str, system: &Skewed, claim: &str) -> About {
    let constants = json!({"Nodes": system.nodes, "Limit": system.store.limit(),
        "Batch": system.rules.batch(), "Coupled": system.is_coupled, "MaxSkew": system.skew,
        "Drift": system.drift, "Window": system.window, "Horizon": system.horizon});
    About {
        model: "SkewedLeasing",
        name: name.to_owned(),
        constants,
        claim: claim.to_owned(),
        is_deep: false,
        is_same: system.drift == 0,
    }
}

#[expect(clippy::too_many_lines, reason = "a list, one row after the other")]
fn holds(catalog: &mut Catalog) {
    // SPEC: SkewedLeasing!NeverOverAdmits, SkewedLeasing!OvershootWithinCarry
    let long = Skewed {
        skew: 1,
        horizon: 12,
        ..fleet([2, 4, 2], 4)
    };
    let all = [
        (
            "since_send_1_2_2",
            Skewed {
                skew: 1,
                ..fleet([1, 2, 2], 3)
            },
            2,
            "ends counted from the send: at most Limit",
            false,
        ),
        (
            "since_send_2_4_2",
            fleet([2, 4, 2], 3),
            4,
            "ends counted from the send: at most Limit",
            false,
        ),
        (
            "since_send_skewed_2_4_2",
            Skewed {
                skew: 1,
                ..fleet([2, 4, 2], 3)
            },
            4,
            "the same, whatever the wall clocks show",
            false,
        ),
        (
            "since_send_3_4_2",
            fleet([3, 4, 2], 3),
            4,
            "the same for three nodes",
            true,
        ),
        (
            "since_send_long_2_4_2",
            long,
            4,
            "the same for longer",
            true,
        ),
        (
            "carried_2_2_2",
            carried(fleet([2, 2, 2], 3)),
            4,
            "carried over, late by the send: at most Limit + N(Batch-1)",
            false,
        ),
        (
            "slow_clock_1_2_2",
            slow(fleet([1, 2, 2], 4), 250_000),
            2,
            "a clock a quarter too slow, and a margin of a quarter: at most Limit",
            false,
        ),
        (
            "slow_clock_2_2_2",
            slow(fleet([2, 2, 2], 4), 250_000),
            2,
            "a clock a quarter too slow, and a margin of a quarter: at most Limit",
            true,
        ),
    ];
    for (name, system, bound, claim, is_deep) in all {
        let claim = format!("{claim} = {bound}");
        let about = About {
            is_deep,
            ..about(name, &system, &claim)
        };
        catalog.bound(about, system, bound);
    }
}

fn broken(catalog: &mut Catalog) {
    let faulty = |system: Skewed, fault| Skewed {
        rules: system.rules.with_fault(fault),
        ..system
    };
    let wall = faulty(
        Skewed {
            skew: 1,
            ..fleet([2, 4, 2], 3)
        },
        Fault::ExpiryByWallClock,
    );
    let all = [
        (
            "wall_clock_2_4_2",
            wall,
            4,
            "ends read from the wall clock, one tick of skew: Limit is broken",
        ),
        (
            "since_receipt_2_4_2",
            faulty(fleet([2, 4, 2], 3), Fault::ExpiryFromReceipt),
            4,
            "ends counted from the receipt: Limit is broken",
        ),
        (
            "carried_since_receipt_2_2_2",
            faulty(carried(fleet([2, 2, 2], 3)), Fault::ExpiryFromReceipt),
            4,
            "carried over, late by the receipt: Limit + N(Batch-1) is broken",
        ),
        (
            "slow_clock_unmargined_1_2_2",
            slow(fleet([1, 2, 2], 4), 1_000),
            2,
            "a clock a quarter too slow, and a margin of a thousandth: Limit is broken",
        ),
    ];
    for (name, system, bound, claim) in all {
        catalog.fault(about(name, &system, claim), system, Question::AtMost(bound));
    }
}
