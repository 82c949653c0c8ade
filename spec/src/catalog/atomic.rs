//! Leases as one step: carried over, and coupled for fleets of one, two, four and eight.

use serde_json::json;
use tk_twotier::Fault;

use super::{About, Catalog};
use crate::explore::Question;
use crate::systems::atomic::Atomic;
use crate::world::{self, Store, WINDOW};

struct Size {
    name: &'static str,
    nodes: usize,
    limit: u64,
    batch: u64,
    is_partial: bool,
    costs: &'static [u64],
    is_deep: bool,
}

const fn whole(name: &'static str, [nodes, limit, batch]: [u64; 3], is_deep: bool) -> Size {
    let (nodes, costs, is_partial) = (nodes as usize, &[1], false);
    Size {
        name,
        nodes,
        limit,
        batch,
        is_partial,
        costs,
        is_deep,
    }
}

const fn partial(name: &'static str, sizes: [u64; 3], is_deep: bool) -> Size {
    Size {
        is_partial: true,
        ..whole(name, sizes, is_deep)
    }
}

const CARRIED: &[Size] = &[
    whole("whole_2_4_2", [2, 4, 2], false),
    whole("whole_3_6_3", [3, 6, 3], false),
    whole("whole_4_8_4", [4, 8, 4], true),
    whole("whole_4_12_3", [4, 12, 3], true),
    partial("partial_2_5_2", [2, 5, 2], false),
    partial("partial_3_7_3", [3, 7, 3], true),
    Size {
        costs: &[1, 2, 3],
        ..partial("costs_2_6_2", [2, 6, 2], false)
    },
];

const COUPLED: &[Size] = &[
    whole("whole_2_4_2", [2, 4, 2], false),
    whole("whole_3_6_3", [3, 6, 3], false),
    whole("whole_4_8_4", [4, 8, 4], true),
    partial("partial_2_5_2", [2, 5, 2], false),
    partial("fleet_1_8_2", [1, 8, 2], false),
    partial("fleet_2_8_2", [2, 8, 2], false),
    partial("fleet_4_8_2", [4, 8, 2], false),
    partial("fleet_8_8_2", [8, 8, 2], false),
    partial("fleet_8_16_4", [8, 16, 4], true),
    Size {
        costs: &[1, 2, 3],
        ..partial("costs_2_6_2", [2, 6, 2], true)
    },
];

pub(super) fn add(catalog: &mut Catalog) {
    for size in CARRIED {
        let bound = size.limit + size.nodes as u64 * (size.batch - 1);
        let claim = format!("a carried-over fleet admits at most Limit + N(Batch-1) = {bound}");
        catalog.bound(
            about(size, "DistributedLeasing", claim),
            system(size, false),
            bound,
        );
    }
    for size in COUPLED {
        let bound = size.limit;
        let claim = format!(
            "a window-coupled fleet of {} admits at most Limit = {bound}",
            size.nodes
        );
        catalog.bound(
            about(size, "WindowCoupledLeasing", claim),
            system(size, true),
            bound,
        );
    }
    // SPEC: WindowCoupledLeasing!RemainderIsStranded
    let size = &whole("whole_2_5_2", [2, 5, 2], false);
    let claim = "all-or-nothing grants strand what the batch does not divide: 4 of 5".to_owned();
    catalog.bound(
        about(size, "WindowCoupledLeasing", claim),
        system(size, true),
        4,
    );
    let size = &partial("carry_over_2_4_2", [2, 4, 2], false);
    let broken = Atomic {
        carries_over: true,
        ..system(size, true)
    };
    let broken = Atomic {
        rules: broken.rules.with_fault(Fault::CarryOverInCoupled),
        ..broken
    };
    let claim = "coupled credits are carried over: Limit is broken".to_owned();
    catalog.fault(
        about(size, "WindowCoupledLeasing", claim),
        broken,
        Question::AtMost(4),
    );
}

fn system(size: &Size, is_coupled: bool) -> Atomic {
    let store = Store {
        is_partial: size.is_partial,
        ..Store::new(size.limit, WINDOW)
    };
    Atomic {
        nodes: size.nodes,
        rules: world::rules(size.batch, is_coupled),
        is_coupled,
        carries_over: !is_coupled,
        store,
        costs: size.costs,
    }
}

fn about(size: &Size, model: &'static str, claim: String) -> About {
    About {
        model,
        name: size.name.to_owned(),
        constants: json!({"Nodes": size.nodes, "Limit": size.limit, "Batch": size.batch,
            "Costs": size.costs, "Partial": size.is_partial}),
        claim,
        is_deep: size.is_deep,
        is_same: true,
    }
}
