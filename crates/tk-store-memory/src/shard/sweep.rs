//! Keys that nobody misses go away, a few per call.
//!
//! A key whose state decides like a new one's takes a slot for nothing. No thread looks for such keys and no call looks for
//! many: now and then a call examines a handful of slots next to a cursor. While it finds something, the calls
//! after it do so too, so a table full of stale keys empties about as fast as it is used; while it finds nothing,
//! looking costs next to nothing.
//!
//! A call never removes the key that it is about. Otherwise a clock that stepped back between two checks of a
//! key could open its limit early.
//!
//! Denials that take no lock write nothing that threads share, so each thread counts its own; see [`Turn`].

use core::{cell::Cell, time::Duration};

use tk_core::{Fingerprint, Keyed, Strategy, Timestamp};

use super::{Call, locked::Locked};
use crate::{denied::Denied, sync::thread_local, word::Word};

/// Slots examined at a time; 16 lie in eight adjacent cache lines, which are fetched together.
const HANDFUL: usize = 16;
/// Calls between two looks that found nothing. A look fetches lines that nobody else needs, perhaps out of
/// another core's cache, so it must be rare.
const REST: u32 = 255;

/// Where the search for stale keys stands.
#[derive(Debug, Default)]
pub(super) struct Sweep {
    /// The slot to examine next. Half a word, so that the shard's first line has room; a shard of more slots is swept in part.
    cursor: u32,
    /// Calls until the next look.
    rest: u32,
}

#[cfg(not(loom))]
thread_local! {
    static DENIALS: Cell<u32> = const { Cell::new(0) };
}

#[cfg(loom)]
thread_local! {
    static DENIALS: Cell<u32> = Cell::new(0);
}

/// Whose turn it is to look for stale keys, among denials that take no lock.
#[derive(Debug)]
pub(crate) struct Turn;

impl Turn {
    /// Counts a denial of this thread, and answers whether it is time to look.
    #[inline(always)]
    pub(crate) fn is_due() -> bool {
        DENIALS.with(|denials| {
            let rest = denials.get();
            denials.set(if rest == 0 { REST } else { rest - 1 });
            rest == 0
        })
    }

    /// There is more to find, so this thread's next denial is due.
    pub(crate) fn come_again() {
        DENIALS.with(|denials| denials.set(0));
    }
}

/// Which keys a look may remove.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    /// The key that the call is about.
    pub(crate) spared: Fingerprint,
    /// How long a key must have been as good as new.
    pub(crate) linger: Duration,
}

impl Search {
    /// For cleaning: a key that is used about once per second is better kept than removed and added each time.
    pub(crate) const fn unhurried(spared: Fingerprint) -> Self {
        let linger = Duration::from_secs(1);
        Self { spared, linger }
    }

    /// For making room.
    pub(crate) const fn pressing(spared: Fingerprint) -> Self {
        let linger = Duration::ZERO;
        Self { spared, linger }
    }
}

/// What a look found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Swept {
    pub(crate) removed: usize,
    /// The last slot has been seen; the next look begins anew.
    pub(crate) done: bool,
}

impl Sweep {
    /// Counts a call, and answers whether it is time to look for stale keys.
    #[inline(always)]
    pub(super) fn is_due(&mut self) -> bool {
        let due = self.rest == 0;
        self.rest = self.rest.saturating_sub(1);
        due
    }

    /// Follows the keys into a smaller table, where they lie in the same order.
    pub(super) const fn rescale(&mut self, [before, after]: [usize; 2]) {
        if after < before {
            // In 64 bits, also where a `usize` has fewer.
            self.cursor = (self.cursor as u64 * after as u64 / before as u64) as u32;
        }
    }
}

impl<S: Strategy> Locked<S> {
    /// Looks for stale keys, and notes when to look again: at once if there were some, here or elsewhere.
    pub(super) fn look(
        &mut self,
        call: &Call<'_, S>,
        denied: &Denied,
        search: Search,
        found: bool,
    ) -> bool {
        let found = self.sweep(call, denied, search).removed > 0 || found;
        self.sweep.rest = if found { 0 } else { REST };
        found
    }

    /// Examines a handful of slots and removes the stale keys among them.
    pub(super) fn sweep(&mut self, call: &Call<'_, S>, denied: &Denied, search: Search) -> Swept {
        // By this call's time and not by the latest of any call: after a step back, what is charged now is stale by that at once.
        let as_of = call.now - search.linger;
        let mut removed = 0;
        for _ in 0..HANDFUL {
            let at = self.sweep.cursor as usize;
            if at >= self.table.capacity() {
                self.sweep.cursor = 0;
                return Swept {
                    removed,
                    done: true,
                };
            }
            match self.table.get(at) {
                Some(slot)
                    if self.is_stale(call, slot.word, as_of)
                        && slot.bits() != search.spared.bits() =>
                {
                    // Another key may have moved into this slot, so the cursor stays.
                    self.remove(call.common, denied, at);
                    removed += 1;
                }
                _ => self.sweep.cursor = self.sweep.cursor.wrapping_add(1),
            }
        }
        Swept {
            removed,
            done: false,
        }
    }

    #[inline]
    fn is_stale(&self, call: &Call<'_, S>, word: Word, as_of: Timestamp) -> bool {
        let generations = &call.common.generations;
        if let Some(index) = word.slab_index() {
            let entry = self.slab.get(index);
            return entry.is_some_and(|entry| entry.is_fresh(generations, as_of));
        }
        // The caller's own strategy says it best; it is also at hand.
        let packer = if word.generation() == call.generation {
            Some(call.strategy)
        } else {
            generations.get(word.generation())
        };
        packer.is_some_and(|packer| packer.is_fresh(&packer.unpack(word.state()), as_of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_follows_a_table_whose_slots_times_slots_take_more_than_32_bits() {
        let mut sweep = Sweep {
            cursor: 199_999,
            rest: 0,
        };
        sweep.rescale([200_000, 80_000]);
        assert_eq!(sweep.cursor, 79_999);
        sweep.rescale([80_000, 80_000]);
        assert_eq!(sweep.cursor, 79_999);
    }
}
