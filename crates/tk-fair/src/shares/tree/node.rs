//! The nodes of the tree, and what is summed in them.

use crate::shares::level::Level;

/// Entries of a leaf, and children of an inner node.
pub(crate) const WIDTH: usize = 32;

/// A tenant's place in line: the level that its next cost would take it to, and its turn among equals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) level: Level,
    /// Unique, so keys are.
    pub(crate) turn: u64,
}

/// What a tenant is to the present window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Active since its first instant, so something of it is promised.
    #[default]
    Early,
    /// Joined since.
    Late,
    /// Not counted here.
    Hidden,
}

/// What the tree knows of a tenant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) weight: u32,
    pub(crate) standing: Standing,
    pub(crate) used: u64,
    pub(crate) cost: u64,
}

/// Sums over some tenants of one standing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) weight: u64,
    pub(crate) used: u64,
}

/// Sums over some tenants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) early: Side,
    pub(crate) late: Side,
}

impl Sums {
    #[inline]
    pub(crate) fn add(&mut self, other: &Self) {
        self.early.weight += other.early.weight;
        self.early.used += other.early.used;
        self.late.weight += other.late.weight;
        self.late.used += other.late.used;
    }

    #[inline]
    fn count(&mut self, item: &Item) {
        if let Some(side) = self.side(item.standing) {
            side.weight += u64::from(item.weight);
            side.used += item.used;
        }
    }

    #[inline]
    pub(crate) fn discount(&mut self, item: &Item) {
        if let Some(side) = self.side(item.standing) {
            side.weight -= u64::from(item.weight);
            side.used -= item.used;
        }
    }

    const fn side(&mut self, standing: Standing) -> Option<&mut Side> {
        match standing {
            Standing::Early => Some(&mut self.early),
            Standing::Late => Some(&mut self.late),
            Standing::Hidden => None,
        }
    }
}

/// Bounds on some costs. They may be wider than the costs are: taking one out does not narrow them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Costs {
    pub(crate) least: u64,
    pub(crate) most: u64,
}

impl Default for Costs {
    /// The bounds of no costs.
    fn default() -> Self {
        Self {
            least: u64::MAX,
            most: 0,
        }
    }
}

impl Costs {
    #[inline]
    fn widen(&mut self, other: &Self) {
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
    }
}

/// What is below a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Total {
    /// The sum of weights, whatever the marks say.
    pub(crate) weight: u64,
    pub(crate) costs: Costs,
    /// The sums over those that count in the node's epoch.
    pub(crate) sums: Sums,
}

impl Total {
    #[inline]
    pub(crate) fn count(&mut self, item: &Item) {
        self.weight += u64::from(item.weight);
        self.sums.count(item);
        self.costs.widen(&Costs {
            least: item.cost,
            most: item.cost,
        });
    }

    #[inline]
    pub(crate) fn discount(&mut self, item: &Item) {
        self.weight -= u64::from(item.weight);
        self.sums.discount(item);
    }

    fn add(&mut self, other: &Self) {
        self.weight += other.weight;
        self.sums.add(&other.sums);
        self.costs.widen(&other.costs);
    }

    /// The sums at a window's start: everyone is early and has used nothing.
    #[inline]
    fn unmarked(&self) -> Sums {
        let (weight, used) = (self.weight, 0);
        Sums {
            early: Side { weight, used },
            late: Side::default(),
        }
    }
}

/// Tenants in order.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub(crate) len: usize,
    /// The epoch in which the standings were written.
    pub(crate) epoch: u64,
    pub(crate) keys: [Key; WIDTH],
    pub(crate) items: [Item; WIDTH],
}

impl Default for Leaf {
    fn default() -> Self {
        Self {
            len: 0,
            epoch: 0,
            keys: [Key::default(); WIDTH],
            items: [Item::default(); WIDTH],
        }
    }
}

impl Leaf {
    pub(crate) fn find(&self, key: &Key) -> Result<usize, usize> {
        self.keys[..self.len].binary_search(key)
    }

    /// The item at `at`, as it stands in `epoch`.
    #[inline]
    pub(crate) fn item(&self, at: usize, epoch: u64) -> Item {
        let mut item = self.items[at];
        if self.epoch != epoch {
            item.standing = Standing::Early;
        }
        item
    }

    /// Writes out what the marks are in `epoch`.
    #[inline]
    pub(crate) fn refresh(&mut self, epoch: u64) {
        if self.epoch != epoch {
            self.epoch = epoch;
            for item in &mut self.items[..self.len] {
                item.standing = Standing::Early;
            }
        }
    }

    /// Adds up those of the first `end` that count and whose cost is at most `fits`.
    pub(crate) fn add_fitting(&self, end: usize, fits: u64, epoch: u64, sums: &mut Sums) {
        for at in 0..end {
            let item = self.item(at, epoch);
            if item.cost <= fits {
                sums.count(&item);
            }
        }
    }

