//! What each field of a decision promises.

use std::time::Duration;

use tk_core::Timestamp;

use crate::{
    for_each_strategy,
    story::{End, Told, Verdict, claim},
};

for_each_strategy!(
    retry_time_admits_and_not_a_microsecond_sooner,
    reset_time_is_when_all_is_replenished,
    remaining_is_what_is_really_admitted,
    denial_changes_no_later_answer,
    cost_zero_and_peek_are_free_and_tell_the_truth,
    available_and_span_are_those_of_the_untouched_state,
    time_backwards_frees_nothing,
    packed_state_is_the_same_state,
    fresh_state_decides_like_a_new_one,
);

const MICROSECOND: Duration = Duration::from_micros(1);

fn retry_time_admits_and_not_a_microsecond_sooner<S: Told>(mut end: End<S>) -> Verdict {
    let cost = end.cost();
    let decision = end.decide(cost);
    if decision.allowed {
        return claim(decision.retry_after.is_zero(), || {
            format!("{decision:?} waits")
        });
    }
    let due = end.now + decision.retry_after;
    let beyond_time = due == Timestamp::MAX;
    let at = |now| end.strategy.decide(&mut end.state.clone(), now, cost);
    claim(!decision.retry_after.is_zero(), || {
        format!("{decision:?} does not wait")
    })?;
    claim(beyond_time || at(due).allowed, || {
        format!("cost {cost}: {decision:?}, but then {:?}", at(due))
    })?;
    claim(at(due - MICROSECOND).is_denied(), || {
        format!(
            "cost {cost}: {decision:?}, but sooner {:?}",
            at(due - MICROSECOND)
        )
    })
}

fn reset_time_is_when_all_is_replenished<S: Told>(mut end: End<S>) -> Verdict {
    let cost = end.cost();
    let decision = end.decide(cost);
    let all = end.strategy.capacity();
    let at = |now| end.strategy.decide(&mut end.state.clone(), now, all);
    let beyond_time = decision.reset_at == Timestamp::MAX;
    claim(decision.reset_at >= end.now, || {
        format!("{decision:?} is over at {}", end.now)
    })?;
    claim(beyond_time || at(decision.reset_at).allowed, || {
        format!("{decision:?}, but then {:?}", at(decision.reset_at))
    })?;
    let sooner = decision.reset_at - MICROSECOND;
    claim(
        decision.reset_at == end.now || at(sooner).is_denied(),
        || format!("{decision:?}, but all is there a microsecond sooner"),
    )
}

fn remaining_is_what_is_really_admitted<S: Told>(mut end: End<S>) -> Verdict {
    let cost = end.cost();
    let decision = end.decide(cost);
    let all = end.strategy.capacity();
    let now = |cost| end.strategy.decide(&mut end.state.clone(), end.now, cost);
    claim(decision.limit == all && decision.remaining <= all, || {
        format!("{decision:?}")
    })?;
    claim(now(decision.remaining).allowed, || {
        format!("{decision:?}, but not admitted")
    })?;
    claim(
        decision.remaining == all || now(decision.remaining + 1).is_denied(),
        || format!("{decision:?}, but one more is admitted"),
    )
}

fn denial_changes_no_later_answer<S: Told>(mut end: End<S>) -> Verdict {
    let (before, cost) = (end.clone(), end.cost());
    let untouched = end.strategy.peek(&before.state, end.now);
    let decision = end.decide(cost);
    if decision.allowed {
        return Ok(());
    }
    let after = end.strategy.peek(&end.state, end.now);
    claim(untouched == after, || {
        format!("{untouched:?} became {after:?}")
    })?;
    let again = end.decide(cost);
    claim(again == decision, || {
        format!("{decision:?}, and once more {again:?}")
    })?;
    // What is kept of a change of scale is kept once.
    let kept = end.state.clone();
    let _ = end.decide(cost);
    claim(kept == end.state, || {
        format!("{kept:?} became {:?}", end.state)
    })
}

