//! Where a table lies, for those who have not locked it yet.

use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use super::{FlatTable, Keyed};
use crate::{Fingerprint, prefetch};

/// Where a [`FlatTable`] lies, as of some moment: enough to ask for a slot before the lock of the table is had, and never used for
/// anything else.
///
/// ```
/// use tk_core::{FlatTable, Fingerprint, Keyed, TableHint};
/// # #[derive(Clone, Copy, Default)]
/// # struct Count(u128);
/// # impl Keyed for Count {
/// #     fn bits(&self) -> u128 { self.0 }
/// # }
/// # let hashes = [std::hash::RandomState::new(), std::hash::RandomState::new()];
/// let (mut table, hint) = (FlatTable::<Count>::default(), TableHint::new());
/// for key in 0..100 {
///     let key = Fingerprint::of(&key, &hashes);
///     if let Err(vacant) = table.find(key) {
///         table.insert(vacant, Count(key.bits()));
///         hint.note(&table);
///     }
/// }
/// let seven = Fingerprint::of(&7, &hashes);
/// assert!(hint.prefetch::<Count>(seven, 64), "there are more than 64 slots");
/// assert!(table.find(seven).is_ok());
/// ```
#[derive(Debug, Default)]
pub struct TableHint {
    base: AtomicPtr<u8>,
    capacity: AtomicUsize,
}

impl TableHint {
    /// Of a table without slots.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            base: AtomicPtr::new(core::ptr::null_mut()),
            capacity: AtomicUsize::new(0),
        }
    }

    /// Notes where the table lies now. It moves when it grows or shrinks, and until that is noted the hint costs time, nothing else; nor
    /// need the two parts fit together.
    #[inline]
    pub fn note<T: Keyed>(&self, table: &FlatTable<T>) {
        let base = table.base();
        if self.base.load(Ordering::Relaxed).cast_const() != base {
            self.base.store(base.cast_mut(), Ordering::Relaxed);
            self.capacity.store(table.capacity(), Ordering::Relaxed);
        }
    }

    /// Asks for the two lines in which the search for a fingerprint begins, if the table has at least `far` slots: a smaller one is in the
    /// caches anyway, perhaps in those of another thread that is about to write there, and had better not lose them first.
    ///
    /// Answers whether it has.
    #[inline(always)]
    pub fn prefetch<T: Keyed>(&self, fingerprint: Fingerprint, far: usize) -> bool {
        let base = self.base.load(Ordering::Relaxed).cast_const();
        let capacity = self.capacity.load(Ordering::Relaxed);
        if capacity < far {
            return false;
        }
        for address in FlatTable::<T>::addresses(base, capacity, fingerprint) {
            prefetch(address);
        }
        true
    }
}
