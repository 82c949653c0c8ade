//! Several processes on one counter.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use common::{Down, Random, SharedL2, now, poll_once};
use tk_core::{CachedClock, Clock, Error, ManualClock, Monotonic, Timestamp};
use tk_fair::{FairError, LeasedEscrow, Weigh, WeightedFairEscrow};

const WINDOW: Duration = Duration::from_secs(10);

/// Weights 4, 2, 1, 1.
struct Weights;

impl Weigh<u64> for Weights {
    fn weight(&self, tenant: &u64) -> u64 {
        [4, 2, 1, 1][*tenant as usize % 4]
    }
}

type Process = LeasedEscrow<SharedL2, Weights, Arc<ManualClock>>;

/// A process whose wall is off by some seconds.
fn process(l2: &SharedL2, limit: u64, quantum: u64, skew: u64) -> (Process, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at(Timestamp::from_secs(1_000 + skew)));
    let escrow = WeightedFairEscrow::builder(limit, WINDOW)
        .weight_of(Weights)
        .clock(clock.clone())
        .leased(l2.clone(), "budget", quantum)
        .unwrap();
    (escrow, clock)
}

struct Fleet {
    l2: SharedL2,
    processes: Vec<(Process, Arc<ManualClock>)>,
}

impl Fleet {
    fn new(count: u64, limit: u64, quantum: u64) -> Self {
        let l2 = SharedL2::new(ManualClock::at(Timestamp::from_secs(1_000)));
        let processes = (0..count)
            .map(|i| process(&l2, limit, quantum, 3 * i))
            .collect();
        Self { l2, processes }
    }

    fn advance(&self, span: Duration) {
        self.l2.0.clock.advance(span);
        self.processes
            .iter()
            .for_each(|(_, clock)| clock.advance(span));
    }

    fn window(&self) -> u64 {
        self.l2.0.clock.now().as_micros() / WINDOW.as_micros() as u64
    }
}

/// Four processes in one region, each with an escrow of its own, hold 4 times 8 units of 20 at most.
#[test]
fn processes_together_never_exceed_the_limit() {
    let fleet = Fleet::new(4, 20, 8);
    let mut random = Random(1);
    let (mut window, mut admitted, mut fullest) = (fleet.window(), 0, 0);
    for _ in 0..20_000 {
        if fleet.window() > window {
            (window, admitted) = (fleet.window(), 0);
        }
        let (escrow, _) = &fleet.processes[random.below(4) as usize];
        let cost = 1 + random.below(3);
        if now(escrow.check(&random.below(4), cost)).unwrap().allowed {
            admitted += cost;
        }
        assert!(admitted <= 20);
        fullest = fullest.max(admitted);
        fleet.advance(Duration::from_millis(random.below(40)));
    }
    assert_eq!(fullest, 20);
}

#[test]
fn shares_over_all_processes_are_within_the_slack() {
    let (limit, quantum, count) = (8_000, 20, 4);
    let fleet = Fleet::new(count, limit, quantum);
    let mut random = Random(2);
    let mut got = [0; 4];
    for tick in 0..300 {
        if tick % 100 == 0 {
            got = [0; 4];
        }
        for _ in 0..2_000 {
            let (escrow, _) = &fleet.processes[random.below(count) as usize];
            let tenant = random.below(4);
            got[tenant as usize] += u64::from(now(escrow.check(&tenant, 1)).unwrap().allowed);
        }
        fleet.advance(WINDOW / 100);
        if tick % 100 == 99 && tick > 100 {
            let total: u64 = got.iter().sum();
            assert!(
                total <= limit && total >= limit - count * quantum,
                "{got:?}"
            );
            for (got, weight) in got.iter().zip([4, 2, 1, 1]) {
                let share = weight * limit / 8;
                assert!(
                    got.abs_diff(share) <= count * (quantum + 1),
                    "{got} of {share}"
                );
            }
        }
    }
}

#[tokio::test]
async fn at_most_one_lease_is_in_flight() {
    let l2 = SharedL2::new(ManualClock::at(Timestamp::from_secs(1_000)));
    let (escrow, _) = process(&l2, 100, 10, 0);
    let escrow = Arc::new(escrow);
    l2.0.replies
        .forget_permits(tokio::sync::Semaphore::MAX_PERMITS);
    let tasks: Vec<_> = (0..50)
        .map(|_| {
            let escrow = Arc::clone(&escrow);
            tokio::spawn(async move { escrow.check(&0, 1).await.unwrap().allowed })
        })
        .collect();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(l2.0.leases.load(Ordering::Relaxed), 1);
    l2.0.replies.add_permits(1_000);
    for task in tasks {
        assert!(task.await.unwrap());
    }
    assert_eq!(l2.0.leased.load(Ordering::Relaxed), 50);
    assert_eq!(l2.0.leases.load(Ordering::Relaxed), 5);
}

