//! The nodes of the tree, and what is summed in them.
//!
//! Nodes keep each attribute in an array of its own, and standings in masks: adding up the part of a node that is before a key
//! is then a few straight loops without branches.

use std::hint::black_box;

use crate::shares::level::Level;

/// Entries of a leaf.
pub(crate) const LEAF: usize = 16;

/// Children of an inner node.
pub(crate) const INNER: usize = 32;

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

    const fn side(&mut self, standing: Standing) -> Option<&mut Side> {
        match standing {
            Standing::Early => Some(&mut self.early),
            Standing::Late => Some(&mut self.late),
            Standing::Hidden => None,
        }
    }
}

impl Key {
    /// `self < other`, without a branch that a processor could only guess.
    #[inline(always)]
    pub(crate) fn is_before(&self, other: &Self) -> bool {
        let (level, theirs) = (self.level.bits(), other.level.bits());
        (level < theirs) | ((level == theirs) & (self.turn < other.turn))
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
    pub(crate) fn widen(&mut self, least: u64, most: u64) {
        self.least = self.least.min(least);
        self.most = self.most.max(most);
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
        self.costs.widen(item.cost, item.cost);
    }
}

/// Tenants in order.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub(crate) len: usize,
    /// The epoch in which the masks were written.
    epoch: u64,
    late: u32,
    hidden: u32,
    pub(crate) keys: [Key; LEAF],
    weight: [u32; LEAF],
    used: [u64; LEAF],
    cost: [u64; LEAF],
}

impl Default for Leaf {
    fn default() -> Self {
        Self {
            len: 0,
            epoch: 0,
            late: 0,
            hidden: 0,
            keys: [Key::default(); LEAF],
            weight: [0; LEAF],
            used: [0; LEAF],
            cost: [0; LEAF],
        }
    }
}

impl Leaf {
    /// Where `key` is, or else where it belongs.
    ///
    /// Halving would wait for one cache miss after another, and so would whoever moves the entries. Here all that a
    /// leaf is made of is asked for at once, and the search knows beforehand how many steps it has.
    #[inline]
    pub(crate) fn find(&self, key: &Key) -> Result<usize, usize> {
        self.touch();
        let before = |at: &usize| (*at < self.len) & self.keys[*at].is_before(key);
        let at = (0..LEAF).map(|at| usize::from(before(&at))).sum();
        if self.keys[..self.len].get(at) == Some(key) {
            Ok(at)
        } else {
            Err(at)
        }
    }

    /// Has the processor fetch all that it is made of.
    #[inline(always)]
    fn touch(&self) {
        let (key, pair) = (
            |at: usize| self.keys[at].turn,
            |a: &[u64; LEAF]| a[0] | a[LEAF / 2] | a[LEAF - 1],
        );
        let keys = key(0) | key(3) | key(6) | key(9) | key(12) | key(LEAF - 1);
        black_box(keys | u64::from(self.weight[0]) | pair(&self.used) | pair(&self.cost));
    }

    /// The late and the hidden, as they stand in `epoch`.
    #[inline]
    fn masks(&self, epoch: u64) -> (u32, u32) {
        if self.epoch == epoch {
            (self.late, self.hidden)
        } else {
            (0, 0)
        }
    }

    /// The item at `at`, as it stands in `epoch`.
    pub(crate) fn item(&self, at: usize, epoch: u64) -> Item {
        let (late, hidden) = self.masks(epoch);
        let standing = if hidden >> at & 1 == 1 {
            Standing::Hidden
        } else if late >> at & 1 == 1 {
            Standing::Late
        } else {
            Standing::Early
        };
        Item {
            weight: self.weight[at],
            standing,
            used: self.used[at],
            cost: self.cost[at],
        }
    }

    /// Writes out what the marks are in `epoch`.
    #[inline]
    pub(crate) fn refresh(&mut self, epoch: u64) {
        (self.late, self.hidden) = self.masks(epoch);
        self.epoch = epoch;
    }

    /// Adds up those of the first `end` that count and whose cost is at most `fits`.
    #[inline]
    pub(crate) fn add_fitting(&self, end: usize, fits: u64, epoch: u64, sums: &mut Sums) {
        let (late, hidden) = self.masks(epoch);
        let end = end.min(LEAF);
        for at in 0..end {
            let counts = u64::from(self.cost[at] <= fits) & u64::from(!hidden >> at & 1);
            let late = counts & u64::from(late >> at & 1);
            let (early, late) = ((counts ^ late).wrapping_neg(), late.wrapping_neg());
            let (weight, used) = (u64::from(self.weight[at]), self.used[at]);
            sums.early.weight += weight & early;
            sums.early.used += used & early;
            sums.late.weight += weight & late;
            sums.late.used += used & late;
        }
    }

    /// The largest cost in it.
    pub(crate) fn dearest(&self) -> u64 {
        self.cost[..self.len].iter().copied().max().unwrap_or(0)
    }

