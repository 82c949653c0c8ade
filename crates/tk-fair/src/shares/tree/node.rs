//! What leaves and inner nodes have in common.

use super::{Tree, inner::INNER, leaf::LEAF, sums::Total};

/// A node's place, and how many levels are below it: none below a leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) place: u32,
    pub(super) height: u32,
}

impl Node {
    pub(super) const fn child(self, place: u32) -> Self {
        let height = self.height - 1;
        Self { place, height }
    }

    /// How many entries or children it has room for.
    pub(super) const fn width(self) -> usize {
        if self.height == 0 { LEAF } else { INNER }
    }
}

impl Tree {
    pub(super) fn len(&self, node: Node) -> usize {
        if node.height == 0 {
            self.leaves[node.place].len
        } else {
            self.inners[node.place].len
        }
    }

    /// What is below `node`, in the epoch of its own marks.
    pub(super) fn total(&self, node: Node) -> Total {
        if node.height == 0 {
            self.leaves[node.place].total()
        } else {
            self.inners[node.place].total()
        }
    }

    pub(super) fn parent(&self, node: Node) -> u32 {
        if node.height == 0 {
            self.leaves[node.place].parent
        } else {
            self.inners[node.place].parent
        }
    }

    pub(super) fn set_parent(&mut self, node: Node, parent: u32) {
        if node.height == 0 {
            self.leaves[node.place].parent = parent;
        } else {
            self.inners[node.place].parent = parent;
        }
    }

    pub(super) fn give(&mut self, node: Node) {
        if node.height == 0 {
            self.leaves.give(node.place);
        } else {
            self.inners.give(node.place);
        }
    }
}

/// Where `wanted` is in an array, which has it once among what counts and perhaps again behind that. Looks at all, since where to stop could only be guessed.
#[inline(always)]
pub(super) fn position<const N: usize>(of: &[u32; N], wanted: u32) -> usize {
    let marks = of
        .iter()
        .enumerate()
        .map(|(at, one)| u32::from(*one == wanted) << at);
    marks.fold(0, |all, mark| all | mark).trailing_zeros() as usize & (N - 1)
}
