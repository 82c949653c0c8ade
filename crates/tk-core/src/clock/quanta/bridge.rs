//! The time between two readings of the system's clock, told by a count that runs a little slow.
//!
//! The count says how many microseconds have passed since some instant, and is meant to be slow by two parts in a thousand, far more than its
//! rate is mistaken. So an estimate made from it falls behind, and does not run ahead:
//!
//! ```text
//! estimate = count + correction
//! ```
//!
//! Every [`BRIDGE`] of the count somebody reads the system's clock and raises the correction by what is missing. It is one number and only
//! grows, so there is nothing to tear and time never steps back.
//!
//! # By how much an estimate is behind
//!
//! Leases end by these estimates, so that is bounded, by [`LAG`]. Let `k` be the true microseconds per counted one, above 1, and time be
//! what the system's clock would say with all its digits.
//!
//! - **Who corrects is answered from the correction's end.** The system is read between two counts, and the answer is the estimate at the second:
//!   it is at least what the system said, less one for rounding, however long the thread was held up at any point and however long nobody had
//!   asked before.
//! - **Only a tight correction is built upon.** A thread that is held up between the system and the second count corrects by less than is
//!   missing. So others may go on from a correction only if the two counts differ by no more than 1, which is less than 2 of the count. Else the
//!   next caller corrects anew.
//! - **From there on it loses `k - 1` of the count.** Rounding loses 1 for the system, 1 for the counts and 1 as above, the
//!   bracket `2k`, and a bridge of a thousand `1,000 (k - 1)`. With `k` at most 1.005 that is less than 10.01, so 10 in whole microseconds.
//! - **`k` is measured before it is trusted.** Until [`PROBATION`] has passed, and for ever if need be, each answer is a reading of the
//!   system. Then what the system says has passed must be more than was counted, by at least 5 and at most a part in 256. The readings are exact
//!   to 4 in all and the counts to 1, so 1 < `k` < 1.0045. A system's clock that is slewed (by 500 ppm, as NTP's daemon does) leaves it below
//!   1.005; one that is slewed faster is behind the slewed clock, not behind the time that passes.
//!
//! # A counter that leaps
//!
//! One that stops or starts anew (a machine that was suspended) makes the count leap. Back by a bridge or more: the
//! next caller sees a count before the last correction, and corrects. Forth: the estimate is ahead for good. To wait for the
//! system to catch up would be to run slow for five hundred times as long, and each lease of that time would last too long. So what it is ahead is
//! its *lead*, corrections keep it up, and no more than 8 are lost: a reading of the same bridge may be
//! ahead of what is measured at its end by 5 for the bridge, 2 for the bracket and 1 for rounding. These and the 10 are within [`LAG`].
//!
//! What is taken for granted is that counters of several processors agree, and that none leaps back by less than a bridge, nor twice in one.

use core::sync::atomic::{AtomicI64, Ordering};

/// By how many microseconds an estimate is behind, at most.
pub(super) const LAG: u64 = 20;

const _: () = {
    // With a count that is slow by 5 in 1,000: rounding, the bracket, and a bridge; and what a leap adds.
    let even = 3 + 2 + BRIDGE * 5 / 1_000;
    let leap = BRIDGE * 5 / 1_000 + 2 + 1;
    assert!(even + leap <= LAG, "the sums above");
};

/// Microseconds counted between two readings of the system's clock.
const BRIDGE: u64 = 1_000;

/// Microseconds counted before the count's rate is known well enough.
const PROBATION: i64 = 10_000;

/// How far apart the two counts around a reading of the system may be, if others are to go on from it.
const TIGHT: i64 = 1;

/// No correction has been built upon: far before every count.
const NEVER: i64 = i64::MIN;

/// Estimates the system's time from counts. All of it is in whole microseconds.
#[derive(Debug)]
pub(super) struct Bridge {
    correction: AtomicI64,
    /// The count at the last correction that others may go on from.
    corrected_at: AtomicI64,
    lead: AtomicI64,
    /// The system and the count when both were first read, if that was tight.
    began: Option<(i64, i64)>,
}

/// A reading of the system between two counts.
struct Bracket {
    before: i64,
    system: i64,
    after: i64,
}

impl Bridge {
    /// One that trusts no count yet. `count` and `system` are readings, taken when called.
    pub(super) fn begin(count: impl Fn() -> i64, system: impl Fn() -> i64) -> Self {
        const TRIES: usize = 16;
        let bracket = (0..TRIES)
            .map(|_| Bracket::read(&count, &system))
            .find(Bracket::is_tight);
        Self {
            correction: AtomicI64::new(i64::MIN),
            corrected_at: AtomicI64::new(NEVER),
            lead: AtomicI64::new(0),
            began: bracket.map(|bracket| (bracket.system, bracket.after)),
        }
    }