    pub(crate) fn insert(&mut self, at: usize, key: Key, item: &Item) {
        let (len, mask) = (self.len, (1 << at) - 1);
        self.keys.copy_within(at..len, at + 1);
        self.weight.copy_within(at..len, at + 1);
        self.used.copy_within(at..len, at + 1);
        self.cost.copy_within(at..len, at + 1);
        self.keys[at] = key;
        self.weight[at] = item.weight;
        self.used[at] = item.used;
        self.cost[at] = item.cost;
        let open =
            |marks: u32, mark: bool| marks & mask | (marks & !mask) << 1 | u32::from(mark) << at;
        self.late = open(self.late, item.standing == Standing::Late);
        self.hidden = open(self.hidden, item.standing == Standing::Hidden);
        self.len += 1;
    }

    pub(crate) fn remove(&mut self, at: usize) {
        let (len, mask) = (self.len, (1 << at) - 1);
        self.keys.copy_within(at + 1..len, at);
        self.weight.copy_within(at + 1..len, at);
        self.used.copy_within(at + 1..len, at);
        self.cost.copy_within(at + 1..len, at);
        self.late = self.late & mask | self.late >> 1 & !mask;
        self.hidden = self.hidden & mask | self.hidden >> 1 & !mask;
        self.len -= 1;
    }

    /// Hides the item at `at`.
    pub(crate) fn hide(&mut self, at: usize) {
        self.late &= !(1 << at);
        self.hidden |= 1 << at;
    }

    /// Parts with everything from `at` on.
    pub(crate) fn split_to(&mut self, at: usize, right: &mut Self) {
        right.len = self.len - at;
        right.epoch = self.epoch;
        right.late = self.late >> at;
        right.hidden = self.hidden >> at;
        right.keys[..right.len].copy_from_slice(&self.keys[at..self.len]);
        right.weight[..right.len].copy_from_slice(&self.weight[at..self.len]);
        right.used[..right.len].copy_from_slice(&self.used[at..self.len]);
        right.cost[..right.len].copy_from_slice(&self.cost[at..self.len]);
        self.late &= (1 << at) - 1;
        self.hidden &= (1 << at) - 1;
        self.len = at;
    }

    /// Takes over everything from `right`, which follows.
    pub(crate) fn append(&mut self, right: &Self) {
        let (at, end) = (self.len, self.len + right.len);
        self.late |= right.late << at;
        self.hidden |= right.hidden << at;
        self.keys[at..end].copy_from_slice(&right.keys[..right.len]);
        self.weight[at..end].copy_from_slice(&right.weight[..right.len]);
        self.used[at..end].copy_from_slice(&right.used[..right.len]);
        self.cost[at..end].copy_from_slice(&right.cost[..right.len]);
        self.len = end;
    }

    /// What is in it, in the epoch of its marks.
    pub(crate) fn total(&self) -> Total {
        let mut total = Total::default();
        for at in 0..self.len {
            total.count(&self.item(at, self.epoch));
        }
        total
    }
}

/// Children in order.
#[derive(Clone, Debug)]
pub(crate) struct Inner {
    pub(crate) len: usize,
    /// The epoch in which the sums were written.
    pub(crate) epoch: u64,
    /// Keys of child `i` are not below `keys[i]`, and those of child `i - 1` are; `keys[0]` is not looked at.
    pub(crate) keys: [Key; INNER],
    pub(crate) children: [u32; INNER],
    weight: [u64; INNER],
    costs: [Costs; INNER],
    early_weight: [u64; INNER],
    early_used: [u64; INNER],
    late_weight: [u64; INNER],
    late_used: [u64; INNER],
}

impl Default for Inner {
    fn default() -> Self {
        Self {
            len: 0,
            epoch: 0,
            keys: [Key::default(); INNER],
            children: [0; INNER],
            weight: [0; INNER],
            costs: [Costs::default(); INNER],
            early_weight: [0; INNER],
            early_used: [0; INNER],
            late_weight: [0; INNER],
            late_used: [0; INNER],
        }
    }
}

/// Calls a macro for each of the arrays that hold something of every child.
macro_rules! each_array {
    ($step:ident, $($argument:expr),*) => {
        $step!(keys, $($argument),*);
        $step!(children, $($argument),*);
        $step!(weight, $($argument),*);
        $step!(costs, $($argument),*);
        $step!(early_weight, $($argument),*);
        $step!(early_used, $($argument),*);
        $step!(late_weight, $($argument),*);
        $step!(late_used, $($argument),*);
    };
}

/// Moves a part of an array of `$node`.
macro_rules! shift {
    ($array:ident, $node:expr, $range:expr, $to:expr) => {
        $node.$array.copy_within($range, $to)
    };
}

/// Copies a part of an array of `$from` into one of `$to`.
macro_rules! copy {
    ($array:ident, $from:expr, $range:expr, $to:expr, $into:expr) => {
        $to.$array[$into].copy_from_slice(&$from.$array[$range])
    };
}

impl Inner {
    /// The child in which `key` is, if it is anywhere.
    #[inline]
    pub(crate) fn child_of(&self, key: &Key) -> usize {
        const STRIDE: usize = 8;
        let blocks = self.count((STRIDE..INNER).step_by(STRIDE), key);
        let from = (blocks * STRIDE).min(INNER - STRIDE);
        from + self.count(from + 1..from + STRIDE, key)
    }

