//! Tenants in the order in which they are due, with the sums that admission needs.
//!
//! Deciding on one request takes the sums of weights and of used units over all tenants that are ahead of the one who
//! asks. This is a B-tree over [`Key`]s whose inner nodes hold those sums for each child, so that one walk
//! from the root answers. Nodes are wide, since what a walk costs at a million tenants is its cache misses.
//!
//! Two things are unusual.
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

mod node;

pub(crate) use node::{Item, Key, Side, Standing, Sums};

use super::slab::Slab;
use node::{INNER, Inner, LEAF, Leaf, Total};

/// The most nodes that one question may visit besides its path from the root.
const VISITS: u32 = 2_048;

/// Nodes with less than one place in so many taken look for a neighbour to merge with, if as many stay free then.
const SPARSE: usize = 4;

/// Tenants by key.
#[derive(Debug)]
pub(crate) struct Tree {
    leaves: Slab<Leaf>,
    inners: Slab<Inner>,
    root: Node,
}

/// A node's place, and how many levels are below it: none below a leaf.
#[derive(Clone, Copy, Debug)]
struct Node {
    place: u32,
    height: u32,
}

impl Node {
    const fn child(self, place: u32) -> Self {
        let height = self.height - 1;
        Self { place, height }
    }

    /// The child of `inner`, which is at this place, in which `key` is, if it is anywhere. Of many nodes, only those above leaves are seldom in a cache.
    #[inline]
    fn path(self, inner: &Inner, key: &Key) -> usize {
        if self.height == 1 {
            inner.touch();
        }
        inner.child_of(key)
    }

    /// How many entries or children it has room for.
    const fn width(self) -> usize {
        if self.height == 0 { LEAF } else { INNER }
    }
}

/// A node that was split off to the right, and the least key in it.
type Split = Option<(Key, u32)>;

impl Tree {
    pub(crate) fn new() -> Self {
        let mut leaves = Slab::new();
        let place = leaves.take();
        Self {
            leaves,
            inners: Slab::new(),
            root: Node { place, height: 0 },
        }
    }

