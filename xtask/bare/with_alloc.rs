//! A program without std, with an allocator of its own, that decides with tk-core's `alloc` feature.
//!
//! It is no part of any crate; `cargo xtask ci bare` builds and runs it. Its exit code tells which
//! decision was wrong, 0 if none was.

#![no_std]
#![no_main]

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;

use tk_core::{SlidingWindow, SlidingWindowLog, Strategy, Timestamp};

// A program must start somewhere: the C library's start-up code calls `main`.
#[cfg_attr(target_vendor = "apple", link(name = "System"))]
#[cfg_attr(not(target_vendor = "apple"), link(name = "c"))]
unsafe extern "C" {}

/// std has one of its own, and two cannot be linked: this is what makes the program a proof.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}

/// The compiler's tables name it, though nothing unwinds here.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// As above; the precompiled core calls it from landing pads that are never reached.
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() -> ! {
    loop {}
}

const HEAP_BYTES: usize = 1 << 20;

/// Hands out a fixed block from its start and takes nothing back.
struct Bump {
    heap: UnsafeCell<[u8; HEAP_BYTES]>,
    used: AtomicUsize,
}

// SAFETY: bytes are only reached through `alloc`, which gives each of them away once.
unsafe impl Sync for Bump {}

// SAFETY: every block lies within the heap, is aligned, and overlaps no other, since `used` only grows.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let start = self.heap.get().cast::<u8>();
        let wanted = layout.size() + layout.align();
        let offset = self.used.fetch_add(wanted, Ordering::Relaxed);
        if offset + wanted > HEAP_BYTES {
            return core::ptr::null_mut();
        }
        // SAFETY: checked just above.
        let block = unsafe { start.add(offset) };
        // SAFETY: moves by less than `align`, which `wanted` has room for.
        unsafe { block.add(block.align_offset(layout.align())) }
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static ALLOCATOR: Bump = Bump {
    heap: UnsafeCell::new([0; HEAP_BYTES]),
    used: AtomicUsize::new(0),
};

#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    let second = Duration::from_secs(1);
    let (Ok(window), Ok(log)) = (
        SlidingWindow::new(10, second),
        SlidingWindowLog::new(10, second),
    ) else {
        return 1;
    };
    if !admits_ten(&window) {
        return 2;
    }
    if !admits_ten(&log) {
        return 3;
    }
    0
}

/// Ten at once, then none, and the promise of the denial is kept.
fn admits_ten<S: Strategy>(strategy: &S) -> bool {
    let mut state = S::State::default();
    let mut now = Timestamp::from_secs(1_000);
    for _ in 0..10 {
        if !strategy.decide(&mut state, now, 1).allowed {
            return false;
        }
    }
    let denied = strategy.decide(&mut state, now, 1);
    let wait = denied.retry_after.as_micros() as u64;
    now = Timestamp::from_micros(now.as_micros() + wait);
    !denied.allowed && wait > 0 && strategy.decide(&mut state, now, 1).allowed
}