    /// Has the processor fetch what a search looks at.
    #[inline(always)]
    pub(crate) fn touch(&self) {
        let turns = self.keys.iter().step_by(2).map(|key| key.turn);
        black_box(turns.fold(self.len as u64, |all, turn| all | turn));
    }

    #[inline(always)]
    fn count(&self, children: impl Iterator<Item = usize>, key: &Key) -> usize {
        let from = |i: usize| (i < self.len) & !key.is_before(&self.keys[i]);
        children.map(|i| usize::from(from(i))).sum()
    }

    /// Writes out what the sums are in `epoch`.
    #[inline]
    pub(crate) fn refresh(&mut self, epoch: u64) {
        if self.epoch != epoch {
            self.epoch = epoch;
            self.early_weight = self.weight;
            self.early_used = [0; INNER];
            self.late_weight = [0; INNER];
            self.late_used = [0; INNER];
        }
    }

    pub(crate) fn costs(&self, i: usize) -> Costs {
        self.costs[i]
    }

    /// The largest cost below it, or more.
    pub(crate) fn dearest(&self) -> u64 {
        let most = self.costs[..self.len].iter().map(|costs| costs.most);
        most.max().unwrap_or(0)
    }

    /// Adds the sums of some children, as they stand in `epoch`.
    #[inline]
    pub(crate) fn add(&self, children: std::ops::Range<usize>, epoch: u64, sums: &mut Sums) {
        let sum = |of: &[u64; INNER]| of[children.clone()].iter().sum::<u64>();
        if self.epoch == epoch {
            sums.early.weight += sum(&self.early_weight);
            sums.early.used += sum(&self.early_used);
            sums.late.weight += sum(&self.late_weight);
            sums.late.used += sum(&self.late_used);
        } else {
            sums.early.weight += sum(&self.weight);
        }
    }

    /// Counts an item that has gone into child `i`.
    #[inline]
    pub(crate) fn enter(&mut self, i: usize, item: &Item) {
        self.weight[i] += u64::from(item.weight);
        self.costs[i].widen(item.cost, item.cost);
        if let Some((weight, used)) = self.side(i, item.standing) {
            *weight += u64::from(item.weight);
            *used += item.used;
        }
    }

    /// Counts an item no more that has left child `i`.
    #[inline]
    pub(crate) fn leave(&mut self, i: usize, item: &Item) {
        self.weight[i] -= u64::from(item.weight);
        self.hide(i, item);
    }

    /// Counts an item no more that has been hidden in child `i`.
    #[inline]
    pub(crate) fn hide(&mut self, i: usize, item: &Item) {
        if let Some((weight, used)) = self.side(i, item.standing) {
            *weight -= u64::from(item.weight);
            *used -= item.used;
        }
    }

    #[inline]
    const fn side(&mut self, i: usize, standing: Standing) -> Option<(&mut u64, &mut u64)> {
        match standing {
            Standing::Early => Some((&mut self.early_weight[i], &mut self.early_used[i])),
            Standing::Late => Some((&mut self.late_weight[i], &mut self.late_used[i])),
            Standing::Hidden => None,
        }
    }

    /// Writes what is below child `i`.
    pub(crate) fn set(&mut self, i: usize, total: &Total) {
        self.weight[i] = total.weight;
        self.costs[i] = total.costs;
        self.early_weight[i] = total.sums.early.weight;
        self.early_used[i] = total.sums.early.used;
        self.late_weight[i] = total.sums.late.weight;
        self.late_used[i] = total.sums.late.used;
    }

    pub(crate) fn insert_child(&mut self, at: usize, least: Key, child: u32, total: &Total) {
        let len = self.len;
        each_array!(shift, self, at..len, at + 1);
        self.keys[at] = least;
        self.children[at] = child;
        self.set(at, total);
        self.len += 1;
    }

    pub(crate) fn remove_child(&mut self, at: usize) {
        let len = self.len;
        each_array!(shift, self, at + 1..len, at);
        self.len -= 1;
    }

    /// Parts with everything from `at` on.
    pub(crate) fn split_to(&mut self, at: usize, right: &mut Self) {
        let (len, rest) = (self.len, self.len - at);
        each_array!(copy, self, at..len, right, ..rest);
        right.len = rest;
        right.epoch = self.epoch;
        self.len = at;
    }

    /// Takes over everything from `right`, which follows and whose least key is `least`.
    pub(crate) fn append(&mut self, right: &Self, least: Key) {
        let (at, end) = (self.len, self.len + right.len);
        each_array!(copy, right, ..right.len, self, at..end);
        self.keys[at] = least;
        self.len = end;
    }

    /// What is below it, in the epoch of its sums.
    pub(crate) fn total(&self) -> Total {
        let mut total = Total {
            weight: self.weight[..self.len].iter().sum(),
            ..Total::default()
        };
        self.add(0..self.len, self.epoch, &mut total.sums);
        for costs in &self.costs[..self.len] {
            total.costs.widen(costs.least, costs.most);
        }
        total
    }
}
