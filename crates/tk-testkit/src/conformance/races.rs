//! Many callers at one instant.

use std::{fmt::Debug, future::Future, sync::Arc};

use tk_core::{ManualClock, Store, Strategy};
use tokio::{sync::Barrier, task::JoinSet};

use super::{Harness, START};

/// All claims of this module.
pub async fn all<S: Strategy + Debug, H: Harness<S>>(harness: &H, strategy: &S) {
    concurrent_checks_admit_the_capacity(harness, strategy).await;
    concurrent_leases_grant_the_capacity(harness, strategy).await;
    concurrent_checks_of_new_keys_admit_the_capacity_of_each(harness, strategy).await;
}

/// Of four times as many checks as fit, exactly those that fit are admitted: 50 of 200 at limit 50.
pub async fn concurrent_checks_admit_the_capacity<S: Strategy + Debug, H: Harness<S>>(
    harness: &H,
    strategy: &S,
) {
    let all = strategy.capacity();
    let cost = all.div_ceil(50);
    for round in 0_u64..10 {
        let admitted = race(
            harness,
            strategy,
            200,
            move |store, strategy, _| async move {
                let answer = store.check(&strategy, &round, cost).await;
                u64::from(answer.is_ok_and(|decision| decision.allowed))
            },
        )
        .await;
        assert_eq!(
            admitted,
            all / cost,
            "200 concurrent checks of cost {cost} under {strategy:?}: wrong number admitted"
        );
    }
}

/// Leases that want more than there is share out exactly what there is.
pub async fn concurrent_leases_grant_the_capacity<S: Strategy + Debug, H: Harness<S>>(
    harness: &H,
    strategy: &S,
) {
    let all = strategy.capacity();
    let want = all.div_ceil(16);
    for round in 0_u64..10 {
        let granted = race(
            harness,
            strategy,
            64,
            move |store, strategy, _| async move {
                let answer = store.lease(&strategy, &("lease", round), want, 1).await;
                answer.map_or(0, |grant| grant.amount)
            },
        )
        .await;
        assert_eq!(
            granted, all,
            "64 concurrent leases of {want} under {strategy:?}: wrong amount granted"
        );
    }
}

/// Keys that many callers see for the first time at once have one state each.
pub async fn concurrent_checks_of_new_keys_admit_the_capacity_of_each<
    S: Strategy + Debug,
    H: Harness<S>,
>(
    harness: &H,
    strategy: &S,
) {
    const KEYS: u64 = 40;
    let half = strategy.capacity() / 2 + 1;
    let admitted = race(
        harness,
        strategy,
        8,
        move |store, strategy, task| async move {
            let mut admitted = 0;
            for turn in 0..KEYS {
                let key = (turn + task * 5) % KEYS;
                let answer = store.check(&strategy, &key, half).await;
                admitted += u64::from(answer.is_ok_and(|decision| decision.allowed));
            }
            admitted
        },
    )
    .await;
    assert_eq!(
        admitted, KEYS,
        "8 callers over {KEYS} new keys under {strategy:?}: wrong number admitted"
    );
}

/// Starts `tasks` at once on a new store, and adds up what they return.
async fn race<S, H, F, R>(harness: &H, strategy: &S, tasks: usize, task: F) -> u64
where
    S: Strategy,
    H: Harness<S>,
    F: Fn(Arc<H::Store>, S, u64) -> R,
    R: Future<Output = u64> + Send + 'static,
{
    let clock = Arc::new(ManualClock::at(START));
    let store = Arc::new(harness.store(clock).await);
    let start = Arc::new(Barrier::new(tasks));
    let mut running = JoinSet::new();
    for number in 0..tasks {
        let run = task(store.clone(), strategy.clone(), number as u64);
        let start = start.clone();
        running.spawn(async move {
            start.wait().await;
            run.await
        });
    }
    running.join_all().await.into_iter().sum()
}
