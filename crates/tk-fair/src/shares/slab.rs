//! Numbered places that are found in one step and moved in few: growing never copies more than a chunk.
//!
//! A vector of a million nodes that grows copies all of them in one call, which somebody waits for. Here growth
//! allocates one more chunk. Chunks are large, so that the list of them, which every access goes through, stays in the nearest cache: with
//! small ones it would be one more wait for memory in each. Only the first grows like a vector, so that few values take little room.

use std::ops::{Index, IndexMut};

use crate::prefetch::prefetch;

/// Bytes of a chunk, at most. More would make the call longer that needs another one.
const CHUNK_BYTES: usize = 1 << 18;

/// Values in numbered places; a place that was given up is used again.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    /// All but the last are full.
    chunks: Vec<Vec<T>>,
    len: u32,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    /// Places of a chunk: a power of two.
    const CHUNK: usize = 1 << (CHUNK_BYTES / size_of::<T>()).ilog2();
}

impl<T: Clone + Default> Slab<T> {
    pub(crate) const fn new() -> Self {
        Self {
            chunks: Vec::new(),
            len: 0,
            free: Vec::new(),
        }
    }

    /// A place that holds `T::default()`.
    pub(crate) fn take(&mut self) -> u32 {
        if let Some(place) = self.free.pop() {
            self[place] = T::default();
            return place;
        }
        let place = self.len;
        let (chunk, at) = Self::split(place);
        if chunk == self.chunks.len() {
            let all = if chunk == 0 { 0 } else { Self::CHUNK };
            self.chunks.push(Vec::with_capacity(all));
        }
        let chunk = &mut self.chunks[chunk];
        if at == chunk.len() {
            chunk.push(T::default());
        } else {
            chunk[at] = T::default();
        }
        self.len += 1;
        place
    }

    /// Two different places at once.
    pub(crate) fn pair(&mut self, a: u32, b: u32) -> (&mut T, &mut T) {
        let ((ca, ia), (cb, ib)) = (Self::split(a), Self::split(b));
        if ca == cb {
            let chunk = &mut self.chunks[ca];
            let (low, high) = chunk.split_at_mut(ia.max(ib));
            let (low, high) = (&mut low[ia.min(ib)], &mut high[0]);
            return if ia < ib { (low, high) } else { (high, low) };
        }
        let (low, high) = self.chunks.split_at_mut(ca.max(cb));
        let (low, high) = (&mut low[ca.min(cb)], &mut high[0]);
        if ca < cb {
            (&mut low[ia], &mut high[ib])
        } else {
            (&mut high[ia], &mut low[ib])
        }
    }

    /// Gives up a place.
    pub(crate) fn give(&mut self, place: u32) {
        self.free.push(place);
    }

    /// Gives up every place, in one step, and keeps the memory for the next ones.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.free.clear();
    }
}

impl<T> Slab<T> {
    /// Asks for the first bytes of what is at `place`, if anything is.
    #[inline]
    pub(crate) fn expect(&self, place: u32, bytes: usize) {
        let (chunk, at) = Self::split(place);
        if let Some(value) = self.chunks.get(chunk).and_then(|chunk| chunk.get(at)) {
            prefetch(value, bytes);
        }
    }

    #[inline(always)]
    const fn split(place: u32) -> (usize, usize) {
        (place as usize / Self::CHUNK, place as usize % Self::CHUNK)
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;

    #[inline]
    fn index(&self, place: u32) -> &T {
        let (chunk, at) = Self::split(place);
        &self.chunks[chunk][at]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, place: u32) -> &mut T {
        let (chunk, at) = Self::split(place);
        &mut self.chunks[chunk][at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So large that a chunk has room for few.
    #[derive(Clone, Debug)]
    struct Large([u64; 4_096]);

    impl Default for Large {
        fn default() -> Self {
            Self([0; 4_096])
        }
    }

    #[test]
    fn values_stay_in_their_places_over_many_chunks() {
        let mut slab = Slab::<Large>::new();
        let all = 3 * Slab::<Large>::CHUNK as u32 + 1;
        for place in 0..all {
            assert_eq!(slab.take(), place);
            slab[place].0[9] = u64::from(place);
        }
        assert!((0..all).all(|place| slab[place].0[9] == u64::from(place)));
        for (a, b) in [(0, 1), (1, 0), (2, all - 1), (all - 1, 2)] {
            let (one, other) = slab.pair(a, b);
            assert_eq!((one.0[9], other.0[9]), (u64::from(a), u64::from(b)));
        }
    }

    #[test]
    fn a_place_that_was_given_up_is_used_again_and_holds_nothing() {
        let mut slab = Slab::<u64>::new();
        let (a, b) = (slab.take(), slab.take());
        slab[a] = 7;
        slab[b] = 8;
        slab.give(a);
        assert_eq!((slab.take(), slab[a], slab[b]), (a, 0, 8));
        slab.clear();
        assert_eq!((slab.take(), slab[0]), (0, 0));
    }
}
