//! What a slot says about its key, in 128 bits.

/// Bits of a packed state; the width that `Strategy::pack` promises.
const STATE: u32 = 104;
/// Bits that name who packed the state.
const GENERATION: u32 = 4;
/// Bits of the incarnation.
const INCARNATION: u32 = 20;

const STATE_MASK: u128 = (1 << STATE) - 1;
const GENERATION_MASK: u128 = (1 << GENERATION) - 1;

/// Which registered strategy packed a state.
///
/// A word holds 1 to [`Generation::MAX`]. Zero marks a word that leads to the slab, and a strategy that found no
/// place in the register has a number that no word can hold, so that one comparison tells all cases apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Generation(u8);

impl Generation {
    /// How many strategies can be told apart.
    pub(crate) const MAX: usize = (1 << GENERATION) - 1;
    /// The number of a strategy that is not registered.
    pub(crate) const UNREGISTERED: Self = Self(1 << GENERATION);
    const SLAB: Self = Self(0);

    /// The generation of the strategy at `index` in the register.
    #[inline]
    pub(crate) const fn of_index(index: usize) -> Self {
        debug_assert!(index < Self::MAX);
        Self(index as u8 + 1)
    }

    /// The place in the register, if it has one.
    #[inline]
    pub(crate) const fn index(self) -> Option<usize> {
        match self.0 {
            0 | 16.. => None,
            number => Some(number as usize - 1),
        }
    }
}

/// Which life of a key it is: another after a reset, a removal, or a restart.
///
/// A word has room for the low bits of it, which name one life in a million of a shard's; a slab
/// entry has room for all of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incarnation {
    value: u64,
    mask: u64,
}

impl Incarnation {
    const NARROW: u64 = (1 << INCARNATION) - 1;

    pub(crate) const fn full(value: u64) -> Self {
        let mask = u64::MAX;
        Self { value, mask }
    }

    /// What a tag carries.
    pub(crate) const fn value(self) -> u64 {
        self.value
    }

    /// Whether a tag with this `value` was minted in this life.
    pub(crate) const fn is_named_by(self, value: u64) -> bool {
        self.value == value & self.mask
    }
}

/// A packed state, or where in the slab the state is, with its generation and incarnation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word(u128);

impl Word {
    #[inline]
    pub(crate) const fn packed(
        state: u128,
        generation: Generation,
        incarnation: Incarnation,
    ) -> Self {
        debug_assert!(state <= STATE_MASK, "a strategy packs into 104 bits");
        let incarnation = (incarnation.value & Incarnation::NARROW) as u128;
        let generation = generation.0 as u128;
        Self(incarnation << (STATE + GENERATION) | generation << STATE | state & STATE_MASK)
    }

    pub(crate) const fn in_slab(index: usize) -> Self {
        let incarnation = Incarnation::full(0);
        Self::packed(index as u128, Generation::SLAB, incarnation)
    }

    #[inline]
    pub(crate) const fn from_halves([low, high]: [u64; 2]) -> Self {
        Self((high as u128) << 64 | low as u128)
    }

    #[inline]
    pub(crate) const fn halves(self) -> [u64; 2] {
        [self.0 as u64, (self.0 >> 64) as u64]
    }

    #[inline]
    pub(crate) const fn generation(self) -> Generation {
        Generation((self.0 >> STATE & GENERATION_MASK) as u8)
    }

    #[inline]
    pub(crate) const fn state(self) -> u128 {
        self.0 & STATE_MASK
    }

    /// The place in the slab, if that is where the state is.
    #[inline]
    pub(crate) const fn slab_index(self) -> Option<usize> {
        match self.generation() {
            Generation::SLAB => Some(self.state() as usize),
            _ => None,
        }
    }

    #[inline]
    pub(crate) const fn incarnation(self) -> Incarnation {
        Incarnation {
            value: (self.0 >> (STATE + GENERATION)) as u64,
            mask: Incarnation::NARROW,
        }
    }

    /// The same life of the key, in another state of the same generation.
    #[inline]
    pub(crate) const fn with_state(self, state: u128) -> Self {
        debug_assert!(state <= STATE_MASK, "a strategy packs into 104 bits");
        Self(self.0 & !STATE_MASK | state & STATE_MASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_gives_back_what_it_was_made_of() {
        for (index, state) in [(0, 0), (6, 1 << 103), (14, STATE_MASK)] {
            let generation = Generation::of_index(index);
            let word = Word::packed(state, generation, Incarnation::full(0x1234_5678_9abc));
            assert_eq!(word.state(), state);
            assert_eq!(word.generation(), generation);
            assert_eq!(word.generation().index(), Some(index));
            assert_eq!(word.slab_index(), None);
            assert_eq!(word.incarnation().value(), 0x8_9abc);
            assert!(word.incarnation().is_named_by(0x1234_5678_9abc));
            assert!(!word.incarnation().is_named_by(0x1234_5678_9abd));
            let other = word.with_state(STATE_MASK - state);
            assert_eq!(other.state(), STATE_MASK - state);
            assert_eq!(other.generation(), generation);
        }
    }

    #[test]
    fn no_word_is_of_an_unregistered_generation() {
        assert_eq!(Generation::UNREGISTERED.index(), None);
        for bits in [0, u128::MAX, 1 << 107] {
            assert_ne!(Word(bits).generation(), Generation::UNREGISTERED);
        }
        assert_eq!(Word::in_slab(77).slab_index(), Some(77));
        assert_eq!(Word::in_slab(77).generation().index(), None);
    }
}
