//! Numbered places that never move: growing never copies what is there.
//!
//! A vector of a million nodes that grows copies all of them in one call, which somebody waits for.
//! Here growth allocates one more chunk.

use std::ops::{Index, IndexMut};

/// Places in a chunk. More would make the call longer that needs another one.
const CHUNK: usize = 64;

/// Values in numbered places; a place that was given up is used again.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    chunks: Vec<Box<[T]>>,
    len: u32,
    free: Vec<u32>,
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
        let place = self.free.pop().unwrap_or_else(|| {
            if self.len as usize == self.chunks.len() * CHUNK {
                self.chunks
                    .push(vec![T::default(); CHUNK].into_boxed_slice());
            }
            self.len += 1;
            self.len - 1
        });
        self[place] = T::default();
        place
    }

    /// Two different places at once.
    pub(crate) fn pair(&mut self, a: u32, b: u32) -> (&mut T, &mut T) {
        let (ca, cb) = (a as usize / CHUNK, b as usize / CHUNK);
        let (ia, ib) = (a as usize % CHUNK, b as usize % CHUNK);
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

impl<T> Index<u32> for Slab<T> {
    type Output = T;

    #[inline]
    fn index(&self, place: u32) -> &T {
        &self.chunks[place as usize / CHUNK][place as usize % CHUNK]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, place: u32) -> &mut T {
        &mut self.chunks[place as usize / CHUNK][place as usize % CHUNK]
    }
}
