//! Ways through the tree, and what is asked for along them.
//!
//! A charge changes two places of the trees, which are both known before it looks at either. What waits for memory is what is above the leaves and the leaves
//! themselves. So a way is gone in two steps, and each ends where something has to come that was asked for in the step before.

use super::{Key, Tree, node::Node};

/// Levels that a way has room for. A tree that is higher, which takes contrived comings and goings, is searched from its root.
const LEVELS: usize = 8;

/// A way from the root to where a key belongs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// By height: an inner node, and which of its children is next.
    steps: [(u32, u32); LEVELS],
    /// How far it has come.
    end: Node,
    /// The shape of the tree that it is a way through.
    shape: u64,
}

impl Way {
    fn step(&mut self, i: usize) {
        self.steps[self.end.height as usize % LEVELS] = (self.end.place, i as u32);
    }

    /// The leaf, and the steps from above it to the root, if they are still those in `tree`.
    pub(super) fn whole(&self, tree: &Tree) -> Option<(u32, &[(u32, u32)])> {
        let arrived = self.end.height == 0 && self.shape == tree.shape;
        let steps = self.steps.get(1..=tree.root.height as usize)?;
        arrived.then_some((self.end.place, steps))
    }
}

impl Tree {
    /// The way to where `key` belongs, as far as it is likely to be in a cache; has the processor fetch what comes next.
    #[inline]
    pub(crate) fn seek(&self, key: &Key) -> Way {
        let mut way = Way {
            steps: [(0, 0); LEVELS],
            end: self.root,
            shape: self.shape,
        };
        while way.end.height > 1 {
            let inner = &self.inners[way.end.place];
            let i = inner.child_of(key);
            way.step(i);
            way.end = way.end.child(inner.children[i]);
        }
        if way.end.height == 1 {
            self.inners[way.end.place].expect_search();
        }
        way
    }

    /// Goes on to the leaf, and asks for it.
    #[inline]
    pub(crate) fn approach(&self, way: &mut Way, key: &Key) {
        if way.end.height == 1 {
            let inner = &self.inners[way.end.place];
            let i = inner.child_of(key);
            way.step(i);
            way.end = way.end.child(inner.children[i]);
            inner.expect_total(i);
        }
        self.leaves.expect(way.end.place, usize::MAX);
    }

    /// Asks for the leaf in which `owner` is, if anywhere.
    #[inline]
    pub(crate) fn expect(&self, owner: u32) {
        if let Some(leaf) = self.homes.get(owner) {
            self.leaves.expect(leaf, 128);
        }
    }

    /// Asks for what is above the leaf in which `owner` is.
    #[inline]
    pub(crate) fn expect_above(&self, owner: u32) {
        if self.root.height > 0 {
            let leaf = &self.leaves[self.homes.of(owner)];
            self.inners[leaf.parent].expect_climb();
        }
    }
}
