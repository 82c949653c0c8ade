//! Servers that are gone, slow, full or locked.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use futures_util::{FutureExt, future::join_all};
use tk_core::{Decision, Error, FixedWindow, Gcra, SlidingWindowLog, Store};
use tk_store_redis::{
    Applied, BuildError, Builder, ErrorKind, RedisStore, Scripted, StoreError, Warning,
};
use tk_testkit::{
    conformance::block_on,
    servers::{Proxy, RedisServer, free_port},
};

use crate::support::PATIENT;

/// Long enough that nothing replenishes while a test runs.
const LONG: Duration = Duration::from_secs(1 << 24);

fn strategy() -> FixedWindow {
    FixedWindow::new(1_000_000, LONG).unwrap()
}

/// A store that gives up soon, and probes often.
fn hasty(url: &str) -> Builder<FixedWindow> {
    RedisStore::builder("test")
        .url(url)
        .deadline(Duration::from_millis(100))
        .breaker(3, Duration::from_millis(200))
}

type Answer = Result<Decision, Error<StoreError>>;

async fn check(store: &RedisStore<FixedWindow>) -> Answer {
    store.check(&strategy(), "key", 1).await
}

fn error(answer: Answer) -> StoreError {
    match answer {
        Err(Error::Store(error)) => error,
        answer => panic!("no error of the store: {answer:?}"),
    }
}

