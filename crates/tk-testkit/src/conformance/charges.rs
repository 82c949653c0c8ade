//! Checks, peeks and resets.

use std::{fmt::Debug, time::Duration};

use tk_core::{Error, Strategy};

use super::{Harness, twin};

/// All claims of this module.
pub async fn all<S: Strategy + Debug, H: Harness<S>>(harness: &H, strategy: &S) {
    retry_time_is_exact(harness, strategy).await;
    denial_changes_nothing(harness, strategy).await;
    cost_zero_and_peek_write_nothing(harness, strategy).await;
    refusal_changes_nothing(harness, strategy).await;
    reset_makes_a_key_new(harness, strategy).await;
    many_checks_see_each_other_in_order(harness, strategy).await;
    time_backwards_frees_nothing(harness, strategy).await;
}

/// A key is admitted up to its capacity, then exactly when it was told.
pub async fn retry_time_is_exact<S: Strategy + Debug, H: Harness<S>>(harness: &H, strategy: &S) {
    let mut twin = twin(harness, strategy, "retry time is exact").await;
    let cost = strategy.capacity().div_ceil(8);
    for _ in 0..24 {
        let decision = twin.decide("key", cost).await;
        if decision.is_denied() {
            let told = twin.now() + decision.retry_after;
            twin.set_now(told - Duration::from_micros(1));
            let early = twin.decide("key", cost).await;
            twin.claim(early.is_denied(), "admitted before the time it was told");
            twin.set_now(told);
            let due = twin.decide("key", cost).await;
            twin.claim(due.allowed, "denied at the time it was told");
        }
    }
}

/// A denied call leaves tokens and times as they were.
pub async fn denial_changes_nothing<S: Strategy + Debug, H: Harness<S>>(harness: &H, strategy: &S) {
    let mut twin = twin(harness, strategy, "a denial changes nothing").await;
    let all = strategy.capacity();
    twin.charge("key", all - 1).await;
    let before = twin.peek("key").await;
    for _ in 0..3 {
        let denied = twin.decide("key", all).await;
        twin.claim(denied.is_denied(), "admitted more than the capacity");
    }
    let after = twin.peek("key").await;
    twin.claim(
        before.is_ok_and(|before| after.is_ok_and(|after| before == after)),
        "a denial changed the state",
    );
    let last = twin.decide("key", 1).await;
    twin.claim(last.allowed, "a denial took units");
}

/// Cost 0 is allowed to all, also to keys that are used up, and is no use of them.
pub async fn cost_zero_and_peek_write_nothing<S: Strategy + Debug, H: Harness<S>>(
    harness: &H,
    strategy: &S,
) {
    let mut twin = twin(harness, strategy, "cost 0 and peek write nothing").await;
    let all = strategy.capacity();
    for used in [0, 1, all - 1] {
        for _ in 0..3 {
            let free = twin.decide("key", 0).await;
            twin.claim(free.allowed, "cost 0 was denied");
            twin.claim(free.retry_after.is_zero(), "cost 0 is told to wait");
            let _ = twin.peek("key").await;
        }
        if used < all - 1 {
            twin.charge("key", if used == 0 { 1 } else { all - 2 })
                .await;
        }
    }
    let last = twin.decide("key", 1).await;
    twin.claim(last.allowed, "cost 0 or a peek took units");
    let free = twin.decide("key", 0).await;
    twin.claim(free.allowed, "cost 0 was denied to a key that is used up");
    let peeked = twin.peek("key").await;
    twin.claim(
        peeked.is_ok_and(|peeked| peeked.is_denied()),
        "a peek allowed what a check would deny",
    );
}

