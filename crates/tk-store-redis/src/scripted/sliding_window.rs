//! Sliding window.

use tk_core::{Range, SlidingWindow, SlidingWindowState};

use super::sealed::Dialect;
use crate::{
    operation::{Arguments, Operation},
    script::{SLIDING_WINDOW, Scripts},
};

impl Dialect for SlidingWindow {
    type Rule = Self;

    const NAME: &'static str = "sliding";

    fn scripts() -> &'static Scripts {
        &SLIDING_WINDOW
    }

    fn rule(&self) -> Self {
        *self
    }

    fn arguments(&self, operation: Operation, arguments: &mut Arguments) -> Option<()> {
        let (window, buckets) = (self.window().as_micros() as u64, self.bucket_count());
        arguments.push(window);
        arguments.push(self.limit());
        arguments.push(buckets);
        match operation {
            Operation::Peek { .. } => {}
            Operation::Check { cost } => arguments.push(cost),
            Operation::Lease { want, at_least } => {
                arguments.push(want);
                arguments.push(at_least);
            }
            Operation::GiveBack { mark, amount } => {
                if mark.0 as u64 != window << 11 | buckets {
                    return None;
                }
                arguments.push((mark.0 >> 64) as u64);
                arguments.push(amount);
            }
        }
        Some(())
    }

    /// Reads the fields of the hash, each followed by its value.
    fn read(state: &[u8]) -> Option<SlidingWindowState> {
        let mut ring = SlidingWindowState::default();
        if state.is_empty() {
            return Some(ring);
        }
        let (mut counts, mut named) = (Vec::new(), 0);
        let mut words = str::from_utf8(state).ok()?.split(' ');
        while let Some(field) = words.next() {
            let value = words
                .next()?
                .parse()
                .ok()
                .filter(|value| *value < 1 << 53)?;
            named += u32::from(matches!(field, "w" | "b" | "n" | "i"));
            match field {
                "w" => ring.window = value,
                "b" => ring.buckets = value,
                "n" => ring.newest = value,
                "i" => {}
                place => counts.push((place.parse::<usize>().ok()?, value)),
            }
        }
        let is_ours = named == 4
            && (1..=1 << 48).contains(&ring.window)
            && (1..=Range::MAX_BUCKETS).contains(&ring.buckets);
        if !is_ours {
            return None;
        }
        ring.counts = vec![0; ring.buckets as usize + 1];
        for (place, count) in counts {
            *ring.counts.get_mut(place)? = count;
        }
        Some(ring)
    }
}
