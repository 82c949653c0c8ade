//! What each strategy allows, said without reference to how it counts.

use std::fmt::Debug;

use tk_core::{FixedWindow, Gcra, Mark, SlidingWindow, SlidingWindowLog, Strategy, TokenBucket};

/// Units charged, less those taken back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Charge {
    /// The clock reading.
    pub(crate) at: u64,
    /// The window, slice or instant in which the units count, where the clock may have stepped back.
    pub(crate) place: Mark,
    pub(crate) units: u64,
}

impl Charge {
    fn place(&self) -> u64 {
        (self.place.0 >> 64) as u64
    }
}

/// A strategy that says what it allows.
pub(crate) trait Allowed: Strategy + Debug {
    fn allows(&self, charges: &[Charge]) -> bool;
}

/// Units that `count` by their place.
fn units(charges: &[Charge], counts: impl Fn(u64) -> bool) -> u64 {
    let counted = charges.iter().filter(|charge| counts(charge.place()));
    counted.map(|charge| charge.units).sum()
}

/// In any span t at most `burst + t / emission`.
fn allows_rate(burst: u64, emission: tk_core::Emission, charges: &[Charge]) -> bool {
    let (p, q) = (emission.numerator, emission.denominator);
    let any_span = charges
        .iter()
        .flat_map(|from| charges.iter().map(|to| (from.at, to.at)));
    any_span.filter(|(from, to)| from <= to).all(|(from, to)| {
        let within = charges
            .iter()
            .filter(|charge| (from..=to).contains(&charge.at));
        let units: u64 = within.map(|charge| charge.units).sum();
        units * p <= burst * p + (to - from) * q
    })
}

impl Allowed for Gcra {
    fn allows(&self, charges: &[Charge]) -> bool {
        allows_rate(self.capacity(), self.emission(), charges)
    }
}

impl Allowed for TokenBucket {
    fn allows(&self, charges: &[Charge]) -> bool {
        allows_rate(self.capacity(), self.emission(), charges)
    }
}

impl Allowed for FixedWindow {
    /// In each window at most the limit.
    fn allows(&self, charges: &[Charge]) -> bool {
        charges
            .iter()
            .all(|one| units(charges, |place| place == one.place()) <= self.limit())
    }
}

impl Allowed for SlidingWindow {
    /// At each charge the newest slices in full, and the one before by its overlap, were at most the limit.
    fn allows(&self, charges: &[Charge]) -> bool {
        let (window, buckets) = (self.window().as_micros() as u64, self.bucket_count());
        (0..charges.len()).all(|last| {
            let (one, charges) = (&charges[last], &charges[..=last]);
            let slice = one.place();
            // Where the clock has stepped back, the instant counted at is the slice's start.
            let into = (one.at * buckets).saturating_sub(slice * window);
            let full = units(charges, |place| place <= slice && slice < place + buckets);
            let before = units(charges, |place| slice == place + buckets);
            full <= self.limit() && before * (window - into) <= (self.limit() - full) * window
        })
    }
}

impl Allowed for SlidingWindowLog {
    /// In any trailing window at most the limit.
    fn allows(&self, charges: &[Charge]) -> bool {
        let window = self.window().as_micros() as u64;
        charges.iter().all(|one| {
            let at = one.place();
            units(charges, |place| place <= at && at < place + window) <= self.limit()
        })
    }
}
