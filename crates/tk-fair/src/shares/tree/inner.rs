//! The nodes above the leaves, and what is summed in them.

use std::{hint::black_box, ops::Range};

use super::{
    node::position,
    sums::{Costs, Item, Key, Sums, Total},
};
use crate::prefetch::prefetch;

/// Children of an inner node.
pub(crate) const INNER: usize = 32;

/// Children in order.
///
/// What is summed over a child lies together, since most visits change it for one child.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Inner {
    totals: [Total; INNER],
    /// Keys of child `i` are not below `keys[i]`, and those of child `i - 1` are; `keys[0]` is not looked at.
    pub(crate) keys: [Key; INNER],
    pub(crate) children: [u32; INNER],
    pub(crate) len: usize,
    /// The epoch in which the sums were written.
    pub(crate) epoch: u64,
    /// The inner node that it is below, unless it is the root.
    pub(crate) parent: u32,
}

impl Inner {
    /// Asks for what a search looks at.
    #[inline(always)]
    pub(crate) fn expect_search(&self) {
        prefetch(&self.keys, usize::MAX);
        self.expect_climb();
    }

    /// Asks for what finding a child looks at.
    #[inline(always)]
    pub(crate) fn expect_climb(&self) {
        prefetch(&self.children, usize::MAX);
        prefetch(&self.len, usize::MAX);
    }

    /// Asks for what is summed over child `i`.
    #[inline(always)]
    pub(crate) fn expect_total(&self, i: usize) {
        prefetch(&self.totals[i], usize::MAX);
    }

    /// Which child is at this place; there is one.
    #[inline]
    pub(crate) fn position(&self, child: u32) -> usize {
        position(&self.children, child)
    }

    /// The child in which `key` is, if it is anywhere.
    #[inline]
    pub(crate) fn child_of(&self, key: &Key) -> usize {
        let mut at = 0;
        let mut step = INNER / 2;
        while step > 0 {
            let next = at + step;
            let reaches = (next < self.len) & !key.is_before(&self.keys[next & (INNER - 1)]);
            at += step * usize::from(reaches);
            step /= 2;
        }
        at & (INNER - 1)
    }

    /// Has the processor fetch what a search looks at.
    #[inline(always)]
    pub(crate) fn touch(&self) {
        let turns = self.keys.iter().step_by(2).map(|key| key.turn);
        let children = self.children[0] | self.children[INNER / 2];
        let first = self.len as u64 | u64::from(children);
        black_box(turns.fold(first, |all, turn| all | turn));
    }

    /// Writes out what the sums are in `epoch`.
    #[inline]
    pub(crate) fn refresh(&mut self, epoch: u64) {
        if self.epoch != epoch {
            self.epoch = epoch;
            for total in &mut self.totals {
                total.sums = Sums::default();
                total.sums.early.weight = total.weight;
            }
        }
    }

    pub(crate) const fn costs(&self, i: usize) -> Costs {
        self.totals[i].costs
    }

    /// The largest cost below it, or more.
    pub(crate) fn dearest(&self) -> u64 {
        let most = self.totals[..self.len].iter().map(|total| total.costs.most);
        most.max().unwrap_or(0)
    }

    /// Adds the sums of some children, as they stand in `epoch`.
    #[inline]
    pub(crate) fn add(&self, children: Range<usize>, epoch: u64, sums: &mut Sums) {
        let totals = &self.totals[children];
        if self.epoch == epoch {
            totals.iter().for_each(|total| sums.add(&total.sums));
        } else {
            sums.early.weight += totals.iter().map(|total| total.weight).sum::<u64>();
        }
    }

    /// Counts an item that has gone into child `i`.
    #[inline]
    pub(crate) fn enter(&mut self, i: usize, item: &Item) {
        self.totals[i].count(item);
    }

    /// Counts an item no more that has left child `i`.
    #[inline]
    pub(crate) fn leave(&mut self, i: usize, item: &Item) {
        self.totals[i].weight -= u64::from(item.weight);
        self.hide(i, item);
    }

    /// Counts an item no more that has been hidden in child `i`.
    #[inline]
    pub(crate) fn hide(&mut self, i: usize, item: &Item) {
        self.totals[i].sums.discount(item);
    }

    /// Writes what is below child `i`.
    pub(crate) const fn set(&mut self, i: usize, total: &Total) {
        self.totals[i] = *total;
    }

    pub(crate) fn insert_child(&mut self, at: usize, least: Key, child: u32, total: &Total) {
        let len = self.len;
        self.totals.copy_within(at..len, at + 1);
        self.keys.copy_within(at..len, at + 1);
        self.children.copy_within(at..len, at + 1);
        self.totals[at] = *total;
        self.keys[at] = least;
        self.children[at] = child;
        self.len += 1;
    }

    pub(crate) fn remove_child(&mut self, at: usize) {
        let len = self.len;
        self.totals.copy_within(at + 1..len, at);
        self.keys.copy_within(at + 1..len, at);
        self.children.copy_within(at + 1..len, at);
        self.len -= 1;
    }

    /// Parts with everything from `at` on.
    pub(crate) fn split_to(&mut self, at: usize, right: &mut Self) {
        let (len, rest) = (self.len, self.len - at);
        right.totals[..rest].copy_from_slice(&self.totals[at..len]);
        right.keys[..rest].copy_from_slice(&self.keys[at..len]);
        right.children[..rest].copy_from_slice(&self.children[at..len]);
        right.len = rest;
        right.epoch = self.epoch;
        self.len = at;
    }

    /// Takes over everything from `right`, which follows and whose least key is `least`.
    pub(crate) fn append(&mut self, right: &Self, least: Key) {
        let (at, end) = (self.len, self.len + right.len);
        self.totals[at..end].copy_from_slice(&right.totals[..right.len]);
        self.keys[at..end].copy_from_slice(&right.keys[..right.len]);
        self.children[at..end].copy_from_slice(&right.children[..right.len]);
        self.keys[at] = least;
        self.len = end;
    }

    /// What is below it, in the epoch of its sums.
    pub(crate) fn total(&self) -> Total {
        let mut all = Total::default();
        for total in &self.totals[..self.len] {
            all.weight += total.weight;
            all.sums.add(&total.sums);
            all.costs.widen(total.costs.least, total.costs.most);
        }
        all
    }
}
