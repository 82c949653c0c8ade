//! A program without std and without an allocator that decides with tk-core.
//!
//! It is no part of any crate; `cargo xtask ci bare` builds and runs it. Its exit code tells which
//! decision was wrong, 0 if none was.

#![no_std]
#![no_main]

use core::panic::PanicInfo;
use core::time::Duration;

use tk_core::{FixedWindow, Gcra, Strategy, Timestamp, TokenBucket};

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

#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    let (Ok(gcra), Ok(bucket), Ok(window)) = (
        Gcra::per_second(10),
        TokenBucket::new(10, 10, Duration::from_secs(1)),
        FixedWindow::new(10, Duration::from_secs(1)),
    ) else {
        return 1;
    };
    if !admits_ten(&gcra) {
        return 2;
    }
    if !admits_ten(&bucket) {
        return 3;
    }
    if !admits_ten(&window) {
        return 4;
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