#[test]
fn dropping_a_waiting_check_loses_nothing() {
    let l2 = SharedL2::new(ManualClock::at(Timestamp::from_secs(1_000)));
    let (escrow, _) = process(&l2, 100, 10, 0);
    l2.0.replies
        .forget_permits(tokio::sync::Semaphore::MAX_PERMITS);
    {
        let mut waiting = pin!(escrow.check(&0, 1));
        assert!(poll_once(waiting.as_mut()).is_none());
    }
    l2.0.replies.add_permits(1);
    assert!(now(escrow.check(&1, 1)).unwrap().allowed);
    assert_eq!(l2.0.leases.load(Ordering::Relaxed), 1);
    assert_eq!(escrow.stats().pool, 9);
}

#[test]
fn a_grant_that_is_over_when_it_arrives_is_dropped() {
    let l2 = SharedL2::new(ManualClock::at(Timestamp::from_secs(1_000)));
    let (escrow, clock) = process(&l2, 100, 10, 0);
    l2.0.replies
        .forget_permits(tokio::sync::Semaphore::MAX_PERMITS);
    let mut waiting = pin!(escrow.check(&0, 1));
    assert!(poll_once(waiting.as_mut()).is_none());
    clock.advance(WINDOW);
    l2.0.clock.advance(WINDOW);
    l2.0.replies.add_permits(2);
    assert!(poll_once(waiting.as_mut()).unwrap().unwrap().allowed);
    assert_eq!(l2.0.leases.load(Ordering::Relaxed), 2);
    assert_eq!(escrow.stats().effective_limit, 10);
}

#[test]
fn units_end_with_the_window_of_the_store_and_not_of_the_wall() {
    let l2 = SharedL2::new(ManualClock::at(Timestamp::from_secs(1_009)));
    let (escrow, clock) = process(&l2, 100, 10, 4);
    assert!(now(escrow.check(&0, 1)).unwrap().allowed);
    clock.advance(Duration::from_secs(1));
    l2.0.clock.advance(Duration::from_secs(1));
    assert_eq!(escrow.stats().pool, 0);
    assert!(now(escrow.check(&0, 1)).unwrap().allowed);
    assert_eq!(l2.0.leases.load(Ordering::Relaxed), 2);
}

#[test]
fn an_error_of_the_store_charges_nothing() {
    let l2 = SharedL2::new(ManualClock::at(Timestamp::from_secs(1_000)));
    let (escrow, _) = process(&l2, 100, 10, 0);
    l2.0.down.store(true, Ordering::Relaxed);
    let refused = now(escrow.check(&0, 1)).unwrap_err();
    assert!(matches!(&refused, FairError::Store(error) if **error == Error::Store(Down)));
    assert_eq!(escrow.stats_of(&0_u64).used, 0);
    l2.0.down.store(false, Ordering::Relaxed);
    assert!(now(escrow.check(&0, 1)).unwrap().allowed);
}

#[test]
fn units_at_hand_are_served_while_the_store_is_down() {
    let l2 = SharedL2::new(ManualClock::at(Timestamp::from_secs(1_000)));
    let (escrow, _) = process(&l2, 100, 10, 0);
    assert!(now(escrow.check(&0, 1)).unwrap().allowed);
    l2.0.down.store(true, Ordering::Relaxed);
    for _ in 0..9 {
        assert!(now(escrow.check(&0, 1)).unwrap().allowed);
    }
    assert!(now(escrow.check(&0, 1)).is_err());
}

#[test]
fn a_process_that_goes_quiet_hands_back_once() {
    let fleet = Fleet::new(2, 20, 20);
    let (a, b) = (&fleet.processes[0].0, &fleet.processes[1].0);
    assert!(now(a.check(&0, 5)).unwrap().allowed);
    assert!(now(b.check(&0, 1)).unwrap().is_denied());
    assert_eq!(now(a.give_back()).unwrap(), 0, "its tenant is active");
    fleet.advance(Duration::from_millis(1_500));
    assert_eq!(now(a.give_back()).unwrap(), 15);
    assert_eq!(now(a.give_back()).unwrap(), 0);
    assert!(now(b.check(&0, 15)).unwrap().allowed);
    assert!(now(b.check(&0, 1)).unwrap().is_denied());
}

#[test]
fn a_store_that_panics_is_an_error_of_those_who_waited_and_is_asked_anew() {
    let l2 = SharedL2::new(ManualClock::at(Timestamp::from_secs(1_000)));
    let (escrow, _) = process(&l2, 100, 10, 0);
    l2.0.panics.store(true, Ordering::Relaxed);
    assert!(matches!(now(escrow.check(&0, 1)), Err(FairError::Lost)));
    assert_eq!(escrow.stats_of(&0_u64).used, 0);
    assert!(now(escrow.check(&0, 1)).unwrap().allowed);
    assert_eq!(l2.0.leases.load(Ordering::Relaxed), 2);
}

