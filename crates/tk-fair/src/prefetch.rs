//! Asks for memory before it is needed.
//!
//! A check of one of a million tenants is mostly waiting: for its record, and for the nodes of the trees that its charge changes. Which nodes these are is known
//! before the first of them is looked at, so they can come together. A load that nobody uses yet would do, but the processor
//! does not get far past one that has not come. Without asking, a check at a million tenants takes a sixth longer (2.2 us for 1.9).

/// Asks for all of `value`, or for as much of it as its first `bytes` are.
#[inline(always)]
pub(crate) fn prefetch<T>(value: &T, bytes: usize) {
    /// Bytes of a line of the cache.
    const LINE: usize = 64;

    let start = core::ptr::from_ref(value).cast::<u8>();
    for line in 0..bytes.min(size_of::<T>()).div_ceil(LINE) {
        tk_core::prefetch(start.wrapping_add(LINE * line));
    }
}
