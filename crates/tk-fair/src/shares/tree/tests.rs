//! The tree against a vector that is sorted, marked and added up in the obvious way.

use quickcheck::{Arbitrary, Gen, QuickCheck};

use super::{sums::Total, *};
use crate::shares::level::Level;

#[derive(Clone, Debug)]
enum Step {
    Insert {
        units: u64,
        weight: u32,
        cost: u64,
        late: bool,
        along: bool,
    },
    Remove(usize),
    Hide(usize),
    NextWindow,
    Ask {
        units: u64,
        fits: u64,
    },
}

impl Arbitrary for Step {
    fn arbitrary(g: &mut Gen) -> Self {
        let small = |g: &mut Gen, most: u64| u64::arbitrary(g) % most;
        match small(g, 32) {
            0 => Self::NextWindow,
            1..=11 => Self::Remove(usize::arbitrary(g)),
            12..=14 => Self::Hide(usize::arbitrary(g)),
            15..=20 => Self::Ask {
                units: small(g, 300),
                fits: small(g, 50),
            },
            _ => Self::Insert {
                units: small(g, 300),
                weight: small(g, 6) as u32 + 1,
                cost: small(g, 40) + 1,
                late: bool::arbitrary(g),
                along: bool::arbitrary(g),
            },
        }
    }
}

#[derive(Default)]
struct Twin {
    items: Vec<(u32, Key, Item)>,
    next: u64,
}

impl Twin {
    fn ahead(&self, bound: &Key, fits: u64) -> Sums {
        let mut total = Total::default();
        for (_, key, item) in &self.items {
            if key < bound && item.cost <= fits {
                total.count(item);
            }
        }
        total.sums
    }

    fn pick(&self, at: usize) -> Option<usize> {
        (!self.items.is_empty()).then(|| at % self.items.len())
    }
}

fn apply(step: &Step, tree: &mut Tree, twin: &mut Twin, epoch: &mut u64) -> bool {
    match *step {
        Step::Insert {
            units,
            weight,
            cost,
            late,
            along,
        } => {
            twin.next += 1;
            let turn = twin.next * 7_919 % 1_000_003;
            let level = Level::of(units, u64::from(weight));
            let standing = if late {
                Standing::Late
            } else {
                Standing::Early
            };
            let item = Item {
                weight,
                standing,
                used: 0,
                cost,
            };
            let owner = twin.next as u32;
            let key = Key { level, turn };
            let new = New {
                owner,
                key,
                item: &item,
            };
            if along {
                insert_after_a_removal(tree, twin, &new, *epoch);
            } else {
                tree.insert(&new, *epoch);
            }
            twin.items.push((owner, Key { level, turn }, item));
            true
        }
        Step::Remove(at) => twin.pick(at).is_none_or(|at| {
            let (owner, _, item) = twin.items.swap_remove(at);
            tree.remove(owner, &item, *epoch);
            true
        }),
        Step::Hide(at) => twin.pick(at).is_none_or(|at| {
            let (owner, _, item) = twin.items[at];
            tree.hide(owner, &item, *epoch);
            twin.items[at].2.standing = Standing::Hidden;
            true
        }),
        Step::NextWindow => {
            *epoch += 1;
            for (_, _, item) in &mut twin.items {
                item.standing = Standing::Early;
            }
            true
        }
        Step::Ask { units, fits } => {
            let bound = Key {
                level: Level::of(units, 2),
                turn: 500_000,
            };
            let weights = twin.items.iter().map(|(_, _, item)| u64::from(item.weight));
            tree.ahead(&bound, fits, *epoch) == twin.ahead(&bound, fits)
                && tree.weight() == weights.sum::<u64>()
        }
    }
}

fn agrees(steps: Vec<Step>) -> bool {
    let (mut tree, mut twin, mut epoch) = (Tree::new(), Twin::default(), 1);
    steps
        .iter()
        .all(|step| apply(step, &mut tree, &mut twin, &mut epoch))
}

/// As a charge does it: the way is sought before somebody else's item is taken out.
fn insert_after_a_removal(tree: &mut Tree, twin: &mut Twin, new: &New<'_>, epoch: u64) {
    let mut way = tree.seek(&new.key);
    tree.approach(&mut way, &new.key);
    if let Some((owner, _, item)) = twin.items.pop() {
        tree.expect_above(owner);
        tree.remove(owner, &item, epoch);
    }
    tree.insert_along(&way, new, epoch);
}

#[test]
fn sums_equal_those_of_a_sorted_vector() {
    QuickCheck::new()
        .rng(Gen::new(2_000))
        .tests(300)
        .quickcheck(agrees as fn(Vec<Step>) -> bool);
}

#[test]
fn growing_and_shrinking_leaves_nothing_behind() {
    let mut tree = Tree::new();
    let key = |turn: u64| Key {
        level: Level::of(turn * 31 % 977, 3),
        turn,
    };
    let item = Item {
        weight: 1,
        cost: 1,
        ..Item::default()
    };
    for round in 1..=3 {
        for turn in 0..5_000 {
            let new = New {
                owner: turn as u32,
                key: key(turn),
                item: &item,
            };
            tree.insert(&new, round);
        }
        assert_eq!(tree.weight(), 5_000);
        for turn in 0..5_000 {
            tree.remove(turn as u32, &item, round);
        }
        assert_eq!(tree.weight(), 0);
        assert_eq!(tree.root.height, 0);
    }
}

#[test]
fn a_high_tree_sums_what_a_sorted_vector_does() {
    const ITEMS: u64 = 20_000;
    let (mut tree, mut twin) = (Tree::new(), Twin::default());
    for i in 0..ITEMS {
        let item = Item {
            weight: 1 + (i % 7) as u32,
            standing: [Standing::Early, Standing::Late][i as usize % 2],
            used: i % 5,
            cost: 1 + i % 3,
        };
        let key = Key {
            level: Level::of(i * 7_919 % 1_009, 3),
            turn: i,
        };
        let owner = i as u32;
        let new = New {
            owner,
            key,
            item: &item,
        };
        insert_after_a_removal_of_each_third(i, &mut tree, &mut twin, &new);
        twin.items.push((owner, key, item));
    }
    for at in (0..twin.items.len()).step_by(5) {
        let (owner, _, item) = &mut twin.items[at];
        tree.hide(*owner, item, 1);
        item.standing = Standing::Hidden;
    }
    assert!(tree.root.height >= 3, "{}", tree.root.height);
    for units in (0..1_010).step_by(101) {
        let bound = Key {
            level: Level::of(units, 3),
            turn: ITEMS / 2,
        };
        for fits in [0, 3] {
            assert_eq!(tree.ahead(&bound, fits, 1), twin.ahead(&bound, fits));
        }
    }
}

fn insert_after_a_removal_of_each_third(i: u64, tree: &mut Tree, twin: &mut Twin, new: &New<'_>) {
    if i.is_multiple_of(3) {
        insert_after_a_removal(tree, twin, new, 1);
    } else {
        tree.insert(new, 1);
    }
}