    /// The estimate at `count`, unless a correction is due.
    #[inline]
    pub(super) fn at(&self, count: i64) -> Option<i64> {
        let corrected_at = self.corrected_at.load(Ordering::Acquire);
        // A count before the last correction is due as well: it is seen as one that is far after it.
        let bridged = count.wrapping_sub(corrected_at) as u64;
        (bridged < BRIDGE).then(|| count + self.correction.load(Ordering::Relaxed))
    }

    /// How far the estimates are ahead of the system, since the count has leapt.
    #[inline]
    pub(super) fn lead(&self) -> i64 {
        self.lead.load(Ordering::Acquire)
    }

    /// Corrects by the system, and answers.
    #[cold]
    pub(super) fn correct(&self, count: impl Fn() -> i64, system: impl Fn() -> i64) -> i64 {
        let has_begun = self.corrected_at.load(Ordering::Acquire) != NEVER;
        // Before the system is read: a correction by a later reading would look as if it were ahead of this one.
        let correction = self.correction.load(Ordering::Relaxed);
        let bracket = Bracket::read(count, system);
        let begins = || bracket.is_tight() && self.may_begin(&bracket);
        if !has_begun && !begins() {
            // One less, as a corrected estimate is, so that nothing steps back when bridges begin; and nothing before the origin.
            return (bracket.system - 1).max(0);
        }
        let Bracket {
            before,
            system,
            after,
        } = bracket;
        // Saturates as long as nothing has been corrected.
        let ahead = before.saturating_add(correction).saturating_sub(system);
        let lead = self.lead.fetch_max(ahead, Ordering::AcqRel).max(ahead);
        // Less one, since both counts are rounded down, and not at the same instants.
        let correction = system + lead - after - 1;
        let before = self.correction.fetch_max(correction, Ordering::Relaxed);
        if bracket.is_tight() {
            // The correction is seen by all who see this.
            self.corrected_at.store(after, Ordering::Release);
        }
        after + correction.max(before)
    }

    /// Whether the count's rate is what it is meant to be, as far as the time since the first reading can tell.
    fn may_begin(&self, bracket: &Bracket) -> bool {
        let Some((system, count)) = self.began else {
            return false;
        };
        let (passed, counted) = (bracket.system - system, bracket.after - count);
        let missing = passed - counted;
        counted >= PROBATION && (5..=counted / 256).contains(&missing)
    }
}

impl Bracket {
    fn read(count: impl Fn() -> i64, system: impl Fn() -> i64) -> Self {
        Self {
            before: count(),
            system: system(),
            after: count(),
        }
    }