/// A cost above the capacity and an empty key are errors of their own, on every path, and touch nothing.
pub async fn refusal_changes_nothing<S: Strategy + Debug, H: Harness<S>>(
    harness: &H,
    strategy: &S,
) {
    let mut twin = twin(harness, strategy, "a refusal changes nothing").await;
    let all = strategy.capacity();
    let held = twin.grant("key", 2, 1).await;
    for cost in [all + 1, all.saturating_mul(3), u64::MAX] {
        let refused = twin.check("key", cost).await;
        twin.claim(refused.is_err(), "a check above the capacity was answered");
        let refused = twin.lease("key", cost, cost).await;
        twin.claim(refused.is_err(), "a lease above the capacity was answered");
        let answers = twin.check_many(&[("key", cost), ("other", cost)]).await;
        twin.claim(
            answers
                .iter()
                .all(|answer| matches!(answer, Err(Error::ExceedsCapacity { .. }))),
            "checks above the capacity were answered",
        );
    }
    let empty: [bool; 6] = [
        is_empty_key(&twin.check("", 1).await),
        is_empty_key(&twin.peek("").await),
        is_empty_key(&twin.lease("", 1, 1).await),
        is_empty_key(&twin.give_back("", &held, 1).await),
        is_empty_key(&twin.reset("").await),
        twin.check_many(&[("", 1), ("", 0)])
            .await
            .iter()
            .all(is_empty_key),
    ];
    twin.claim(empty == [true; 6], "an empty key was taken");
    twin.charge("key", all - 2).await;
    let denied = twin.decide("key", 1).await;
    twin.claim(denied.is_denied(), "a refusal changed the state");
}

fn is_empty_key<R, E>(answer: &Result<R, Error<E>>) -> bool {
    matches!(answer, Err(Error::EmptyKey))
}

/// A key that was reset is as one never seen, and others are as they were.
pub async fn reset_makes_a_key_new<S: Strategy + Debug, H: Harness<S>>(harness: &H, strategy: &S) {
    let mut twin = twin(harness, strategy, "reset makes a key new").await;
    let all = strategy.capacity();
    let _ = twin.reset("never seen").await;
    for key in ["reset", "kept"] {
        twin.charge(key, all).await;
    }
    let _ = twin.reset("reset").await;
    let new = twin.decide("reset", all).await;
    twin.claim(new.allowed, "a key that was reset is still charged");
    let kept = twin.decide("kept", 1).await;
    twin.claim(kept.is_denied(), "a reset freed another key");
}

/// Checks made together are answered in their order, at one instant, and refusing one does not undo others.
pub async fn many_checks_see_each_other_in_order<S: Strategy + Debug, H: Harness<S>>(
    harness: &H,
    strategy: &S,
) {
    let mut twin = twin(harness, strategy, "many checks see each other in order").await;
    let all = strategy.capacity();
    twin.check_many::<&str>(&[]).await;
    let calls = [
        ("a", all - 1),
        ("b", 2),
        ("a", 2),
        ("a", 0),
        ("a", all + 1),
        ("a", 1),
        ("", 1),
        ("b", all - 2),
        ("a", 1),
        ("b", 1),
    ];
    let answers = twin.check_many(&calls).await;
    let allowed: Vec<_> = answers
        .iter()
        .map(|answer| answer.as_ref().ok().map(|decision| decision.allowed))
        .collect();
    let (yes, no) = (Some(true), Some(false));
    let right = [yes, yes, no, yes, None, yes, None, yes, no, no];
    twin.claim(allowed == right, format_args!("allowed {allowed:?}"));
    let many: Vec<_> = (0_u64..100).map(|key| (key % 70, 1 + key % 3)).collect();
    twin.check_many(&many).await;
    twin.check_many(&many).await;
}

/// A clock that steps back frees no units.
pub async fn time_backwards_frees_nothing<S: Strategy + Debug, H: Harness<S>>(
    harness: &H,
    strategy: &S,
) {
    let mut twin = twin(harness, strategy, "time backwards frees nothing").await;
    let all = strategy.capacity();
    let start = twin.now();
    twin.charge("key", all).await;
    for seconds in [1, 3, 3_600, 86_400_000] {
        twin.set_now(start - Duration::from_secs(seconds));
        let denied = twin.decide("key", 1).await;
        twin.claim(denied.is_denied(), "a step back freed units");
        let _ = twin.peek("key").await;
        twin.set_now(start);
        let denied = twin.decide("key", 1).await;
        twin.claim(denied.is_denied(), "a step back and forth freed units");
    }
}
