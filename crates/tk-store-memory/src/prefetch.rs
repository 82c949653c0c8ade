//! Asks for memory before it is needed.
//!
//! A check of one of a million keys spends most of its time waiting for its slot to come from memory. Several checks at once
//! can wait together: 16 slots asked for in advance come in about the time of one. There is no safe way to say so
//! to the processor, hence the one unsafe block of this crate; without it a batch takes two to three times as long.

use crate::sync::{AtomicPtr, AtomicUsize, Ordering};

/// Where a table lies, as of some moment: enough to ask for a slot in advance, and never used for anything else.
#[derive(Debug)]
pub(crate) struct Hint {
    base: AtomicPtr<u8>,
    capacity: AtomicUsize,
}

impl Hint {
    pub(crate) fn new() -> Self {
        Self {
            base: AtomicPtr::new(core::ptr::null_mut()),
            capacity: AtomicUsize::new(0),
        }
    }

    /// Remembers where the table lies now. The two parts need not fit together: a wrong hint costs time, nothing else.
    #[inline]
    pub(crate) fn set(&self, base: *const u8, capacity: usize) {
        if self.base.load(Ordering::Relaxed).cast_const() != base {
            self.base.store(base.cast_mut(), Ordering::Relaxed);
            self.capacity.store(capacity, Ordering::Relaxed);
        }
    }

    /// The table's place and its capacity in slots.
    #[inline(always)]
    pub(crate) fn get(&self) -> (*const u8, usize) {
        let base = self.base.load(Ordering::Relaxed);
        (base.cast_const(), self.capacity.load(Ordering::Relaxed))
    }
}

/// Asks for the cache line at `address`, which need not be valid.
#[inline(always)]
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[expect(
    unsafe_code,
    reason = "there is no safe prefetch; see the module's header"
)]
pub(crate) fn prefetch(address: *const u8) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch reads nothing that the program can see and cannot fault, whatever the address; and
    // the instruction is part of the base x86_64 set.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
}

/// Does nothing where no stable way to ask is known.
#[inline(always)]
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub(crate) fn prefetch(_: *const u8) {}