    /// Forgets everything, in one step.
    pub(crate) fn clear(&mut self) {
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

    /// Puts in `item`. The key must not be there.
    pub(crate) fn insert(&mut self, key: Key, item: Item, epoch: u64) {
        let Some((least, right)) = self.insert_at(self.root, key, item, epoch) else {
            return;
        };
        let left = self.root.place;
        self.root = Node {
            place: self.inners.take(),
            height: self.root.height + 1,
        };
        self.inners[self.root.place].epoch = epoch;
        self.adopt(self.root, 0, (Key::default(), left));
        self.adopt(self.root, 1, (least, right));
    }

    /// Takes out the item at `key`, which is `item` as it counts in this epoch.
    pub(crate) fn remove(&mut self, key: Key, item: &Item, epoch: u64) {
        self.remove_at(self.root, key, item, epoch);
        while self.root.height > 0 && self.len(self.root) == 1 {
            let child = self.inners[self.root.place].children[0];
            self.inners.give(self.root.place);
            self.root = self.root.child(child);
        }
    }

    /// Leaves the item at `key`, which is `item`, where it is and counts it no more in this epoch.
    pub(crate) fn hide(&mut self, key: Key, item: &Item, epoch: u64) {
        let mut node = self.root;
        while node.height > 0 {
            let inner = &mut self.inners[node.place];
            inner.refresh(epoch);
            let i = node.path(inner, &key);
            inner.hide(i, item);
            node = node.child(inner.children[i]);
        }
        let leaf = &mut self.leaves[node.place];
        leaf.refresh(epoch);
        if let Ok(at) = leaf.find(&key) {
            debug_assert_eq!(
                leaf.item(at, epoch),
                *item,
                "what is hidden is what was counted"
            );
            leaf.hide(at);
        }
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
            let path = node.path(inner, bound);
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
        let (Ok(end) | Err(end)) = leaf.find(bound);
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

    fn insert_at(&mut self, node: Node, key: Key, item: Item, epoch: u64) -> Split {
        if node.height == 0 {
            return self.insert_in_leaf(node.place, key, item, epoch);
        }
        let inner = &mut self.inners[node.place];
        inner.refresh(epoch);
        let i = node.path(inner, &key);
        inner.enter(i, &item);
        let child = node.child(inner.children[i]);
        let split = self.insert_at(child, key, item, epoch)?;
        self.recount(node, i);
        if self.len(node) < INNER {
            self.adopt(node, i + 1, split);
            return None;
        }
        let sibling = self.inners.take();
        let (inner, half) = self.inners.pair(node.place, sibling);
        inner.split_to(INNER / 2, half);
        let least = half.keys[0];
        let left = inner.len;
        if i < left {
            self.adopt(node, i + 1, split);
        } else {
            let height = node.height;
            let place = sibling;
            self.adopt(Node { place, height }, i + 1 - left, split);
        }
        Some((least, sibling))
    }

    fn insert_in_leaf(&mut self, place: u32, key: Key, item: Item, epoch: u64) -> Split {
        let leaf = &mut self.leaves[place];
        leaf.refresh(epoch);
        let (Ok(at) | Err(at)) = leaf.find(&key);
        if leaf.len < LEAF {
            leaf.insert(at, key, &item);
            return None;
        }
        let sibling = self.leaves.take();
        let (left, right) = self.leaves.pair(place, sibling);
        left.split_to(LEAF / 2, right);
        if at <= left.len {
            left.insert(at, key, &item);
        } else {
            right.insert(at - left.len, key, &item);
        }
        Some((right.keys[0], sibling))
    }

    fn remove_at(&mut self, node: Node, key: Key, item: &Item, epoch: u64) {
        if node.height == 0 {
            let leaf = &mut self.leaves[node.place];
            leaf.refresh(epoch);
            if let Ok(at) = leaf.find(&key) {
                debug_assert_eq!(
                    leaf.item(at, epoch),
                    *item,
                    "what is taken out is what was put in"
                );
                leaf.remove(at);
            }
            return;
        }
        let inner = &mut self.inners[node.place];
        inner.refresh(epoch);
        let i = node.path(inner, &key);
        inner.leave(i, item);
        let child = node.child(inner.children[i]);
        self.remove_at(child, key, item, epoch);
        let len = self.len(child);
        if len == 0 {
            self.give(child);
            self.inners[node.place].remove_child(i);
        } else if len * SPARSE < child.width() {
            self.merge(node, i, epoch);
        }
    }

    /// Merges child `i` with a neighbour, if one node then still has room.
    fn merge(&mut self, node: Node, i: usize, epoch: u64) {
        let inner = &self.inners[node.place];
        let len = |at: usize| self.len(node.child(inner.children[at]));
        let width = node.child(0).width();
        let most = width - width / SPARSE;
        let fits = |at: usize| at + 1 < inner.len && len(at) + len(at + 1) <= most;
        let left = if fits(i) {
            i
        } else if i > 0 && fits(i - 1) {
            i - 1
        } else {
            return;
        };
        let (a, b) = (inner.children[left], inner.children[left + 1]);
        let least = inner.keys[left + 1];
        if node.height == 1 {
            let (left, right) = self.leaves.pair(a, b);
            left.refresh(epoch);
            right.refresh(epoch);
            left.append(right);
        } else {
            let (left, right) = self.inners.pair(a, b);
            left.refresh(epoch);
            right.refresh(epoch);
            left.append(right, least);
        }
        self.give(node.child(b));
        self.inners[node.place].remove_child(left + 1);
        self.recount(node, left);
    }

    fn len(&self, node: Node) -> usize {
        if node.height == 0 {
            self.leaves[node.place].len
        } else {
            self.inners[node.place].len
        }
    }

    fn give(&mut self, node: Node) {
        if node.height == 0 {
            self.leaves.give(node.place);
        } else {
            self.inners.give(node.place);
        }
    }

    /// What is below `node`, in the epoch of its own marks.
    fn total(&self, node: Node) -> Total {
        if node.height == 0 {
            self.leaves[node.place].total()
        } else {
            self.inners[node.place].total()
        }
    }

    /// Computes afresh what `node` says of its child `i`, which has just been refreshed.
    fn recount(&mut self, node: Node, i: usize) {
        let child = node.child(self.inners[node.place].children[i]);
        let total = self.total(child);
        self.inners[node.place].set(i, &total);
    }

    /// Puts a child that has just been refreshed at `at` below `node`.
    fn adopt(&mut self, node: Node, at: usize, (least, child): (Key, u32)) {
        let total = self.total(node.child(child));
        self.inners[node.place].insert_child(at, least, child, &total);
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
