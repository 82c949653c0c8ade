//! Asks for memory before it is needed.
//!
//! A check of one of a million keys is mostly waiting for its slot to come from memory. Several slots that are asked for at once
//! come in about the time of one, and one that is asked for before the clock is read comes meanwhile. There is no safe way to say so to the
//! processor, hence the one unsafe block of all these crates; without it a batch takes two to three times as long.

/// Asks for the cache line at `address`, which need not be valid.
///
/// It is a hint, and changes nothing but time. Where no stable way to give it is known, nothing happens.
#[inline(always)]
#[cfg_attr(
    all(target_arch = "x86_64", not(miri)),
    expect(
        unsafe_code,
        reason = "there is no safe prefetch; see the module's header"
    )
)]
pub fn prefetch(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing that the program can see and cannot fault, whatever the address; and
        // the instruction is part of the base x86_64 set.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}
