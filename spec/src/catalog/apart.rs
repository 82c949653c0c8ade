//! Ask, grant and reply apart: rule 4, what becomes of it when it is broken, refills and resets.

use serde_json::json;
use tk_twotier::Fault;

use super::{About, Catalog};
use crate::explore::Question;
use crate::systems::apart::{Apart, LateBy, Resets};
use crate::world::{self, Store, WINDOW};

pub(super) fn add(catalog: &mut Catalog) {
    rules(catalog);
    coupled(catalog);
    broken(catalog);
    low_water(catalog);
    resets(catalog);
}

fn carried([nodes, limit, batch]: [u64; 3]) -> Apart {
    Apart {
        nodes: nodes as usize,
        rules: world::rules(batch, false),
        is_coupled: false,
        carries_over: true,
        store: Store::new(limit, WINDOW),
        late_by: LateBy::Send,
        hands_back: true,
        resets: Resets::Never,
        low_water: 0,
        flights: 1,
        is_broken: false,
        counts_since: false,
    }
}

fn together([nodes, limit, batch]: [u64; 3]) -> Apart {
    Apart {
        rules: world::rules(batch, true),
        is_coupled: true,
        carries_over: false,
        hands_back: false,
        ..carried([nodes, limit, batch])
    }
}

fn whole(system: Apart) -> Apart {
    Apart {
        store: Store {
            is_partial: false,
            ..system.store
        },
        ..system
    }
}

fn faulty(system: Apart, fault: Fault) -> Apart {
    Apart {
        rules: system.rules.with_fault(fault),
        ..system
    }
}

fn about(model: &'static str, name: &str, system: &Apart, claim: &str) -> About {
    let late_by = match system.late_by {
        LateBy::Send => "send",
        LateBy::Grant => "grant",
    };
    let hand_back = if system.hands_back { "applied" } else { "lost" };
    let mut constants = json!({"Nodes": system.nodes, "Limit": system.store.limit(),
        "Batch": system.rules.batch(), "Partial": system.store.is_partial,
        "Coupled": system.is_coupled, "LateBy": late_by, "HandBack": hand_back});
    if system.low_water > 0 {
        constants["LowWater"] = json!(system.low_water);
    }
    let (name, claim) = (name.to_owned(), claim.to_owned());
    About {
        model,
        name,
        constants,
        claim,
        is_deep: false,
        is_same: true,
    }
}

fn rules(catalog: &mut Catalog) {
    let by_grant = |sizes| Apart {
        late_by: LateBy::Grant,
        ..carried(sizes)
    };
    let lost = |sizes| Apart {
        hands_back: false,
        ..whole(by_grant(sizes))
    };
    let all: [(&str, Apart, bool); 13] = [
        ("rules_2_4_2", lost([2, 4, 2]), false),
        ("rules_2_6_3", lost([2, 6, 3]), false),
        ("rules_3_4_2", lost([3, 4, 2]), false),
        ("rules_applied_2_4_2", by_grant([2, 4, 2]), false),
        ("rules_applied_2_6_3", by_grant([2, 6, 3]), true),
        ("rules_applied_3_4_2", by_grant([3, 4, 2]), true),
        ("rules_applied_3_6_3", by_grant([3, 6, 3]), true),
        ("rules_applied_4_4_2", by_grant([4, 4, 2]), true),
        ("rules_by_send_2_4_2", carried([2, 4, 2]), false),
        ("rules_by_send_2_6_3", carried([2, 6, 3]), false),
        ("rules_by_send_2_5_2", carried([2, 5, 2]), true),
        ("rules_by_send_3_4_2", carried([3, 4, 2]), false),
        ("rules_by_send_1_4_2", carried([1, 4, 2]), false),
    ];
    for (name, system, is_deep) in all {
        let bound = system.store.limit() + system.nodes as u64 * (system.rules.batch() - 1);
        let claim = format!("carried over, rule 4 in force: at most Limit + N(Batch-1) = {bound}");
        let is_same = name != "rules_by_send_1_4_2";
        let about = About {
            is_deep,
            is_same,
            ..about("AsyncLeasing", name, &system, &claim)
        };
        catalog.bound(about, system, bound);
    }
}

fn coupled(catalog: &mut Catalog) {
    let by_grant = |sizes| Apart {
        late_by: LateBy::Grant,
        ..together(sizes)
    };
    let all = [
        ("coupled_2_4_2", by_grant([2, 4, 2]), false),
        ("coupled_2_5_2", by_grant([2, 5, 2]), true),
        ("coupled_by_send_1_4_2", together([1, 4, 2]), false),
        ("coupled_by_send_2_4_2", together([2, 4, 2]), false),
        ("coupled_by_send_4_4_2", together([4, 4, 2]), false),
    ];
    for (name, system, is_deep) in all {
        let bound = system.store.limit();
        let claim = format!("coupled, {} node(s): at most Limit = {bound}", system.nodes);
        let about = About {
            is_deep,
            ..about("AsyncLeasing", name, &system, &claim)
        };
        catalog.bound(about, system, bound);
    }
}