#[test]
fn a_store_that_panics_while_several_wait_leaves_none_of_them_waiting() {
    let l2 = SharedL2::new(ManualClock::at(Timestamp::from_secs(1_000)));
    let (escrow, _) = process(&l2, 100, 10, 0);
    l2.0.replies
        .forget_permits(tokio::sync::Semaphore::MAX_PERMITS);
    let (mut one, mut other) = (pin!(escrow.check(&0, 1)), pin!(escrow.check(&1, 1)));
    assert!(poll_once(one.as_mut()).is_none() && poll_once(other.as_mut()).is_none());
    l2.0.panics.store(true, Ordering::Relaxed);
    l2.0.replies.add_permits(2);
    assert!(matches!(poll_once(one), Some(Err(FairError::Lost))));
    assert!(matches!(poll_once(other), Some(Err(FairError::Lost))));
    assert!(now(escrow.check(&1, 1)).unwrap().allowed);
}

/// Its reading that is so many from now panics.
struct Tripping(ManualClock, Arc<AtomicU64>);

impl Clock for Tripping {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn monotonic(&self) -> Monotonic {
        assert!(
            self.1.fetch_sub(1, Ordering::Relaxed) != 1,
            "the clock panics, as it was told to"
        );
        self.0.monotonic()
    }
}

#[test]
fn a_clock_that_panics_once_stops_no_later_check() {
    let start = Timestamp::from_secs(1_000);
    let (mut errors, mut panics) = (0, 0);
    for reading in 1..5 {
        let left = Arc::new(AtomicU64::new(u64::MAX));
        let escrow = WeightedFairEscrow::builder(100, WINDOW)
            .clock(Tripping(ManualClock::at(start), left.clone()))
            .leased(SharedL2::new(ManualClock::at(start)), "budget", 10)
            .unwrap();
        left.store(reading, Ordering::Relaxed);
        match catch_unwind(AssertUnwindSafe(|| now(escrow.check("tenant", 1)))) {
            Ok(Err(FairError::Lost)) => errors += 1,
            Ok(told) => assert!(told.unwrap().allowed),
            Err(_) => panics += 1,
        }
        left.store(u64::MAX, Ordering::Relaxed);
        assert!(now(escrow.check("tenant", 1)).unwrap().allowed);
    }
    // Read for the check, for the request, for its reply, and for the check's second round.
    assert_eq!((errors, panics), (1, 3));
}

#[test]
fn what_a_dropped_check_has_drawn_is_handed_back() {
    let l2 = SharedL2::new(ManualClock::at(Timestamp::from_secs(1_000)));
    let (escrow, clock) = process(&l2, 100, 10, 0);
    l2.0.replies
        .forget_permits(tokio::sync::Semaphore::MAX_PERMITS);
    {
        let mut waiting = pin!(escrow.check(&0, 1));
        assert!(poll_once(waiting.as_mut()).is_none());
    }
    clock.advance(Duration::from_secs(2));
    let mut back = pin!(escrow.give_back());
    assert!(poll_once(back.as_mut()).is_none(), "it waits for the reply");
    l2.0.replies.add_permits(1);
    assert_eq!(poll_once(back).unwrap().unwrap(), 10);
    assert_eq!(l2.0.leases.load(Ordering::Relaxed), 1);
}

#[test]
fn settings_are_checked() {
    let l2 = SharedL2::new(ManualClock::at(Timestamp::EPOCH));
    let builder = || WeightedFairEscrow::builder(10, WINDOW);
    for (key, quantum, message) in [
        ("k", 0, "`quantum` is 0; allowed is 1 to 10"),
        ("k", 11, "`quantum` is 11; allowed is 1 to 10"),
        (
            "",
            1,
            "`l2_key` is empty; allowed are 1 to 128 bytes without control characters",
        ),
    ] {
        let refused = builder().leased(l2.clone(), key, quantum).unwrap_err();
        assert_eq!(refused.to_string(), message);
    }
}

/// Whoever reads its wall is held up for a while first.
struct Dozing(ManualClock);

const DOZE: Duration = Duration::from_millis(100);

impl Clock for Dozing {
    fn now(&self) -> Timestamp {
        self.0.advance(DOZE);
        self.0.now()
    }

    fn monotonic(&self) -> Monotonic {
        self.0.monotonic()
    }
}

