//! Hand-backs, resets, and a store that forgets.

use serde_json::json;
use tk_twotier::Fault;

use super::{About, Catalog};
use crate::explore::Question;
use crate::systems::returning::{Bounded, Returning};
use crate::world::{self, Store, WINDOW};

pub(super) fn add(catalog: &mut Catalog) {
    returns(catalog);
    broken(catalog);
    amnesia(catalog);
}

fn fleet([nodes, limit, batch]: [u64; 3], is_coupled: bool) -> Returning {
    Returning {
        nodes: nodes as usize,
        rules: world::rules(batch, is_coupled),
        is_coupled,
        store: Store::new(limit, WINDOW),
        repeats: false,
        resets: false,
        restarts: 0,
        fails_over: false,
        about: Bounded::Window,
    }
}

fn resetting(system: Returning) -> Returning {
    Returning {
        resets: true,
        ..system
    }
}

fn about(model: &'static str, name: &str, system: &Returning, claim: &str) -> About {
    let mut constants = json!({"Nodes": system.nodes, "Limit": system.store.limit(),
        "Batch": system.rules.batch(), "Coupled": system.is_coupled,
        "WindowTag": system.store.heeds_window, "IncarnationTag": system.store.heeds_incarnation,
        "Repeats": system.repeats, "Resets": system.resets});
    if system.restarts > 0 {
        constants["MaxRestarts"] = json!(system.restarts);
        constants["Failovers"] = json!(system.fails_over);
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

fn returns(catalog: &mut Catalog) {
    // SPEC: CreditReturn!OvershootWithinOthersCredits
    let all = [
        (
            "coupled_2_4_2",
            fleet([2, 4, 2], true),
            4,
            "hand-backs, coupled: at most Limit",
            false,
        ),
        (
            "coupled_3_6_3",
            fleet([3, 6, 3], true),
            6,
            "hand-backs, coupled: at most Limit",
            true,
        ),
        (
            "carried_2_4_2",
            fleet([2, 4, 2], false),
            6,
            "hand-backs, carried over: at most Limit + N(Batch-1)",
            false,
        ),
        (
            "carried_2_4_3",
            fleet([2, 4, 3], false),
            8,
            "hand-backs, carried over: at most Limit + N(Batch-1)",
            true,
        ),
        (
            "resets_1_4_2",
            resetting(fleet([1, 4, 2], true)),
            4,
            "a reset by the only node: at most Limit",
            false,
        ),
        (
            "resets_2_4_2",
            resetting(fleet([2, 4, 2], true)),
            5,
            "a reset: at most Limit and the others' credits",
            false,
        ),
        (
            "resets_3_6_3",
            resetting(fleet([3, 6, 3], true)),
            10,
            "a reset: at most Limit and the others' credits",
            true,
        ),
        (
            "resets_carried_2_4_2",
            resetting(fleet([2, 4, 2], false)),
            6,
            "a reset, carried over: at most Limit + N(Batch-1)",
            true,
        ),
    ];
    for (name, system, bound, claim, is_deep) in all {
        let claim = format!("{claim} = {bound}");
        let about = About {
            is_deep,
            ..about("CreditReturn", name, &system, &claim)
        };
        catalog.bound(about, system, bound);
    }
}

#[expect(clippy::too_many_lines, reason = "a list, one row after the other")]
fn broken(catalog: &mut Catalog) {
    let heedless = |system: Returning| Returning {
        store: Store {
            heeds_window: false,
            ..system.store
        },
        ..system
    };
    let timeless = |system: Returning| Returning {
        store: Store {
            heeds_incarnation: false,
            ..system.store
        },
        ..system
    };
    let repeated = |system: Returning| Returning {
        repeats: true,
        ..system
    };
    let faulty = |system: Returning, fault| Returning {
        rules: system.rules.with_fault(fault),
        ..system
    };
    let all = [
        (
            "untagged_2_4_2",
            heedless(fleet([2, 4, 2], true)),
            4,
            "hand-backs that do not name their window: Limit is broken",
        ),
        (
            "repeated_2_4_2",
            repeated(fleet([2, 4, 2], true)),
            4,
            "hand-backs delivered twice: Limit is broken",
        ),
        (
            "repeated_carried_2_4_2",
            repeated(fleet([2, 4, 2], false)),
            6,
            "the same, carried over: Limit + N(Batch-1) is broken",
        ),
        (
            "sent_twice_2_4_2",
            faulty(fleet([2, 4, 2], true), Fault::DoubleHandBack),
            4,
            "each hand-back sent twice: Limit is broken",
        ),
        (
            "no_incarnation_1_4_2",
            timeless(resetting(fleet([1, 4, 2], true))),
            4,
            "a hand-back from before a reset is counted after it: Limit is broken",
        ),
        (
            "no_incarnation_2_4_2",
            timeless(resetting(fleet([2, 4, 2], true))),
            5,
            "the same with two nodes: Limit and the others' credits are broken",
        ),
        (
            "kept_through_reset_1_4_2",
            faulty(resetting(fleet([1, 4, 2], true)), Fault::KeepAfterReset),
            4,
            "credits kept through one's own reset: Limit is broken",
        ),
    ];
    for (name, system, bound, claim) in all {
        catalog.fault(
            about("CreditReturn", name, &system, claim),
            system,
            Question::AtMost(bound),
        );
    }
}

#[expect(clippy::too_many_lines, reason = "a list, one row after the other")]
fn amnesia(catalog: &mut Catalog) {
    let forgetful = |system: Returning, restarts| Returning { restarts, ..system };
    let since = |system: Returning| Returning {
        about: Bounded::SinceRestart,
        ..system
    };
    let failing = Returning {
        fails_over: true,
        about: Bounded::BeyondForgotten,
        ..forgetful(fleet([2, 4, 2], true), 1)
    };
    // SPEC: Amnesia!OvershootWithinRestarts, Amnesia!OvershootWithinCarryAndRestarts
    // SPEC: Amnesia!SinceRestartWithinHoldings
    let all = [
        (
            "forgotten_2_4_2",
            failing,
            4,
            "failovers and restarts: at most Limit and what was forgotten; beyond it",
            false,
        ),
        (
            "restarts_1_2_4_2",
            forgetful(fleet([2, 4, 2], true), 1),
            8,
            "one empty restart in a window: at most 2 Limit",
            false,
        ),
        (
            "restarts_2_2_4_2",
            forgetful(fleet([2, 4, 2], true), 2),
            12,
            "two empty restarts in a window: at most 3 Limit",
            true,
        ),
        (
            "carried_1_2_4_2",
            forgetful(fleet([2, 4, 2], false), 1),
            10,
            "one empty restart, carried over: at most 2 Limit + N(Batch-1)",
            false,
        ),
        (
            "since_1_4_2",
            since(forgetful(fleet([1, 4, 2], true), 1)),
            5,
            "since an empty restart, N = 1: at most Limit and what nodes held",
            false,
        ),
        (
            "since_2_4_2",
            since(forgetful(fleet([2, 4, 2], true), 1)),
            6,
            "since an empty restart, N = 2: at most Limit and what nodes held",
            true,
        ),
    ];
    for (name, system, bound, claim, is_deep) in all {
        let claim = format!("{claim} = {bound}");
        let about = About {
            is_deep,
            ..about("Amnesia", name, &system, &claim)
        };
        catalog.bound(about, system, bound);
    }
    let timeless = since(forgetful(fleet([1, 4, 2], true), 1));
    let timeless = Returning {
        store: Store {
            heeds_incarnation: false,
            ..timeless.store
        },
        ..timeless
    };
    let claim = "without incarnations the bound since the restart is broken";
    catalog.fault(
        about("Amnesia", "no_incarnation_since_1_4_2", &timeless, claim),
        timeless,
        Question::AtMost(5),
    );
}