#[expect(clippy::too_many_lines, reason = "a list, one row after the other")]
fn broken(catalog: &mut Catalog) {
    let base = || Apart {
        late_by: LateBy::Grant,
        ..whole(carried([2, 4, 2]))
    };
    let batches = [
        (
            "late_kept",
            "late grants kept",
            faulty(base(), Fault::KeepLateGrant),
            true,
        ),
        (
            "ownerless_whole",
            "ownerless grants kept whole",
            faulty(base(), Fault::KeepOwnerlessGrant),
            true,
        ),
        // The ledger lets nobody pass those who wait, which the specification allows.
        (
            "charged_on_wake",
            "waiters charged when they wake",
            faulty(base(), Fault::ChargeOnWake),
            false,
        ),
    ];
    for (name, what, system, is_same) in batches {
        let claim = format!("{what}: Limit + N(Batch-1) = 6 is broken");
        let about_it = about("AsyncLeasing", &format!("{name}_2_4_2"), &system, &claim);
        catalog.fault(about_it, system.clone(), Question::AtMost(6));
        // SPEC: AsyncLeasing!OvershootWithinBatches
        let claim = format!("{what}: at most Limit + N Batch = 8");
        let about_it = about(
            "AsyncLeasing",
            &format!("{name}_batches_2_4_2"),
            &system,
            &claim,
        );
        let bounded = Apart {
            is_broken: true,
            ..system
        };
        catalog.bound(
            About {
                is_same,
                ..about_it
            },
            bounded,
            8,
        );
    }
    let late = faulty(together([2, 4, 2]), Fault::KeepLateGrant);
    let claim = "coupled, and a grant kept after its window: Limit is broken";
    catalog.fault(
        about("AsyncLeasing", "coupled_late_kept_2_4_2", &late, claim),
        late,
        Question::AtMost(4),
    );
    let carry = faulty(
        Apart {
            carries_over: true,
            ..together([2, 4, 2])
        },
        Fault::CarryOverInCoupled,
    );
    let claim = "coupled credits carried over: Limit is broken";
    catalog.fault(
        about("AsyncLeasing", "coupled_carry_2_4_2", &carry, claim),
        carry,
        Question::AtMost(4),
    );
    // SPEC: AsyncLeasing!OutstandingWithinBatch
    let two = faulty(
        Apart {
            flights: 2,
            ..carried([2, 4, 2])
        },
        Fault::TwoInFlight,
    );
    let claim = "two leases in flight: more than a batch of the limit is tied up by one node";
    catalog.fault(
        about("AsyncLeasing", "two_in_flight_2_4_2", &two, claim),
        two,
        Question::Law("OutstandingWithinBatch"),
    );
}

fn low_water(catalog: &mut Catalog) {
    let refilled = |low_water: u64, system: Apart| Apart {
        rules: (system.rules.low_water(low_water)).expect("it is below the batch"),
        low_water,
        ..system
    };
    let by_grant = |system: Apart| Apart {
        late_by: LateBy::Grant,
        ..system
    };
    let lost = |system: Apart| Apart {
        hands_back: false,
        ..system
    };
    // The ledger keeps refills whole; what trimming them would buy is the specification's own question.
    // SPEC: LowWater!OvershootWithinBatchesAndLowWater, LowWater!OvershootWithinCarryAndLowWater
    let all = [
        (
            "carried_2_4_2",
            by_grant(lost(carried([2, 4, 2]))),
            10,
            false,
        ),
        ("carried_by_send_2_4_2", lost(carried([2, 4, 2])), 10, false),
        (
            "carried_2_6_3",
            by_grant(lost(carried([2, 6, 3]))),
            16,
            true,
        ),
        (
            "carried_3_6_2",
            by_grant(lost(carried([3, 6, 2]))),
            15,
            true,
        ),
        ("coupled_2_4_2", by_grant(together([2, 4, 2])), 4, false),
        ("coupled_by_send_2_4_2", together([2, 4, 2]), 4, true),
    ];
    for (name, system, bound, is_deep) in all {
        let low_water = if name == "carried_2_6_3" { 2 } else { 1 };
        let system = refilled(low_water, system);
        let claim = if system.is_coupled {
            format!("coupled, refilled early: at most Limit = {bound}")
        } else {
            format!("carried over, refilled early: at most Limit + N(Batch + LowWater) = {bound}")
        };
        let about = About {
            is_deep,
            ..about("LowWater", name, &system, &claim)
        };
        catalog.bound(about, system, bound);
    }
}

fn resets(catalog: &mut Catalog) {
    let resetting = |system: Apart| Apart {
        late_by: LateBy::Grant,
        hands_back: false,
        resets: Resets::ClearWhenConfirmed,
        counts_since: true,
        ..system
    };
    let all = [
        ("coupled_1_4_2", resetting(together([1, 4, 2])), 4, false),
        ("coupled_2_4_2", resetting(together([2, 4, 2])), 6, true),
    ];
    for (name, system, bound, is_deep) in all {
        let claim = format!("since a reset was confirmed: at most Limit + (N-1) Batch = {bound}");
        let about = About {
            is_deep,
            ..about("Reset", name, &system, &claim)
        };
        catalog.bound(about, system, bound);
    }
    let kept = faulty(resetting(together([1, 4, 2])), Fault::KeepAfterReset);
    let claim = "credits and grants from before a reset are kept: Limit since the reset is broken";
    catalog.fault(
        about("Reset", "kept_1_4_2", &kept, claim),
        kept,
        Question::AtMost(4),
    );
    let early = Apart {
        resets: Resets::ClearWhenSent,
        ..resetting(together([1, 4, 2]))
    };
    let claim = "credits cleared when the reset is sent: Limit since the reset is broken";
    catalog.fault(
        about("Reset", "cleared_when_sent_1_4_2", &early, claim),
        early,
        Question::AtMost(4),
    );
}