/// Checks until one is answered, and says how many it took.
async fn checks_until_answered(store: &RedisStore<FixedWindow>) -> u32 {
    for calls in 1..10_000 {
        match check(store).await {
            Ok(_) => return calls,
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
    panic!("the store never came back");
}

/// Checks until the breaker is open.
async fn checks_until_open(store: &RedisStore<FixedWindow>) {
    for _ in 0..1_000 {
        if let Err(Error::Store(error)) = check(store).await
            && *error.kind() == ErrorKind::BreakerOpen
        {
            return;
        }
    }
    panic!("the breaker never opened");
}

#[test]
fn a_store_is_built_with_its_server_down_and_connects_later() {
    let mut server = RedisServer::at(free_port(), &[]);
    block_on(async {
        let store = hasty(&server.url()).build().unwrap();
        let down = error(check(&store).await);
        assert!(matches!(down.kind(), ErrorKind::Unreachable(_)), "{down:?}");
        assert_eq!((down.applied(), down.is_transient()), (Applied::No, true));
        server.run();
        checks_until_answered(&store).await;
    });
}

#[test]
fn a_paused_server_opens_the_breaker_and_is_found_again_by_a_probe() {
    let server = RedisServer::start();
    block_on(async {
        let store = hasty(&server.url()).build().unwrap();
        checks_until_answered(&store).await;
        server.pause();
        let mut unknown = 0;
        let mut open = 0;
        for _ in 0..1_000 {
            let error = error(check(&store).await);
            match error.kind() {
                ErrorKind::BreakerOpen => {
                    assert_eq!(error.applied(), Applied::No);
                    open += 1;
                }
                _ => unknown += u32::from(error.applied() == Applied::Unknown),
            }
        }
        assert!(open > 900, "{open} of 1,000 calls were spared the wait");
        assert!(
            unknown >= 3,
            "calls that were sent and not answered are unknown"
        );
        server.unpause();
        checks_until_answered(&store).await;
        assert!(check(&store).await.is_ok(), "enforcement is back for good");
    });
}

/// Checks `calls` at a time, and waits for their answers for so long. Whether the breaker was open.
async fn is_open(store: &RedisStore<FixedWindow>, calls: usize, patience: Duration) -> bool {
    let checks = join_all((0..calls).map(|_| check(store)));
    let Ok(answers) = tokio::time::timeout(patience, checks).await else {
        return false;
    };
    let open = |answer: &Answer| match answer {
        Err(Error::Store(error)) => *error.kind() == ErrorKind::BreakerOpen,
        _ => false,
    };
    answers.iter().any(open)
}

#[test]
fn callers_who_wait_less_than_the_deadline_open_the_breaker_of_a_server_that_is_gone() {
    let server = RedisServer::start();
    block_on(async {
        for together in [1, 3] {
            let store = hasty(&server.url()).build().unwrap();
            checks_until_answered(&store).await;
            server.pause();
            let mut rounds = 0;
            while !is_open(&store, together, Duration::from_millis(30)).await {
                rounds += 1;
                assert!(rounds < 1_000, "each of them pays for the whole outage");
            }
            server.unpause();
            checks_until_answered(&store).await;
        }
        let store = hasty(&server.url()).build().unwrap();
        checks_until_answered(&store).await;
        server.pause();
        for rounds in 0.. {
            let strategy = strategy();
            let batch = store.check_many(&strategy, &[("key", 1); 2]);
            if tokio::time::timeout(Duration::from_millis(30), batch)
                .await
                .is_ok()
            {
                break;
            }
            assert!(rounds < 1_000, "nor are batches for nothing");
        }
        server.unpause();
    });
}

/// Their command goes on without them, and how it ends is told for each of them.
#[test]
fn calls_that_share_a_command_count_though_their_callers_have_left() {
    let server = RedisServer::start();
    block_on(async {
        let builder = hasty(&server.url()).breaker(250, Duration::from_secs(3_600));
        let store = builder.build().unwrap();
        checks_until_answered(&store).await;
        server.pause();
        // The first of them goes alone.
        assert!(!is_open(&store, 300, Duration::from_millis(30)).await);
        // A look that finds the breaker closed leaves at once, and has one question asked in its place: too few to open it by themselves.
        let mut looks = 0;
        while !is_open(&store, 1, Duration::ZERO).await {
            looks += 1;
            assert!(looks < 200, "they left, and count for nothing");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        server.unpause();
    });
}

/// A caller that has waited for its whole deadline has told how its call ended, before the call's command has.
#[test]
fn a_call_whose_command_ends_after_its_caller_counts_once() {
    let server = RedisServer::start();
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap()
    };
    let (of_the_store, of_callers) = (runtime(), runtime());
    let store = of_the_store.block_on(async {
        let builder = hasty(&server.url()).breaker(4, Duration::from_secs(3_600));
        let store = builder.build().unwrap();
        checks_until_answered(&store).await;
        store
    });
    server.pause();
    of_callers.block_on(async {
        let calls = async { join_all((0..3).map(|_| check(&store))).await };
        let calls = tokio::task::unconstrained(calls);
        let mut calls = std::pin::pin!(calls);
        assert!(futures_util::poll!(&mut calls).is_pending());
        // The store's runtime runs for long enough to send them, and then stands still until their callers have had enough.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                of_the_store.block_on(async {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                });
            });
        });
        for answer in calls.await {
            assert_eq!(*error(answer).kind(), ErrorKind::Timeout);
        }
    });
    of_the_store.block_on(async {
        // Long enough for their commands to end, or else nothing is shown.
        tokio::time::sleep(Duration::from_millis(300)).await;
        // The fourth.
        assert_eq!(*error(check(&store).await).kind(), ErrorKind::Timeout);
        assert_eq!(*error(check(&store).await).kind(), ErrorKind::BreakerOpen);
    });
    server.unpause();
}

#[test]
fn callers_in_a_hurry_do_not_open_the_breaker_of_a_server_that_is_well() {
    let server = RedisServer::start();
    let proxy = Proxy::to(&server);
    block_on(async {
        let builder = hasty(&proxy.url()).deadline(PATIENT);
        let store = builder.build().unwrap();
        checks_until_answered(&store).await;
        proxy.delay_replies(Duration::from_millis(20));
        for round in 0..60 {
            let together = 1 + round % 3;
            let open = is_open(&store, together, Duration::from_millis(5)).await;
            assert!(!open, "it answers, though later than they wait");
        }
        proxy.delay_replies(Duration::ZERO);
        assert!(check(&store).await.is_ok());
    });
}