#[test]
fn a_reset_is_never_told_late_however_long_passes_between_two_readings() {
    let start = Timestamp::from_secs(1_000);
    let escrow = WeightedFairEscrow::builder(100, WINDOW)
        .clock(Dozing(ManualClock::at(start)))
        .leased(SharedL2::new(ManualClock::at(start)), "budget", 10)
        .unwrap();
    // The store's window ends ten seconds after the request was sent, before which the wall was read once.
    let end = start + DOZE + WINDOW;
    for _ in 0..3 {
        let decision = now(escrow.check("tenant", 1)).unwrap();
        assert!(decision.allowed);
        assert!(decision.reset_at <= end, "{:?}", decision.reset_at);
    }
}

/// A clock whose readings are behind by what it is told, and by 40 us at most.
#[derive(Clone)]
struct Behind {
    clock: Arc<ManualClock>,
    behind: Arc<AtomicU64>,
}

impl Clock for Behind {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn monotonic(&self) -> Monotonic {
        self.clock.monotonic() - Duration::from_micros(self.behind.load(Ordering::SeqCst))
    }

    fn lag(&self) -> Duration {
        Duration::from_micros(40)
    }
}

#[test]
fn a_process_whose_clock_lags_spends_nothing_after_the_true_end_of_its_window() {
    // A margin for drift of two microseconds does not make up for the lag.
    let window = Duration::from_micros(1_000);
    for after in 0..100 {
        let l2 = SharedL2::new(ManualClock::at(Timestamp::from_secs(1_000)));
        let clock = Behind {
            clock: Arc::new(ManualClock::at(Timestamp::from_secs(1_000))),
            behind: Arc::default(),
        };
        let escrow = WeightedFairEscrow::builder(100, window)
            .weight_of(Weights)
            .clock(clock.clone())
            .leased(l2.clone(), "budget", 50)
            .unwrap();
        clock.clock.advance(Duration::from_secs(1));
        assert!(now(escrow.check(&0, 1)).unwrap().allowed);
        assert_eq!(l2.0.leases.load(Ordering::SeqCst), 1);
        clock.behind.store(40, Ordering::SeqCst);
        let passed = window + Duration::from_micros(after);
        l2.0.clock.advance(passed);
        clock.clock.advance(passed);
        assert!(now(escrow.check(&0, 1)).unwrap().allowed);
        let leases = l2.0.leases.load(Ordering::SeqCst);
        assert!(leases > 1, "spent {after} us after the end");
    }
}

#[test]
fn a_clock_that_may_lag_without_bound_counts_no_leases() {
    let l2 = SharedL2::new(ManualClock::at(Timestamp::from_secs(1_000)));
    let error = WeightedFairEscrow::builder(100, WINDOW)
        .clock(CachedClock::of(ManualClock::default()))
        .leased(l2, "budget", 50)
        .unwrap_err();
    assert!(error.to_string().starts_with("`clock.lag` is "), "{error}");
}

#[test]
fn weight_zero_admits_nothing_and_leases_nothing() {
    let l2 = SharedL2::new(ManualClock::at(Timestamp::from_secs(1_000)));
    let clock = Arc::new(ManualClock::at(Timestamp::from_secs(1_000)));
    let escrow = WeightedFairEscrow::builder(10, WINDOW)
        .weight_of(|tenant: &u64| *tenant)
        .clock(clock.clone())
        .leased(l2.clone(), "budget", 5)
        .unwrap();
    for _ in 0..30 {
        assert!(now(escrow.check(&0, 1)).unwrap().is_denied());
        l2.0.clock.advance(Duration::from_millis(700));
        clock.advance(Duration::from_millis(700));
    }
    assert_eq!(l2.0.leased.load(Ordering::Relaxed), 0);
    assert!(now(escrow.check(&1, 10)).unwrap().allowed);
    assert!(now(escrow.check(&0, 1)).unwrap().is_denied());
}

#[test]
fn a_hundred_tenants_on_ten_units_are_each_served_within_ten_windows() {
    for quantum in [1, 3, 10] {
        let l2 = SharedL2::new(ManualClock::at(Timestamp::from_secs(1_000)));
        let clock = Arc::new(ManualClock::at(Timestamp::from_secs(1_000)));
        let escrow = WeightedFairEscrow::builder(10, WINDOW)
            .clock(clock.clone())
            .leased(l2.clone(), "budget", quantum)
            .unwrap();
        let advance = |time| {
            l2.0.clock.advance(time);
            clock.advance(time);
        };
        let ask = |tenant: &u64| now(escrow.check(tenant, 1)).unwrap().allowed;
        // All of them are known when the first window begins.
        advance(WINDOW - WINDOW / 20);
        assert!((0..100).filter(ask).count() > 0);
        advance(WINDOW / 20);
        let mut served = std::collections::BTreeSet::new();
        for _ in 0..10 * 20 {
            served.extend((0..100).filter(ask));
            advance(WINDOW / 20);
        }
        assert_eq!(served.len(), 100, "{quantum} at a time");
    }
}