    fn is_tight(&self) -> bool {
        (0..=TIGHT).contains(&(self.after - self.before))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;
    use core::cell::Cell;

    use quickcheck::quickcheck;

    use super::*;

    /// A machine whose counter runs at a rate of its own, and a thread on it that is held up now and then.
    struct Machine {
        nanos: Cell<i64>,
        /// Counted nanoseconds per million true ones.
        rate: i64,
        /// How far the counter has leapt, in nanoseconds.
        leapt: Cell<i64>,
        /// How long the thread is held up after each of its readings, the next one last.
        pauses: Cell<[i64; 3]>,
    }

    impl Machine {
        fn new(rate: i64) -> Self {
            Self {
                nanos: Cell::new(77_777_777),
                rate,
                leapt: Cell::new(0),
                pauses: Cell::default(),
            }
        }

        fn pass(&self, nanos: i64) {
            self.nanos.set(self.nanos.get() + nanos);
        }

        fn hold_up(&self) {
            let [later, next, now] = self.pauses.get();
            self.pauses.set([0, later, next]);
            self.pass(now);
        }

        fn count(&self) -> i64 {
            let counted = i128::from(self.nanos.get()) * i128::from(self.rate) / 1_000_000;
            let count = (counted as i64 + self.leapt.get()).div_euclid(1_000);
            self.hold_up();
            count
        }

        fn system(&self) -> i64 {
            let system = self.nanos.get() / 1_000;
            self.hold_up();
            system
        }

        fn bridge(&self) -> Bridge {
            Bridge::begin(|| self.count(), || self.system())
        }

        /// A bridge whose probation is over.
        fn trusting(&self) -> Bridge {
            let bridge = self.bridge();
            self.pass(12_000_000);
            let _ = bridge.correct(|| self.count(), || self.system());
            assert_ne!(bridge.corrected_at.load(Ordering::Relaxed), NEVER);
            bridge
        }

        /// What a caller is told, and the system when it called and when it was answered.
        fn read(&self, bridge: &Bridge, pauses: [i64; 3]) -> (i64, i64, i64) {
            let called = self.nanos.get() / 1_000;
            let count = self.count();
            let estimate = bridge.at(count).unwrap_or_else(|| {
                self.pauses.set(pauses);
                bridge.correct(|| self.count(), || self.system())
            });
            (called, estimate, self.nanos.get() / 1_000)
        }
    }

    /// Slow by 2 in 1,000, as it is meant to be.
    const NOMINAL: i64 = 998_047;

    quickcheck! {
        fn however_long_threads_are_held_up_and_nobody_asks_no_reading_lags_or_runs_ahead(
            rate: u16,
            steps: Vec<(u32, [u16; 3], u8)>
        ) -> bool {
            // From 600 to 3,800 parts per million slow: about all that the probation lets through.
            let machine = Machine::new(996_200 + i64::from(rate) % 3_200);
            let bridge = machine.trusting();
            let mut last = 0;
            steps.into_iter().all(|(silence, pauses, often)| {
                // Now and then an hour of silence, or a thread that is held up for seconds.
                let silence = if often < 8 { i64::from(silence) * 1_000 } else { i64::from(silence) % 400_000 };
                let scale = if often % 4 == 0 { 100_000 } else { 10 };
                machine.pass(silence);
                let (called, estimate, answered) =
                    machine.read(&bridge, pauses.map(|pause| i64::from(pause) * scale));
                let is_right = estimate + 10 >= called && estimate <= answered && estimate >= last;
                last = estimate;
                is_right
            })
        }

        fn across_leaps_of_the_counter_the_time_between_two_readings_is_never_short_by_more_than_the_lag(
            steps: Vec<(u16, i32)>
        ) -> bool {
            let machine = Machine::new(NOMINAL);
            let bridge = machine.trusting();
            let mut furthest = i64::MIN;
            steps.into_iter().all(|(pass, leap)| {
                // Half of them by less than three bridges.
                let leap = if pass % 2 == 0 { leap % 3_000_000 } else { leap };
                // Forth by anything, back by more than a bridge; and once in a bridge.
                if !(-2_000_000..=0).contains(&leap) {
                    machine.leapt.set(machine.leapt.get() + i64::from(leap));
                }
                [i64::from(pass) * 10, 1_100_000, 1_100_000].into_iter().all(|pass| {
                    let (called, estimate, _) = machine.read(&bridge, [0; 3]);
                    machine.pass(pass);
                    // Beside the reading before it that was furthest ahead of the system.
                    let is_right = estimate - called + LAG as i64 >= furthest;
                    furthest = furthest.max(estimate - called);
                    is_right
                })
            })
        }
    }

    #[test]
    fn a_reading_in_the_first_microsecond_is_none_before_the_origin() {
        let machine = Machine::new(NOMINAL);
        machine.nanos.set(0);
        let bridge = machine.bridge();
        let (_, estimate, _) = machine.read(&bridge, [0; 3]);
        assert_eq!(estimate, 0);
    }

    #[test]
    fn a_leap_forth_is_kept_as_a_lead_and_the_clock_does_not_slow_down() {
        let machine = Machine::new(NOMINAL);
        let bridge = machine.trusting();
        machine.leapt.set(3_600_000_000_000);
        for _ in 0..10_000 {
            machine.pass(100_000);
            let (called, estimate, _) = machine.read(&bridge, [0; 3]);
            let ahead = estimate - called - 3_600_000_000;
            assert!((-10..=0).contains(&ahead), "{ahead}");
            assert!((estimate - bridge.lead() - called).abs() <= 10);
        }
    }

    #[test]
    fn a_counter_that_begins_anew_does_not_stop_the_clock() {
        let machine = Machine::new(NOMINAL);
        let bridge = machine.trusting();
        machine.pass(5_000_000_000);
        let _ = machine.read(&bridge, [0; 3]);
        machine.leapt.set(-machine.nanos.get());
        for _ in 0..10_000 {
            machine.pass(100_000);
            let (called, estimate, _) = machine.read(&bridge, [0; 3]);
            assert!((0..=10).contains(&(called - estimate)));
        }
    }

    #[test]
    fn a_rate_that_was_measured_wrong_is_not_trusted() {
        for rate in [500_000, 990_000, 995_000, 1_000_100, 1_010_000, 2_000_000] {
            let machine = Machine::new(rate);
            let bridge = machine.bridge();
            for _ in 0..10_000 {
                machine.pass(100_000);
                let (called, estimate, _) = machine.read(&bridge, [0; 3]);
                assert_eq!(estimate, called - 1, "at a rate of {rate}");
            }
        }
    }

    #[test]
    fn a_thread_that_is_held_up_is_no_judge_of_the_rate() {
        // 200 us are missing after 10 ms. A pause before the second count hides any part of them.
        for pause in 0..250 {
            let machine = Machine::new(980_000);
            let bridge = machine.bridge();
            machine.pass(10_300_000);
            let (called, estimate, _) = machine.read(&bridge, [0, pause * 1_000, 0]);
            assert_eq!(estimate, called - 1, "held up for {pause} us");
            assert_eq!(bridge.corrected_at.load(Ordering::Relaxed), NEVER);
        }
    }

    #[test]
    fn a_system_that_is_slow_to_read_is_read_each_time() {
        let machine = Machine::new(NOMINAL);
        let bridge = machine.trusting();
        machine.pass(2_000_000);
        for _ in 0..100 {
            let (called, estimate, _) = machine.read(&bridge, [0, 0, 5_000]);
            assert!(estimate + 1 >= called);
            machine.pass(10_000);
        }
        assert!(bridge.at(machine.count()).is_none());
    }
}