#[test]
fn the_calls_of_one_batch_are_as_many_failures() {
    let server = RedisServer::start();
    block_on(async {
        let store = hasty(&server.url()).build().unwrap();
        checks_until_answered(&store).await;
        server.pause();
        for answer in store.check_many(&strategy(), &[("key", 1); 3]).await {
            assert_eq!(*error(answer).kind(), ErrorKind::Timeout);
        }
        assert_eq!(*error(check(&store).await).kind(), ErrorKind::BreakerOpen);
        server.unpause();
    });
}

#[test]
fn a_batch_of_which_nothing_is_sent_waits_for_nobody_and_tells_the_breaker_nothing() {
    block_on(async {
        let store = hasty(&format!("redis://127.0.0.1:{}", free_port()))
            .build()
            .unwrap();
        let dear = [("key", 2_000_000)];
        for calls in [&dear[..], &[]] {
            let answers = store.check_many(&strategy(), calls).now_or_never();
            assert_eq!(answers.map(|answers| answers.len()), Some(calls.len()));
        }
        for _ in 0..3 {
            let down = error(check(&store).await);
            assert!(matches!(down.kind(), ErrorKind::Unreachable(_)), "{down:?}");
            let _ = store.check_many(&strategy(), &dear).await;
        }
        assert_eq!(*error(check(&store).await).kind(), ErrorKind::BreakerOpen);
        let _ = store.check_many(&strategy(), &dear).await;
        assert_eq!(*error(check(&store).await).kind(), ErrorKind::BreakerOpen);
    });
}

/// A limiter that has been down once must neither stay down nor stick to a dead connection.
#[test]
fn five_crashes_in_a_row_are_recovered_from() {
    let mut server = RedisServer::start();
    block_on(async {
        let store = hasty(&server.url()).build().unwrap();
        let two = FixedWindow::new(2, LONG).unwrap();
        for round in 0..5 {
            checks_until_answered(&store).await;
            let key = format!("round {round}");
            for expected in [true, true, false] {
                let decision = store.check(&two, &key, 1).await.unwrap();
                assert_eq!(decision.allowed, expected, "round {round}");
            }
            server.kill();
            checks_until_open(&store).await;
            server.run();
        }
        checks_until_answered(&store).await;
    });
}

/// The next probe would come in an hour, so it is the new connection that has a call sent.
#[test]
fn a_server_that_is_back_is_found_before_the_next_probe_five_times_in_a_row() {
    let mut server = RedisServer::start();
    block_on(async {
        let store = hasty(&server.url())
            .breaker(3, Duration::from_secs(3_600))
            .build()
            .unwrap();
        for round in 0..5 {
            checks_until_answered(&store).await;
            server.kill();
            checks_until_open(&store).await;
            server.run();
            checks_until_answered(&store).await;
            assert!(check(&store).await.is_ok(), "round {round}");
        }
    });
}

#[test]
fn grants_from_before_an_empty_restart_are_not_taken_back() {
    let mut server = RedisServer::start();
    block_on(async {
        let store = hasty(&server.url()).build().unwrap();
        checks_until_answered(&store).await;
        let ten = FixedWindow::new(10, LONG).unwrap();
        let grant = store.lease(&ten, "leased", 5, 1).await.unwrap();
        server.kill();
        server.run();
        checks_until_answered(&store).await;
        let again = store.lease(&ten, "leased", 10, 10).await.unwrap();
        assert_eq!(again.amount, 10, "the restart was empty");
        assert_eq!(
            store.give_back(&ten, "leased", grant.tag, 5).await.unwrap(),
            0
        );
        assert_eq!(
            store.give_back(&ten, "leased", again.tag, 5).await.unwrap(),
            5
        );
    });
}

