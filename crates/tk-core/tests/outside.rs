//! States that come from outside, through serde, however wrong they are.

#![expect(clippy::unwrap_used, reason = "a test ends where something fails")]

use std::{fmt::Debug, time::Duration};

use serde_json::{Value, json};
use tk_core::{
    Decision, FixedWindow, Gcra, Grant, Mark, SlidingWindow, SlidingWindowLog, Strategy, Tag,
    Timestamp, TokenBucket,
};
use tk_testkit::{Random, Sample};

/// A number that hurts: at an end of the range, near another number, or any.
fn number(random: &mut Random) -> u64 {
    match random.within(0, 4) {
        0 => random.choose(&[
            0,
            1,
            2,
            u64::MAX,
            u64::MAX - 1,
            1 << 52,
            (1 << 52) - 1,
            1 << 53,
        ]),
        1 => Timestamp::MAX.as_micros() - random.up_to(1 << 45),
        2 => random.within(0, 20),
        3 => random.up_to(u64::MAX),
        _ => random.next(),
    }
}

fn tat(random: &mut Random) -> Value {
    json!({
        "micros": number(random),
        "fraction": number(random),
        "emission": { "numerator": number(random), "denominator": number(random) },
    })
}

fn fixed_window(random: &mut Random) -> Value {
    json!({ "start": number(random), "used": number(random), "window": number(random) })
}

fn sliding_window(random: &mut Random) -> Value {
    let slots: u64 = random.choose(&[0, 1, 2, 3, 8, 11, 1_025, 2_000]);
    let counts: Vec<_> = (0..slots).map(|_| number(random)).collect();
    json!({
        "newest": number(random),
        "counts": counts,
        "window": number(random),
        "buckets": random.choose(&[0, slots, slots.saturating_sub(1), 10]),
    })
}

fn log(random: &mut Random) -> Value {
    let entries: Vec<_> = (0..random.choose(&[0, 1, 2, 3, 40]))
        .map(|_: u64| json!({ "at": number(random), "through": number(random) }))
        .collect();
    json!({ "entries": entries, "before": number(random), "window": number(random) })
}

/// Puts the strategy's own scale into a state, so that it is taken as it is.
trait Scaled: Sample {
    fn scale(&self, state: &mut Value);
}

impl Scaled for Gcra {
    fn scale(&self, state: &mut Value) {
        state["emission"] = serde_json::to_value(self.emission()).unwrap();
    }
}

impl Scaled for TokenBucket {
    fn scale(&self, state: &mut Value) {
        state["emission"] = serde_json::to_value(self.emission()).unwrap();
    }
}

fn micros(window: Duration) -> Value {
    json!(window.as_micros() as u64)
}

impl Scaled for FixedWindow {
    fn scale(&self, state: &mut Value) {
        state["window"] = micros(self.window());
    }
}

impl Scaled for SlidingWindow {
    fn scale(&self, state: &mut Value) {
        state["window"] = micros(self.window());
        state["buckets"] = json!(self.bucket_count());
        if let Some(counts) = state["counts"].as_array_mut() {
            counts.resize(self.bucket_count() as usize + 1, json!(3));
        }
    }
}

impl Scaled for SlidingWindowLog {
    fn scale(&self, state: &mut Value) {
        state["window"] = micros(self.window());
    }
}

/// Asks everything that can be asked of a state.
fn ask_everything<S>(state: fn(&mut Random) -> Value)
where
    S: Scaled<State: serde::de::DeserializeOwned + Debug>,
{
    for seed in 0..4_000 {
        let random = &mut Random::new(seed);
        let strategy = S::sample(random);
        let mut value = state(random);
        if random.chance(60) {
            strategy.scale(&mut value);
        }
        let mut state: S::State = serde_json::from_value(value).unwrap();
        for _ in 0..8 {
            let now = Timestamp::from_micros(number(random));
            let any = number(random);
            let cost = random.choose(&[0, 1, strategy.capacity(), any]);
            check_fields(&strategy, strategy.peek(&state, now));
            check_fields(&strategy, strategy.decide(&mut state, now, cost));
            let _ = (strategy.available(&state, now), strategy.span(&state, now));
            let _ = (strategy.is_fresh(&state, now), strategy.mark(&state, now));
            if let Some(packed) = strategy.pack(&state) {
                state = strategy.unpack(packed);
            }
            let (want, least) = (number(random), number(random));
            let granted = Grant::charge::<_, ()>(&strategy, &mut state, now, want, least, 1);
            let tag = match granted {
                Ok(grant) if random.chance(50) => grant.tag,
                _ => Tag::new(1, Mark(u128::from(number(random)) << 64), number(random)),
            };
            let later = Timestamp::from_micros(number(random));
            let applied = tag.give_back(&strategy, &mut state, later, 1, number(random));
            assert!(applied <= tag.amount());
        }
        let _ = strategy.decide(
            &mut strategy.unpack(random.next().into()),
            Timestamp::MAX,
            1,
        );
    }
}

