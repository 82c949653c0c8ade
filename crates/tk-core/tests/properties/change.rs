//! Another strategy on a state that was written under this one.

use std::time::Duration;

use tk_core::{
    FixedWindow, Gcra, SlidingWindow, SlidingWindowLog, Strategy, Timestamp, TokenBucket,
};

use crate::{
    for_each_strategy,
    story::{End, Told, Verdict, claim},
};

for_each_strategy!(
    change_keeps_the_units_used,
    change_locks_nobody_out,
    change_is_made_once,
    change_of_the_limit_alone_converts_nothing,
);

/// How long a strategy takes at most to replenish all, and how coarse its instants are.
trait Replenishes: Told {
    fn within(&self) -> Duration;
}

macro_rules! replenishes {
    ($($strategy:ident: |$s:ident| $within:expr),* $(,)?) => { $(
        impl Replenishes for $strategy {
            fn within(&self) -> Duration {
                let $s = self;
                $within
            }
        }
    )* };
}

replenishes! {
    Gcra: |s| intervals(s.capacity(), s.emission()),
    TokenBucket: |s| intervals(s.capacity(), s.emission()),
    FixedWindow: |s| s.window(),
    SlidingWindow: |s| s.window() * 2 + Duration::from_micros(1),
    SlidingWindowLog: |s| s.window(),
}

fn intervals(units: u64, emission: tk_core::Emission) -> Duration {
    let micros = u128::from(units) * u128::from(emission.numerator);
    Duration::from_micros(micros.div_ceil(emission.denominator.into()) as u64)
}

/// Units that count as used, by the rule itself; `None` if more are used than it admits, and how many is not told.
fn used<S: Told>(strategy: &S, state: &S::State, now: Timestamp) -> Option<u64> {
    let left = strategy.available(state, now);
    (left > 0).then(|| strategy.capacity() - left)
}

fn other<S: Told>(end: &mut End<S>) -> Option<S> {
    let other = S::sample(&mut end.random);
    (!end.strategy.same_scale(&other)).then_some(other)
}

fn change_keeps_the_units_used<S: Told>(mut end: End<S>) -> Verdict {
    let cost = end.cost();
    let decision = end.decide(cost);
    let Some(other) = other(&mut end) else {
        return Ok(());
    };
    // Where the clock has stepped back, units stand at a later instant.
    let (now, before) = (end.now, used(&end.strategy, &end.state, end.now));
    let left = other.available(&end.state, now);
    let kept = other.capacity() - left;
    match before {
        _ if decision.is_denied() => Ok(()),
        Some(before) => claim(kept == before.min(other.capacity()), || {
            format!("{before} used before, {kept} after the change to {other:?}")
        }),
        None => claim(
            kept >= end.strategy.capacity().min(other.capacity()),
            || format!("all used before, {kept} after the change to {other:?}"),
        ),
    }
}

fn change_locks_nobody_out<S: Replenishes>(mut end: End<S>) -> Verdict {
    let cost = end.cost();
    let last = end.decide(cost);
    let Some(other) = other(&mut end) else {
        return Ok(());
    };
    end.strategy = other;
    let cost = end.cost();
    let denied = end.decide(cost);
    // Where the clock has stepped back, units stand at a later instant.
    let ahead = end.largest.since(end.now);
    claim(denied.retry_after <= end.strategy.within() + ahead, || {
        format!("{last:?} before, {denied:?} after the change")
    })
}

fn change_is_made_once<S: Told>(mut end: End<S>) -> Verdict {
    let Some(other) = other(&mut end) else {
        return Ok(());
    };
    end.strategy = other;
    let all = end.strategy.capacity();
    let denied = end.decide(all);
    if denied.allowed {
        return Ok(());
    }
    let kept = end.state.clone();
    let half = denied.retry_after / 2;
    end.now = end.now + half;
    let again = end.decide(all);
    claim(again.is_denied() == (half < denied.retry_after), || {
        format!("{denied:?}, {again:?}")
    })?;
    let whole = again.retry_after + Duration::from_micros(half.as_micros() as u64);
    let late = end.now + again.retry_after == Timestamp::MAX;
    claim(whole == denied.retry_after || late, || {
        format!("{denied:?}, and {half:?} later {again:?}")
    })?;
    claim(kept == end.state, || {
        format!("{kept:?} became {:?}", end.state)
    })
}

fn change_of_the_limit_alone_converts_nothing<S: Told>(mut end: End<S>) -> Verdict {
    let all = end.strategy.capacity();
    let other = S::sample(&mut end.random);
    if !end.strategy.same_scale(&other) || end.decide(1).is_denied() {
        return Ok(());
    }
    let before = end.state.clone();
    end.strategy = other;
    if end.decide(all).is_denied() {
        claim(before == end.state, || {
            format!("{before:?} became {:?}", end.state)
        })?;
    }
    Ok(())
}
