//! How to wait for what another thread is about to finish.

use core::{hint, time::Duration};
use std::thread;

/// The patience of a thread that waits for a lock held for some tens of nanoseconds: it spins, then yields, then sleeps.
///
/// A lock that sleeps has to learn, when it lets go, whether somebody sleeps, and that costs an atomic read-modify-write: as much
/// as the whole of a short hold. A lock that only spins has no such cost, and one flaw: a holder may be
/// descheduled, or be of lower priority than those who wait. So whoever has spun for about ten microseconds yields,
/// and whoever has yielded often sleeps.
#[derive(Debug, Default)]
pub struct Patience(u32);

/// Rounds of spinning, each twice as long as the one before.
const SPINS: u32 = 3;
/// Pauses of the processor in the first round: one to two microseconds. Whoever looks sooner takes the lock's lines from its
/// holder, who is then slower to let go; threads that contend for one key get more done in turns of some twenty checks.
const PAUSES: u32 = 32;
const YIELDS: u32 = 100;

impl Patience {
    /// Waits a little, and longer each time.
    #[inline]
    pub fn wait(&mut self) {
        self.0 = self.0.saturating_add(1);
        if self.0 <= SPINS {
            (0..PAUSES << (self.0 - 1)).for_each(|_| hint::spin_loop());
        } else {
            get_out_of_the_way(self.0 - SPINS);
        }
    }
}

#[cold]
#[expect(
    clippy::disallowed_methods,
    reason = "the holder was descheduled, and is only helped by getting out of its way"
)]
fn get_out_of_the_way(times: u32) {
    if times <= YIELDS {
        thread::yield_now();
    } else {
        thread::sleep(Duration::from_micros(50));
    }
}
