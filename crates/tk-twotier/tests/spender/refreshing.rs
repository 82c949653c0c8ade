//! Spending with a function that asks.

use std::{future::pending, sync::Arc, time::Duration};

use tk_core::Grant;
use tk_twotier::SpendError;

use super::service::Service;

async fn settle() {
    for _ in 0..32 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn it_asks_when_it_must_and_stops_at_the_services_denial() {
    let service = Service::new(25);
    let spender = service.spender(10, |builder| builder);
    let mut admitted = 0;
    let denial = loop {
        let decision = spender
            .spend_or_refresh(1, |demand| service.reserve(demand))
            .await
            .expect("it answers");
        if decision.is_denied() {
            break decision;
        }
        admitted += 1;
    };
    assert_eq!(admitted, 25);
    assert_eq!(denial.retry_after, std::time::Duration::from_secs(1));
    assert_eq!(*service.asked.lock().expect("no panic"), [10, 10, 10, 10]);
}

#[tokio::test]
async fn small_grants_add_up() {
    let service = Service::new(100);
    let spender = service.spender(10, |builder| builder);
    let decision = spender
        .spend_or_refresh(7, async |mut demand| {
            demand.want = 3;
            demand.at_least = 3;
            service.reserve(demand).await
        })
        .await
        .expect("it answers");
    assert_eq!((decision.allowed, decision.remaining), (true, 2));
    assert_eq!(service.asked.lock().expect("no panic").len(), 3);
}

#[tokio::test]
async fn a_grant_of_nothing_without_a_denial_is_an_error_and_no_loop() {
    let service = Service::new(100);
    for coupled in [true, false] {
        let spender = service.spender(2, |builder| builder.window_coupled(coupled));
        let nothing = async |demand| {
            let grant = service.reserve(demand).await?;
            Ok::<_, &str>(Grant { amount: 0, ..grant })
        };
        let error = spender.spend_or_refresh(1, nothing).await;
        assert_eq!(error, Err(SpendError::Nothing));
    }
    // Less than asked for, and trimmed each time: carried over, five never come together.
    let spender = service.spender(2, |builder| builder.window_coupled(false));
    let stingy = async |mut demand: tk_twotier::Demand| {
        (demand.want, demand.at_least) = (1, 1);
        service.reserve(demand).await
    };
    let error = spender.spend_or_refresh(5, stingy).await;
    assert_eq!(error, Err(SpendError::Nothing));
}

#[tokio::test]
async fn a_grant_that_is_always_over_is_an_error_and_no_loop() {
    let service = Service::new(100);
    let spender = service.spender(10, |builder| builder);
    let slow = async |demand| {
        let grant = service.reserve(demand).await;
        service.pass(1_000);
        grant
    };
    assert_eq!(
        spender.spend_or_refresh(1, slow).await,
        Err(SpendError::TooLate)
    );
    assert_eq!(service.asked.lock().expect("no panic").len(), 4);
}

#[tokio::test]
async fn a_grant_that_says_not_how_long_it_lasts_is_an_error_and_no_endless_wait() {
    for is_coupled in [true, false] {
        let service = Service::new(100);
        let spender = service.spender(10, |builder| builder.window_coupled(is_coupled));
        let unset = async |demand| {
            let mut grant = service.reserve(demand).await?;
            grant.span = Duration::ZERO;
            Ok::<_, &str>(grant)
        };
        assert_eq!(
            spender.spend_or_refresh(1, unset).await,
            Err(SpendError::TooLate)
        );
        let whole = |demand| service.reserve(demand);
        let decision = spender.spend_or_refresh(1, whole).await;
        assert!(decision.expect("it answers").allowed, "it asks again");
    }
}

#[tokio::test]
async fn a_spender_asks_again_as_soon_as_its_grant_is_spent() {
    let service = Service::new(100);
    let spender = service.spender(10, |builder| builder);
    for _ in 0..30 {
        let decision = spender
            .spend_or_refresh(1, |demand| service.reserve(demand))
            .await;
        assert!(decision.expect("it answers").allowed);
    }
    assert_eq!(*service.asked.lock().expect("no panic"), [10, 10, 10]);
}

#[tokio::test]
async fn a_reserve_function_that_fails_fails_those_who_wait_and_no_later_one() {
    let service = Service::new(100);
    let spender = Arc::new(service.spender(10, |builder| builder));
    let (fail, failed) = tokio::sync::oneshot::channel::<()>();
    let asker = tokio::spawn({
        let spender = spender.clone();
        let mut failed = Some(failed);
        async move {
            let reserve = |_| {
                let failed = failed.take();
                async move {
                    if let Some(failed) = failed {
                        let _ = failed.await;
                    }
                    Err("unreachable")
                }
            };
            spender.spend_or_refresh(1, reserve).await
        }
    });
    settle().await;
    let waiter = tokio::spawn({
        let spender = spender.clone();
        async move {
            spender
                .spend_or_refresh(1, async |_| Err("it does not ask"))
                .await
        }
    });
    settle().await;
    drop(fail);
    assert_eq!(
        asker.await.expect("no panic"),
        Err(SpendError::Reserve("unreachable"))
    );
    assert_eq!(waiter.await.expect("no panic"), Err(SpendError::Shared));
    let decision = spender
        .spend_or_refresh(1, |demand| service.reserve(demand))
        .await;
    assert!(decision.expect("it answers").allowed);
}

#[tokio::test]
async fn when_the_one_who_asks_goes_away_another_takes_over() {
    let service = Arc::new(Service::new(100));
    let spender = Arc::new(service.spender(10, |builder| builder));
    let asker = tokio::spawn({
        let spender = spender.clone();
        async move {
            let never = |_| pending::<Result<Grant, &str>>();
            spender.spend_or_refresh(1, never).await
        }
    });
    settle().await;
    let waiters: Vec<_> = (0..5)
        .map(|_| {
            let (spender, service) = (spender.clone(), service.clone());
            tokio::spawn(async move {
                let reserve = |demand| service.reserve(demand);
                spender.spend_or_refresh(1, reserve).await
            })
        })
        .collect();
    settle().await;
    assert!(service.asked.lock().expect("no panic").is_empty());
    asker.abort();
    for waiter in waiters {
        let decision = waiter.await.expect("no panic").expect("it answers");
        assert!(decision.allowed);
    }
    assert_eq!(*service.asked.lock().expect("no panic"), [10]);
}

#[tokio::test]
async fn fifty_callers_ask_one_at_a_time() {
    let service = Arc::new(Service::new(100));
    let spender = Arc::new(service.spender(10, |builder| builder));
    let callers: Vec<_> = (0..50)
        .map(|_| {
            let (spender, service) = (spender.clone(), service.clone());
            tokio::spawn(async move {
                let reserve = |demand| {
                    let service = service.clone();
                    async move {
                        tokio::task::yield_now().await;
                        service.reserve(demand).await
                    }
                };
                spender.spend_or_refresh(1, reserve).await
            })
        })
        .collect();
    for caller in callers {
        assert!(caller.await.expect("no panic").expect("it answers").allowed);
    }
    assert_eq!(service.asked.lock().expect("no panic").len(), 5);
}

#[tokio::test]
async fn a_cost_above_the_limit_is_an_error_of_its_own() {
    let service = Service::new(100);
    let spender = service.spender(10, |builder| builder);
    let error = spender
        .spend_or_refresh(101, |demand| service.reserve(demand))
        .await;
    assert_eq!(
        error,
        Err(SpendError::ExceedsCapacity {
            cost: 101,
            limit: 100
        })
    );
}