fn check_fields<S: Strategy + Debug>(strategy: &S, decision: Decision) {
    let Decision {
        limit, remaining, ..
    } = decision;
    assert!(remaining <= limit, "{strategy:?} {decision:?}");
    assert!(decision.is_denied() || decision.retry_after.is_zero());
}

#[test]
fn no_arrival_time_from_outside_panics() {
    ask_everything::<Gcra>(tat);
    ask_everything::<TokenBucket>(tat);
}

#[test]
fn no_fixed_window_from_outside_panics() {
    ask_everything::<FixedWindow>(fixed_window);
}

#[test]
fn no_ring_from_outside_panics() {
    ask_everything::<SlidingWindow>(sliding_window);
}

#[test]
fn no_log_from_outside_panics() {
    ask_everything::<SlidingWindowLog>(log);
}

#[test]
fn fraction_that_is_none_counts_as_the_largest_one() {
    // Three units in a microsecond: each third is one.
    let strategy = Gcra::new(3, Duration::from_micros(1)).unwrap();
    let (now, emission) = (Timestamp::from_secs(1), strategy.emission());
    let available = |fraction| {
        let micros = now.as_micros();
        let state = tk_core::TatState {
            micros,
            fraction,
            emission,
        };
        strategy.available(&state, now)
    };
    assert_eq!([0, 1, 2].map(available), [3, 2, 1]);
    assert_eq!([3, 4, 5, u64::MAX].map(available), [1; 4]);
}

#[test]
fn ring_of_more_buckets_than_there_may_be_counts_as_new() {
    let strategy = SlidingWindow::per_second(9).unwrap();
    let ring = |slots: usize| tk_core::SlidingWindowState {
        newest: 0,
        counts: vec![1; slots],
        window: 1_000_000,
        buckets: 1_024,
    };
    let used = |slots| 9 - strategy.available(&ring(slots), Timestamp::EPOCH);
    assert_eq!((used(1_026), used(1)), (0, 0));
    assert_eq!((used(1_025), used(2)), (9, 2));
}

/// What is written is what was read.
fn survives<
    S: Sample<State: serde::Serialize + serde::de::DeserializeOwned + PartialEq + Debug>,
>() {
    for seed in 0..200 {
        let random = &mut Random::new(seed);
        let strategy = S::sample(random);
        let mut state = S::State::default();
        let mut now = Timestamp::from_secs(1_000);
        for _ in 0..5 {
            let decision = strategy.decide(&mut state, now, random.within(0, strategy.capacity()));
            now = now + Duration::from_micros(random.up_to(1_000_000));
            let text = serde_json::to_string(&decision).unwrap();
            assert_eq!(serde_json::from_str::<Decision>(&text).unwrap(), decision);
        }
        let text = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<S::State>(&text).unwrap(), state);
    }
}

#[test]
fn state_and_decision_survive_being_written_out() {
    survives::<Gcra>();
    survives::<TokenBucket>();
    survives::<FixedWindow>();
    survives::<SlidingWindow>();
    survives::<SlidingWindowLog>();
}

#[test]
fn tag_survives_being_written_out() {
    let tag = Tag::new(u64::MAX, Mark(u128::MAX - 1), 7);
    let text = serde_json::to_string(&tag).unwrap();
    assert_eq!(serde_json::from_str::<Tag>(&text).unwrap(), tag);
}

#[test]
fn instant_from_outside_counts_as_the_last_that_counts() {
    let read: Timestamp = serde_json::from_str("18446744073709551615").unwrap();
    assert_eq!(read, Timestamp::MAX);
    assert!(serde_json::from_str::<Timestamp>("-1").is_err());
    assert!(serde_json::from_str::<Timestamp>("1.5").is_err());
}
