//! Asks for memory before it is needed.
//!
//! A check of one of a million tenants is mostly waiting: for its record, and for the nodes of the trees that its charge changes. Which nodes these are is known
//! before the first of them is looked at, so they can come together. A load that nobody uses yet would do, but the processor
//! does not get far past one that has not come. There is no safe way to ask without waiting, hence the one unsafe block of this crate; without it a check at a
//! million tenants takes a sixth longer (2.2 us for 1.9).

/// Asks for all of `value`, or for as much of it as its first `bytes` are.
#[inline(always)]
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[expect(
    unsafe_code,
    reason = "there is no safe prefetch; see the module's header"
)]
pub(crate) fn prefetch<T>(value: &T, bytes: usize) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    /// Bytes of a line of the cache.
    const LINE: usize = 64;

    let start = core::ptr::from_ref(value).cast::<i8>();
    for line in 0..bytes.min(size_of::<T>()).div_ceil(LINE) {
        // SAFETY: a prefetch reads nothing that the program can see and cannot fault, whatever the address; and
        // the instruction is part of the base x86_64 set.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(LINE * line)) }
    }
}

/// Does nothing where no stable way to ask is known.
#[inline(always)]
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub(crate) fn prefetch<T>(_: &T, _: usize) {}
