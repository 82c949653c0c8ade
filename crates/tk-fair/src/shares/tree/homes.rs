//! Which leaf an item is in.
//!
//! Whoever moves or hides an item of a million need not search for it, and what a search looks at need not come from memory.

/// Homes that are kept together.
const CHUNK: usize = 4_096;

/// Leaves by owner. What it says of somebody without an item means nothing.
#[derive(Debug, Default)]
pub(crate) struct Homes(Vec<Box<[u32]>>);

impl Homes {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    #[inline]
    pub(crate) fn of(&self, owner: u32) -> u32 {
        self.0[owner as usize / CHUNK][owner as usize % CHUNK]
    }

    /// The same of somebody who may not be known.
    #[inline]
    pub(crate) fn get(&self, owner: u32) -> Option<u32> {
        let chunk = self.0.get(owner as usize / CHUNK)?;
        chunk.get(owner as usize % CHUNK).copied()
    }

    #[inline]
    pub(crate) fn set(&mut self, owner: u32, leaf: u32) {
        let (chunk, at) = (owner as usize / CHUNK, owner as usize % CHUNK);
        if self.0.get(chunk).is_none_or(|chunk| chunk.is_empty()) {
            self.add(chunk);
        }
        self.0[chunk][at] = leaf;
    }

    #[cold]
    fn add(&mut self, chunk: usize) {
        if self.0.len() <= chunk {
            self.0.resize_with(chunk + 1, Box::default);
        }
        self.0[chunk] = vec![0; CHUNK].into_boxed_slice();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use quickcheck::quickcheck;

    use super::*;

    quickcheck! {
        fn says_what_was_said_last(steps: Vec<(u16, u32)>) -> bool {
            let (mut homes, mut twin) = (Homes::new(), BTreeMap::new());
            for (owner, leaf) in steps {
                homes.set(u32::from(owner), leaf);
                twin.insert(u32::from(owner), leaf);
            }
            twin.iter().all(|(owner, leaf)| homes.of(*owner) == *leaf && homes.get(*owner) == Some(*leaf))
                && homes.get(1 << 20).is_none()
        }
    }
}