    pub(crate) fn insert(&mut self, key: Key, item: Item) {
        let (Ok(at) | Err(at)) = self.find(&key);
        self.keys.copy_within(at..self.len, at + 1);
        self.items.copy_within(at..self.len, at + 1);
        self.keys[at] = key;
        self.items[at] = item;
        self.len += 1;
    }

    pub(crate) fn remove(&mut self, key: &Key) -> Option<Item> {
        let at = self.find(key).ok()?;
        let item = self.items[at];
        self.keys.copy_within(at + 1..self.len, at);
        self.items.copy_within(at + 1..self.len, at);
        self.len -= 1;
        Some(item)
    }

    /// Parts with the right half.
    pub(crate) fn split(&mut self) -> Self {
        let left = self.len / 2;
        let mut right = Self {
            len: self.len - left,
            epoch: self.epoch,
            ..Self::default()
        };
        right.keys[..right.len].copy_from_slice(&self.keys[left..self.len]);
        right.items[..right.len].copy_from_slice(&self.items[left..self.len]);
        self.len = left;
        right
    }

    /// Takes over everything from `right`, which follows.
    pub(crate) fn append(&mut self, right: &Self) {
        let end = self.len + right.len;
        self.keys[self.len..end].copy_from_slice(&right.keys[..right.len]);
        self.items[self.len..end].copy_from_slice(&right.items[..right.len]);
        self.len = end;
    }

    pub(crate) fn total(&self) -> Total {
        let mut total = Total::default();
        for item in &self.items[..self.len] {
            total.count(item);
        }
        total
    }
}

/// Children in order.
#[derive(Clone, Debug)]
pub(crate) struct Inner {
    pub(crate) len: usize,
    /// The epoch in which the totals' sums were written.
    pub(crate) epoch: u64,
    /// Keys of child `i` are not below `keys[i]`, and those of child `i - 1` are; `keys[0]` is not looked at.
    pub(crate) keys: [Key; WIDTH],
    pub(crate) children: [u32; WIDTH],
    pub(crate) totals: [Total; WIDTH],
}

impl Default for Inner {
    fn default() -> Self {
        Self {
            len: 0,
            epoch: 0,
            keys: [Key::default(); WIDTH],
            children: [0; WIDTH],
            totals: [Total::default(); WIDTH],
        }
    }
}

impl Inner {
    /// The child in which `key` is, if it is anywhere.
    #[inline]
    pub(crate) fn child_of(&self, key: &Key) -> usize {
        self.keys[1..self.len].partition_point(|least| least <= key)
    }

    /// Writes out what the sums are in `epoch`.
    #[inline]
    pub(crate) fn refresh(&mut self, epoch: u64) {
        if self.epoch != epoch {
            self.epoch = epoch;
            for total in &mut self.totals[..self.len] {
                total.sums = total.unmarked();
            }
        }
    }

    /// The sums of child `i`, as they stand in `epoch`.
    #[inline]
    pub(crate) fn sums(&self, i: usize, epoch: u64) -> Sums {
        if self.epoch == epoch {
            self.totals[i].sums
        } else {
            self.totals[i].unmarked()
        }
    }

    pub(crate) fn insert_child(&mut self, at: usize, least: Key, child: u32, total: Total) {
        self.keys.copy_within(at..self.len, at + 1);
        self.children.copy_within(at..self.len, at + 1);
        self.totals.copy_within(at..self.len, at + 1);
        self.keys[at] = least;
        self.children[at] = child;
        self.totals[at] = total;
        self.len += 1;
    }

    pub(crate) fn remove_child(&mut self, at: usize) {
        self.keys.copy_within(at + 1..self.len, at);
        self.children.copy_within(at + 1..self.len, at);
        self.totals.copy_within(at + 1..self.len, at);
        self.len -= 1;
    }

    /// Parts with the right half.
    pub(crate) fn split(&mut self) -> Self {
        let left = self.len / 2;
        let mut right = Self {
            len: self.len - left,
            epoch: self.epoch,
            ..Self::default()
        };
        right.keys[..right.len].copy_from_slice(&self.keys[left..self.len]);
        right.children[..right.len].copy_from_slice(&self.children[left..self.len]);
        right.totals[..right.len].copy_from_slice(&self.totals[left..self.len]);
        self.len = left;
        right
    }

    /// Takes over everything from `right`, which follows and whose least key is `least`.
    pub(crate) fn append(&mut self, right: &Self, least: Key) {
        let (at, end) = (self.len, self.len + right.len);
        self.keys[at..end].copy_from_slice(&right.keys[..right.len]);
        self.keys[at] = least;
        self.children[at..end].copy_from_slice(&right.children[..right.len]);
        self.totals[at..end].copy_from_slice(&right.totals[..right.len]);
        self.len = end;
    }

    pub(crate) fn total(&self) -> Total {
        let mut total = Total::default();
        for child in &self.totals[..self.len] {
            total.add(child);
        }
        total
    }
}
