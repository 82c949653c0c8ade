//! Tenants in the order in which they are due, with the sums that admission needs.
//!
//! Deciding on one request takes the sums of weights and of used units over all tenants that are ahead of the one who
//! asks. This is a B-tree over [`Key`]s whose inner nodes hold those sums for each child, so that one walk
//! from the root answers. Nodes are wide, since what a walk costs at a million tenants is its cache misses.
//!
//! Three things are unusual.
//!
//! **A window's marks vanish by themselves.** The tree of the tenants that wait outlives windows, but what it says of a
//! tenant does not: who joined late and who was served already are facts about one window. Sweeping a million
//! marks at a window's edge would be a pause of many milliseconds. So every node carries the epoch its marks
//! were written in, and marks of another epoch read as the state at a window's start: early, and not hidden.
//!
//! **Only tenants whose next cost fits count.** Each child also has bounds on the costs below it, so that subtrees where all
//! fit or none does are taken or skipped whole. Only where fits are mixed, which is when the budget is
//! nearly used up, does a walk go into both; it visits at most [`VISITS`] nodes and counts what it
//! has not seen as fitting, which can only refuse.
//!
//! **Most changes do not search.** A charge takes a tenant out of one place and puts it into another. The tree knows in which leaf an owner's item is, and
//! nodes know their parents, so taking out and hiding climb from there, past a few lines of the cache in each node instead of all its keys. The way to
//! where the item goes is walked first, and asks for the nodes at its end while the other place is changed.

mod change;
mod homes;
mod inner;
mod leaf;
mod node;
mod sums;
mod way;

pub(crate) use change::New;
pub(crate) use sums::{Item, Key, Side, Standing, Sums};
pub(crate) use way::Way;

use super::slab::Slab;
use homes::Homes;
use inner::Inner;
use leaf::Leaf;
use node::Node;

/// The most nodes that one question may visit besides its path from the root.
const VISITS: u32 = 2_048;

/// Tenants by key.
#[derive(Debug)]
pub(crate) struct Tree {
    leaves: Slab<Leaf>,
    inners: Slab<Inner>,
    homes: Homes,
    root: Node,
    /// Counts what makes a way through the tree void.
    shape: u64,
}

impl Tree {
    pub(crate) fn new() -> Self {
        let mut leaves = Slab::new();
        let place = leaves.take();
        Self {
            leaves,
            inners: Slab::new(),
            homes: Homes::new(),
            root: Node { place, height: 0 },
            shape: 0,
        }
    }

    /// Forgets everything, in one step.
    pub(crate) fn clear(&mut self) {
        self.shape += 1;
        self.leaves.clear();
        self.inners.clear();
        self.root = Node {
            place: self.leaves.take(),
            height: 0,
        };
    }

    /// The sum of all weights, whatever the marks say.
    pub(crate) fn weight(&self) -> u64 {
        self.total(self.root).weight
    }

    /// No cost is above this.
    pub(crate) fn dearest(&self) -> u64 {
        if self.root.height == 0 {
            self.leaves[self.root.place].dearest()
        } else {
            self.inners[self.root.place].dearest()
        }
    }

    /// The sum of all that is used. Not for a tree with marks of another epoch.
    pub(crate) fn used(&self) -> u64 {
        let Sums { early, late } = self.total(self.root).sums;
        early.used + late.used
    }

    /// The sums over everyone before `bound` whose cost is at most `fits`.
    pub(crate) fn ahead(&self, bound: &Key, fits: u64, epoch: u64) -> Sums {
        let mut question = Question {
            fits,
            epoch,
            visits: VISITS,
            sums: Sums::default(),
        };
        let mut node = self.root;
        let all_fit = self.dearest() <= fits;
        while node.height > 0 {
            let inner = &self.inners[node.place];
            if node.height == 1 {
                // Of many nodes, only those above leaves are seldom in a cache.
                inner.touch();
            }
            let path = inner.child_of(bound);
            if all_fit {
                inner.add(0..path, epoch, &mut question.sums);
            } else {
                for i in 0..path {
                    self.add_child(inner, i, node, &mut question);
                }
            }
            node = node.child(inner.children[path]);
        }
        let leaf = &self.leaves[node.place];
        let end = leaf.find(bound);
        leaf.add_fitting(end, fits, epoch, &mut question.sums);
        question.sums
    }

    /// Adds what fits below child `i` of `inner`, which is at `node`.
    fn add_child(&self, inner: &Inner, i: usize, node: Node, question: &mut Question) {
        let costs = inner.costs(i);
        if costs.least > question.fits {
            return;
        }
        if costs.most <= question.fits || question.visits == 0 {
            inner.add(i..i + 1, question.epoch, &mut question.sums);
            return;
        }
        question.visits -= 1;
        let node = node.child(inner.children[i]);
        if node.height == 0 {
            let leaf = &self.leaves[node.place];
            leaf.add_fitting(leaf.len, question.fits, question.epoch, &mut question.sums);
            return;
        }
        let inner = &self.inners[node.place];
        for i in 0..inner.len {
            self.add_child(inner, i, node, question);
        }
    }
}

/// A question on its way through the tree.
struct Question {
    fits: u64,
    epoch: u64,
    visits: u32,
    sums: Sums,
}

#[cfg(test)]
mod tests;
