//! Putting in, taking out and hiding.
//!
//! What is taken out or hidden is found by its owner, and what changes above it by climbing. Only what is put in is searched for.

use super::{
    Tree,
    inner::{INNER, Inner},
    leaf::LEAF,
    node::Node,
    sums::{Item, Key},
    way::Way,
};

/// Nodes with less than one place in so many taken look for a neighbour to merge with, if as many stay free then.
const SPARSE: usize = 4;

/// What goes in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct New<'a> {
    pub(crate) owner: u32,
    pub(crate) key: Key,
    pub(crate) item: &'a Item,
}

/// A node that was split off to the right, and the least key in it.
type Split = Option<(Key, u32)>;

impl Tree {
    /// Puts in the item of `owner`, who has none; `way` is the way there.
    pub(crate) fn insert_along(&mut self, way: &Way, new: &New<'_>, epoch: u64) {
        let Some((leaf, steps)) = way.whole(self).filter(|(leaf, _)| self.has_room(*leaf)) else {
            self.insert(new, epoch);
            return;
        };
        for (place, i) in steps {
            let inner = &mut self.inners[*place];
            inner.refresh(epoch);
            inner.enter(*i as usize, new.item);
        }
        self.insert_in_leaf(leaf, new, epoch);
    }

    /// Puts in the item of `owner`, who has none.
    pub(crate) fn insert(&mut self, new: &New<'_>, epoch: u64) {
        let Some((least, right)) = self.insert_at(self.root, new, epoch) else {
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

    fn has_room(&self, leaf: u32) -> bool {
        self.leaves[leaf].len < LEAF
    }

    /// Takes out what `owner` has, which is `item` as it counts in this epoch.
    pub(crate) fn remove(&mut self, owner: u32, item: &Item, epoch: u64) {
        let place = self.homes.of(owner);
        let leaf = &mut self.leaves[place];
        leaf.refresh(epoch);
        let at = leaf.position(owner);
        debug_assert_eq!(leaf.item(at, epoch), *item, "as it was put in");
        leaf.remove(at);
        self.climb(place, epoch, |inner, i| inner.leave(i, item));
        self.tidy(Node { place, height: 0 }, epoch);
    }

    /// Leaves what `owner` has, which is `item`, where it is and counts it no more in this epoch.
    pub(crate) fn hide(&mut self, owner: u32, item: &Item, epoch: u64) {
        let place = self.homes.of(owner);
        let leaf = &mut self.leaves[place];
        leaf.refresh(epoch);
        let at = leaf.position(owner);
        debug_assert_eq!(leaf.item(at, epoch), *item, "as it was counted");
        leaf.hide(at);
        self.climb(place, epoch, |inner, i| inner.hide(i, item));
    }

    /// Tells every node above a leaf in which of its children the leaf is.
    #[inline]
    fn climb(&mut self, leaf: u32, epoch: u64, mut tell: impl FnMut(&mut Inner, usize)) {
        let (mut child, mut parent) = (leaf, self.leaves[leaf].parent);
        for _ in 0..self.root.height {
            let inner = &mut self.inners[parent];
            inner.refresh(epoch);
            let i = inner.position(child);
            tell(inner, i);
            (child, parent) = (parent, inner.parent);
        }
    }

    fn insert_at(&mut self, node: Node, new: &New<'_>, epoch: u64) -> Split {
        if node.height == 0 {
            return self.insert_in_leaf(node.place, new, epoch);
        }
        let inner = &mut self.inners[node.place];
        inner.refresh(epoch);
        if node.height == 1 {
            inner.touch();
        }
        let i = inner.child_of(&new.key);
        inner.enter(i, new.item);
        let child = node.child(inner.children[i]);
        let split = self.insert_at(child, new, epoch)?;
        self.recount(node, i);
        if self.len(node) < INNER {
            self.adopt(node, i + 1, split);
            return None;
        }
        let sibling = Node {
            place: self.inners.take(),
            ..node
        };
        let (inner, half) = self.inners.pair(node.place, sibling.place);
        inner.split_to(INNER / 2, half);
        let (least, left) = (half.keys[0], inner.len);
        self.rehome(sibling, 0);
        if i < left {
            self.adopt(node, i + 1, split);
        } else {
            self.adopt(sibling, i + 1 - left, split);
        }
        Some((least, sibling.place))
    }

    fn insert_in_leaf(&mut self, place: u32, new: &New<'_>, epoch: u64) -> Split {
        let leaf = &mut self.leaves[place];
        leaf.refresh(epoch);
        let at = leaf.find(&new.key);
        if leaf.len < LEAF {
            leaf.insert(at, new.key, new.item, new.owner);
            self.homes.set(new.owner, place);
            return None;
        }
        let sibling = self.leaves.take();
        let (left, right) = self.leaves.pair(place, sibling);
        left.split_to(LEAF / 2, right);
        if at <= left.len {
            left.insert(at, new.key, new.item, new.owner);
            self.homes.set(new.owner, place);
        } else {
            right.insert(at - left.len, new.key, new.item, new.owner);
        }
        let least = right.least();
        let (place, height) = (sibling, 0);
        self.rehome(Node { place, height }, 0);
        Some((least, sibling))
    }

    /// Lets everything below `node` from `from` on know that it is there.
    fn rehome(&mut self, node: Node, from: usize) {
        self.shape += 1;
        let Node { place, height } = node;
        if height == 0 {
            let leaf = &self.leaves[place];
            let owners = &leaf.owners[from..leaf.len];
            owners
                .iter()
                .for_each(|owner| self.homes.set(*owner, place));
            return;
        }
        let Inner { children, len, .. } = self.inners[place];
        for child in &children[from..len] {
            self.set_parent(node.child(*child), place);
        }
    }

    /// Gives up `node` if it is empty, or merges it with a neighbour if it is nearly, and so on above it.
    fn tidy(&mut self, mut node: Node, epoch: u64) {
        while node.height < self.root.height {
            let len = self.len(node);
            if len * SPARSE >= node.width() {
                break;
            }
            let above = Node {
                place: self.parent(node),
                height: node.height + 1,
            };
            self.shape += 1;
            let i = self.inners[above.place].position(node.place);
            if len == 0 {
                self.give(node);
                self.inners[above.place].remove_child(i);
            } else {
                self.merge(above, i, epoch);
            }
            node = above;
        }
        while self.root.height > 0 && self.len(self.root) == 1 {
            let child = self.inners[self.root.place].children[0];
            self.inners.give(self.root.place);
            self.root = self.root.child(child);
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
        let (least, had) = (inner.keys[left + 1], len(left));
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
        self.rehome(node.child(a), had);
        self.give(node.child(b));
        self.inners[node.place].remove_child(left + 1);
        self.recount(node, left);
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
        self.set_parent(node.child(child), node.place);
        self.inners[node.place].insert_child(at, least, child, &total);
    }
}
