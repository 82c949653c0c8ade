//! Regions that take shares of one budget, each with a fleet that leases from them.

use serde_json::json;
use tk_twotier::Fault;

use super::{About, Catalog};
use crate::explore::Question;
use crate::systems::federated::Federated;
use crate::world::{self, Store, WINDOW};

#[derive(Clone, Copy)]
struct Size {
    regions: usize,
    fleet: usize,
    limit: u64,
    chunk: u64,
    batch: u64,
    is_deep: bool,
}

const fn size([regions, fleet]: [usize; 2], [limit, chunk, batch]: [u64; 3]) -> Size {
    Size {
        regions,
        fleet,
        limit,
        chunk,
        batch,
        is_deep: false,
    }
}

const fn deep(size: Size) -> Size {
    Size {
        is_deep: true,
        ..size
    }
}

const CARRIED: &[Size] = &[
    deep(size([1, 4], [8, 4, 2])),
    size([2, 2], [8, 4, 2]),
    size([4, 1], [8, 4, 2]),
    deep(size([3, 2], [18, 4, 3])),
];

const COUPLED: &[Size] = &[
    deep(size([1, 4], [8, 3, 2])),
    size([2, 2], [8, 3, 2]),
    deep(size([4, 1], [8, 3, 2])),
];

pub(super) fn add(catalog: &mut Catalog) {
    for size in CARRIED {
        let system = system(size, false);
        let bound = size.bound(false);
        let claim = format!("carried over: at most Limit + N(Batch-1) = {bound}");
        catalog.bound(about(size, "carried", &system, &claim), system, bound);
    }
    for size in COUPLED {
        let system = system(size, true);
        let bound = size.bound(true);
        let claim = format!("coupled: at most Limit = {bound}");
        catalog.bound(about(size, "coupled", &system, &claim), system, bound);
    }
    let size = &size([2, 2], [8, 4, 2]);
    let (carried, coupled) = (
        ("shares_carried", "Limit + N(Batch-1)"),
        ("shares_carried_coupled", "Limit"),
    );
    for (is_coupled, (name, broken)) in [(false, carried), (true, coupled)] {
        let size = &Size {
            is_deep: is_coupled,
            ..*size
        };
        let system = careless(size, is_coupled);
        let claim = format!("shares carried over the edge: {broken} is broken");
        let bound = Question::AtMost(size.bound(is_coupled));
        catalog.fault(about(size, name, &system, &claim), system, bound);
    }
}

impl Size {
    const fn bound(&self, is_coupled: bool) -> u64 {
        if is_coupled {
            return self.limit;
        }
        self.limit + (self.regions * self.fleet) as u64 * (self.batch - 1)
    }
}

fn system(size: &Size, is_coupled: bool) -> Federated {
    Federated {
        regions: size.regions,
        fleet: size.fleet,
        region_rules: world::rules(size.chunk, true),
        shares_carried: false,
        rules: world::rules(size.batch, is_coupled),
        is_coupled,
        store: Store::new(size.limit, WINDOW),
    }
}

/// Regions that go on using what they took of the last window.
fn careless(size: &Size, is_coupled: bool) -> Federated {
    let system = system(size, is_coupled);
    Federated {
        region_rules: system.region_rules.with_fault(Fault::CarryOverInCoupled),
        shares_carried: true,
        ..system
    }
}

fn about(size: &Size, name: &str, system: &Federated, claim: &str) -> About {
    let Size {
        regions,
        fleet,
        limit,
        chunk,
        batch,
        is_deep,
    } = *size;
    About {
        model: "FederatedLeasing",
        name: format!("{name}_{regions}x{fleet}_{limit}_{chunk}_{batch}"),
        constants: json!({"Regions": regions, "Fleet": fleet, "Limit": limit, "Chunk": chunk, "Batch": batch,
            "Coupled": system.is_coupled, "SharesCarried": system.shares_carried}),
        claim: format!("{regions} x {fleet} nodes (regions x fleet), {claim}"),
        is_deep,
        is_same: true,
    }
}