fn cost_zero_and_peek_are_free_and_tell_the_truth<S: Told>(mut end: End<S>) -> Verdict {
    let before = end.state.clone();
    let zero = end.decide(0);
    claim(zero.allowed && zero.retry_after.is_zero(), || {
        format!("{zero:?}")
    })?;
    claim(before == end.state, || {
        format!("{before:?} became {:?}", end.state)
    })?;
    let peek = end.strategy.peek(&end.state, end.now);
    claim(
        (peek.remaining, peek.reset_at) == (zero.remaining, zero.reset_at),
        || format!("{peek:?} of what is {zero:?}"),
    )?;
    let one = end.decide(1);
    claim(
        (peek.allowed, peek.retry_after) == (one.allowed, one.retry_after),
        || format!("peeked {peek:?}, then checked {one:?}"),
    )
}

fn available_and_span_are_those_of_the_untouched_state<S: Told>(mut end: End<S>) -> Verdict {
    let zero = end.decide(0);
    let available = end.strategy.available(&end.state, end.now);
    claim(available == zero.remaining, || {
        format!("{available} of {zero:?}")
    })?;
    let cost = end.cost();
    let charged = end.decide(cost);
    let span = end.strategy.span(&end.state, end.now);
    // A grant is dead at the latest when all that was charged is.
    claim(
        charged.is_denied() || span <= charged.reset_at.since(end.now),
        || format!("a grant lasts {span:?} after {charged:?}"),
    )
}

fn time_backwards_frees_nothing<S: Told>(mut end: End<S>) -> Verdict {
    let cost = end.cost();
    let decision = end.decide(cost);
    let back = Duration::from_micros(end.random.up_to(end.now.as_micros()));
    let earlier = end.strategy.peek(&end.state, end.now - back);
    claim(
        earlier.remaining <= decision.remaining || end.is_fresh(),
        || format!("{decision:?}, but {back:?} earlier {earlier:?}"),
    )
}

fn packed_state_is_the_same_state<S: Told>(mut end: End<S>) -> Verdict {
    let packs = S::default_packs(&end.strategy);
    let decision = end.decide(1);
    let written = decision.allowed;
    let packed = end.strategy.pack(&end.state);
    claim(!packs || !written || packed.is_some(), || {
        format!("{:?} does not pack", end.state)
    })?;
    packed.map_or(Ok(()), |packed| {
        let unpacked = end.strategy.unpack(packed);
        claim(packed < 1 << 104, || {
            format!("{packed} is wider than 104 bits")
        })?;
        claim(unpacked == end.state, || {
            format!("{:?} unpacked as {unpacked:?}", end.state)
        })
    })
}

fn fresh_state_decides_like_a_new_one<S: Told>(mut end: End<S>) -> Verdict {
    let last = end.decide(1);
    let at_reset = last.reset_at;
    let told = last.allowed && at_reset < Timestamp::MAX;
    claim(!told || end.strategy.is_fresh(&end.state, at_reset), || {
        format!("not fresh at {at_reset}, when all is replenished")
    })?;
    if !end.is_fresh() {
        return Ok(());
    }
    let mut new = S::State::default();
    for _ in 0..4 {
        let cost = end.cost();
        let (old, fresh) = (
            end.decide(cost),
            end.strategy.decide(&mut new, end.now, cost),
        );
        claim(old == fresh, || format!("{old:?}, a new one {fresh:?}"))?;
        end.now = end.now + Duration::from_micros(end.random.up_to(1 << 40));
    }
    Ok(())
}

impl<S: Told> End<S> {
    fn is_fresh(&self) -> bool {
        self.strategy.is_fresh(&self.state, self.now)
    }
}

/// Which strategies promise to pack.
trait Packs: Told {
    fn default_packs(strategy: &Self) -> bool {
        strategy.pack(&Self::State::default()).is_some()
    }
}

impl<S: Told> Packs for S {}