#[test]
fn a_restart_with_its_data_keeps_limits_and_grants() {
    let mut server = RedisServer::start_with(&["--appendonly", "yes", "--appendfsync", "always"]);
    block_on(async {
        let store = hasty(&server.url()).build().unwrap();
        checks_until_answered(&store).await;
        let ten = FixedWindow::new(10, LONG).unwrap();
        let grant = store.lease(&ten, "leased", 9, 1).await.unwrap();
        server.kill();
        server.run();
        checks_until_answered(&store).await;
        assert_eq!(store.peek(&ten, "leased").await.unwrap().remaining, 1);
        assert_eq!(
            store.give_back(&ten, "leased", grant.tag, 4).await.unwrap(),
            4
        );
        assert_eq!(store.peek(&ten, "leased").await.unwrap().remaining, 5);
        server.assert_all_keys_expire();
    });
}

#[test]
fn calls_beyond_the_limit_in_flight_fail_at_once() {
    let server = RedisServer::start();
    block_on(async {
        let store = hasty(&server.url())
            .deadline(Duration::from_secs(2))
            .max_in_flight(4)
            .build()
            .unwrap();
        checks_until_answered(&store).await;
        server.pause();
        let waiting: Vec<_> = (0..4)
            .map(|_| {
                let store = store.clone();
                tokio::spawn(async move { check(&store).await })
            })
            .collect();
        // Each of them takes its place when it is first polled.
        let refused = loop {
            tokio::time::sleep(Duration::from_millis(10)).await;
            let answer = tokio::time::timeout(Duration::from_millis(10), check(&store)).await;
            if let Ok(answer) = answer {
                break error(answer);
            }
        };
        assert_eq!(*refused.kind(), ErrorKind::TooManyInFlight(4));
        assert_eq!(refused.applied(), Applied::No);
        server.unpause();
        for task in waiting {
            task.abort();
        }
        checks_until_answered(&store).await;
    });
}

/// The same batch can never succeed, so nobody need try it again.
#[test]
fn a_batch_above_the_limit_in_flight_is_refused_for_good_and_names_both_numbers() {
    let server = RedisServer::start();
    block_on(async {
        let store = hasty(&server.url()).max_in_flight(4).build().unwrap();
        checks_until_answered(&store).await;
        for answer in store.check_many(&strategy(), &[("key", 1); 5]).await {
            let error = error(answer);
            let text = error.to_string();
            assert!(text.contains('5') && text.contains("limit of 4"), "{text}");
            assert_eq!(
                (error.applied(), error.is_transient()),
                (Applied::No, false)
            );
        }
        for answer in store.check_many(&strategy(), &[("key", 1); 4]).await {
            assert!(answer.is_ok(), "{answer:?}");
        }
    });
}

#[test]
fn a_wrong_password_is_named_and_a_corrected_one_helps() {
    let server = RedisServer::start_with(&["--requirepass", "right"]);
    block_on(async {
        let store = hasty(&server.url().replace("redis://", "redis://:wrong@"))
            .build()
            .unwrap();
        let mut last = error(check(&store).await);
        for _ in 0..1_000 {
            if matches!(last.kind(), ErrorKind::Unreachable(why) if why.contains("WRONGPASS")) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
            last = error(check(&store).await);
        }
        assert_eq!(last.applied(), Applied::No);
        assert!(!format!("{store:?} {last:?}").contains("wrong@"));
        let mut wire = server.wire();
        wire.ask(&["AUTH", "right"]).unwrap();
        wire.ask(&["CONFIG", "SET", "requirepass", "wrong"])
            .unwrap();
        checks_until_answered(&store).await;
    });
}

#[test]
fn a_full_server_refuses_and_nothing_is_applied() {
    let server = RedisServer::start_with(&["--maxmemory", "1", "--maxmemory-policy", "noeviction"]);
    block_on(async {
        let store = hasty(&server.url()).build().unwrap();
        let full = error(check(&store).await);
        assert!(matches!(full.kind(), ErrorKind::Refused(_)), "{full:?}");
        assert_eq!((full.applied(), full.is_transient()), (Applied::No, true));
        server.ask(&["CONFIG", "SET", "maxmemory", "0"]);
        assert_eq!(check(&store).await.unwrap().remaining, 999_999);
    });
}

