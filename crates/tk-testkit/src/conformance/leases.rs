//! Grants, and what is taken back of them.

use std::{fmt::Debug, time::Duration};

use tk_core::{Mark, Strategy, Tag};

use super::{Harness, twin};

/// All claims of this module.
pub async fn all<S: Strategy + Debug, H: Harness<S>>(harness: &H, strategy: &S) {
    grant_is_what_is_left(harness, strategy).await;
    unspent_units_go_back_once_in_their_amount(harness, strategy).await;
    hand_back_that_names_no_live_grant_takes_nothing(harness, strategy).await;
    hand_back_after_others_were_charged_frees_no_more_than_was_granted(harness, strategy).await;
}

/// A lease grants the lesser of what is wanted and what is left, and nothing if that is less than the least of use.
pub async fn grant_is_what_is_left<S: Strategy + Debug, H: Harness<S>>(harness: &H, strategy: &S) {
    let mut twin = twin(harness, strategy, "a grant is what is left").await;
    let all = strategy.capacity();
    let one = twin.grant("key", 0, 0).await;
    twin.claim(one.grant.amount == 1, "a lease of nothing is not one of 1");
    let some = twin.grant("key", 3, 1).await;
    twin.claim(
        some.grant.amount == 3,
        "less than wanted, though it was there",
    );
    let none = twin.grant("key", all, all - 3).await;
    twin.claim(
        none.grant.amount == 0,
        "a grant of less than the least of use",
    );
    twin.claim(
        none.grant.decision.is_denied(),
        "an empty grant without a denial",
    );
    twin.claim(
        !none.grant.decision.retry_after.is_zero(),
        "an empty grant without a time to wait",
    );
    let rest = twin.grant("key", u64::MAX, all - 4).await;
    twin.claim(rest.grant.amount == all - 4, "not all that was left");
    let denied = twin.grant("key", 1, 1).await;
    twin.claim(
        denied.grant.amount == 0,
        "a grant of more than the capacity",
    );
    let whole = twin.grant("other", u64::MAX, 1).await;
    twin.claim(whole.grant.amount == all, "not the whole capacity");
    let least = twin.grant("third", 1, 4).await;
    twin.claim(least.grant.amount == 4, "less than the least of use");
}

/// What is handed back is free again: no more than was granted, and only what is asked for.
pub async fn unspent_units_go_back_once_in_their_amount<S: Strategy + Debug, H: Harness<S>>(
    harness: &H,
    strategy: &S,
) {
    let mut twin = twin(harness, strategy, "unspent units go back in their amount").await;
    let all = strategy.capacity();
    for (key, amount) in [
        ("none", 0),
        ("some", 2),
        ("all", 4),
        ("twice", 8),
        ("most", u64::MAX),
    ] {
        twin.charge(key, all - 4).await;
        let held = twin.grant(key, 4, 4).await;
        let applied = twin.take_back(key, &held, amount).await;
        twin.claim(
            applied <= amount.min(4),
            format_args!("took {applied} of {amount}, granted 4"),
        );
        let again = twin.grant(key, all, 1).await;
        twin.claim(
            again.grant.amount == applied,
            format_args!(
                "{} units are free after {applied} were taken",
                again.grant.amount
            ),
        );
    }
}

/// A tag from before a reset, of another window, of another life, or of another key finds nothing.
pub async fn hand_back_that_names_no_live_grant_takes_nothing<
    S: Strategy + Debug,
    H: Harness<S>,
>(
    harness: &H,
    strategy: &S,
) {
    let mut twin = twin(
        harness,
        strategy,
        "a hand-back without a grant takes nothing",
    )
    .await;
    let held = twin.grant("key", 4, 4).await;
    let tag = held.grant.tag;
    let (life, mark, amount) = (tag.incarnation(), tag.mark(), tag.amount());
    let wrong = Tag::new(life, Mark(mark.0 ^ 1 << 70), amount);
    twin.refuse("key", wrong, "with another mark").await;
    let wrong = Tag::new(life ^ 1, mark, amount);
    twin.refuse("key", wrong, "from another life").await;
    twin.refuse("never seen", tag, "to a key never seen").await;

    let reset = twin.grant("reset", 4, 4).await;
    let _ = twin.reset("reset").await;
    let applied = twin.take_back("reset", &reset, 4).await;
    twin.claim(applied == 0, "a hand-back from before a reset was taken");
    twin.charge("reset", 4).await;
    let applied = twin.take_back("reset", &reset, 4).await;
    twin.claim(applied == 0, "a hand-back from before a reset was taken");

    let late = twin.grant("late", 4, 4).await;
    let start = twin.now();
    twin.set_now(late.grant.decision.reset_at + Duration::from_micros(1));
    let applied = twin.take_back("late", &late, 4).await;
    twin.claim(
        applied == 0,
        "a hand-back was taken after all was replenished",
    );
    twin.charge("late", 4).await;
    let applied = twin.take_back("late", &late, 4).await;
    twin.claim(
        applied == 0,
        "a hand-back of an old grant was taken from a new one",
    );
    twin.set_now(start);
    let _ = twin.take_back("key", &held, 4).await;
}

/// Between a grant and its hand-back others are charged, and time passes.
pub async fn hand_back_after_others_were_charged_frees_no_more_than_was_granted<
    S: Strategy + Debug,
    H: Harness<S>,
>(
    harness: &H,
    strategy: &S,
) {
    let mut twin = twin(harness, strategy, "a hand-back after others were charged").await;
    let all = strategy.capacity();
    for (round, wait) in [0_u64, 1, 1_000, 1_000_000, 3_000_000]
        .into_iter()
        .enumerate()
    {
        let key = &(round as u64);
        let first = twin.grant(key, 3, 1).await;
        twin.set_now(twin.now() + Duration::from_micros(wait));
        let second = twin.grant(key, 2, 1).await;
        twin.charge(key, 1).await;
        let applied = twin.take_back(key, &first, 2).await + twin.take_back(key, &second, 2).await;
        let left = twin.grant(key, all, 1).await;
        let most = all - 6 + applied;
        // What replenishes meanwhile comes on top of that.
        twin.claim(
            wait > 0 || left.grant.amount == most,
            format_args!("{} of {most} units are free", left.grant.amount),
        );
    }
}
