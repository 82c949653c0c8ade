//! Regions that draw from one pool.

use serde_json::json;

use super::{About, Catalog};
use crate::explore::Question;
use crate::systems::pool::Pool;

pub(super) fn add(catalog: &mut Catalog) {
    let all = [
        ("two_4", Pool::new(2, 4), 4, false),
        ("two_5", Pool::new(2, 5), 5, true),
        (
            "repeated_two_3",
            Pool {
                repeats: true,
                ..Pool::new(2, 3)
            },
            3,
            false,
        ),
    ];
    for (name, system, limit, is_deep) in all {
        let regions = system.regions as u64;
        let repeats = if system.repeats {
            ", hand-backs repeated"
        } else {
            ""
        };
        let claim =
            format!("{regions} regions{repeats}: at most Limit = {limit}, and promises are kept");
        catalog.bound(about(name, regions, limit, &claim, is_deep), system, limit);
    }
    let twice = Pool {
        repeats: true,
        forgets_turns: true,
        ..Pool::new(2, 4)
    };
    let claim = "a hand-back counted twice: Limit is broken";
    catalog.fault(
        about("counted_twice_two_4", 2, 4, claim, false),
        twice,
        Question::AtMost(4),
    );
}

fn about(name: &str, regions: u64, limit: u64, claim: &str, is_deep: bool) -> About {
    About {
        model: "RegionPool",
        name: name.to_owned(),
        constants: json!({"Regions": (1..=regions).collect::<Vec<_>>(), "Limit": limit}),
        claim: claim.to_owned(),
        is_deep,
        is_same: false,
    }
}