/// The warnings about a server with these settings, to a store for `S`, at least as many as that if they ever come.
async fn warnings<S: Scripted>(settings: &[&str], expected: usize) -> Vec<Warning> {
    let server = RedisServer::start_with(settings);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let hook = seen.clone();
    let _store: RedisStore<S> = RedisStore::builder("test")
        .url(server.url())
        .on_warning(move |warning| hook.lock().unwrap().push(warning.clone()))
        .build()
        .unwrap();
    for _ in 0..4_000 {
        if seen.lock().unwrap().len() >= expected {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // One too many would follow soon.
    tokio::time::sleep(Duration::from_millis(200)).await;
    let seen = seen.lock().unwrap();
    seen.clone()
}

#[test]
fn a_server_that_may_drop_limits_is_warned_of_once() {
    block_on(async {
        let lru = ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"];
        let evicts = Warning::Evicts {
            policy: "allkeys-lru".into(),
        };
        assert_eq!(warnings::<Gcra>(&lru, 1).await, [evicts]);
        assert_eq!(
            warnings::<Gcra>(&["--maxmemory-policy", "allkeys-lru"], 0).await,
            [],
            "memory without bound"
        );
        assert_eq!(warnings::<Gcra>(&["--maxmemory", "100mb"], 0).await, []);
        assert_eq!(
            warnings::<SlidingWindowLog>(&[], 1).await,
            [Warning::BlockingExpiry]
        );
        assert_eq!(
            warnings::<SlidingWindowLog>(&["--lazyfree-lazy-expire", "yes"], 0).await,
            []
        );
    });
}

#[test]
fn settings_out_of_range_are_named() {
    let build = |builder: Builder<FixedWindow>| builder.build().map(drop).unwrap_err().to_string();
    assert!(build(hasty("redis://127.0.0.1").connections(0)).contains("`connections` is 0"));
    assert!(build(hasty("redis://127.0.0.1").deadline(Duration::ZERO)).contains("`deadline` is 0"));
    assert!(build(hasty("redis://127.0.0.1").max_in_flight(0)).contains("`max_in_flight` is 0"));
    assert!(build(hasty("redis://127.0.0.1").breaker(0, LONG)).contains("`failures` is 0"));
    assert!(build(RedisStore::builder("a\nb").url("redis://127.0.0.1")).contains("`policy`"));
    assert!(build(RedisStore::builder("a").prefix("")).contains("`prefix`"));
    let outside = hasty("redis://127.0.0.1").build().map(drop);
    assert_eq!(outside, Err(BuildError::NoRuntime));
    block_on(async {
        assert_eq!(
            RedisStore::<Gcra>::builder("a").build().map(drop),
            Err(BuildError::NoServer)
        );
        let bad = hasty("redis://user:secret@:99999999")
            .build()
            .map(drop)
            .unwrap_err();
        assert!(!bad.to_string().contains("secret"), "{bad}");
    });
}

/// While the breaker is open an answer costs next to nothing. The figure is printed, not claimed.
#[test]
fn an_outage_costs_microseconds() {
    let mut server = RedisServer::start();
    block_on(async {
        let store = hasty(&server.url())
            .breaker(3, Duration::from_secs(3_600))
            .build()
            .unwrap();
        checks_until_answered(&store).await;
        server.kill();
        checks_until_open(&store).await;
        let mut spans = Vec::new();
        for _ in 0..10_000 {
            let began = now();
            let error = error(check(&store).await);
            spans.push(began.elapsed());
            assert_eq!(*error.kind(), ErrorKind::BreakerOpen);
        }
        spans.sort();
        println!(
            "a check while the breaker is open: {:?} at the median",
            spans[5_000]
        );
    });
}

#[expect(
    clippy::disallowed_methods,
    reason = "a real duration is measured, and printed"
)]
fn now() -> Instant {
    Instant::now()
}
