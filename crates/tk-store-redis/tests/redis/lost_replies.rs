//! A reply that is lost leaves the call unknown, and the call is never made again.

use std::time::Duration;

use fred::{
    clients::Client,
    interfaces::ClientLike,
    types::{Builder as FredBuilder, config::Config},
};
use tk_core::{Decision, Error, FixedWindow, Store};
use tk_store_redis::{Applied, ErrorKind, RedisStore, StoreError};
use tk_testkit::{
    conformance::block_on,
    servers::{Fault, Proxy, RedisServer},
};

/// Long enough that nothing replenishes while a test runs.
const LONG: Duration = Duration::from_secs(1 << 24);

fn hundred() -> FixedWindow {
    FixedWindow::new(100, LONG).unwrap()
}

fn store(url: &str) -> RedisStore<FixedWindow> {
    RedisStore::builder("test")
        .url(url)
        .deadline(Duration::from_millis(300))
        .build()
        .unwrap()
}

/// Waits until calls get through, and nothing else is under way.
async fn settle(store: &RedisStore<FixedWindow>) {
    for _ in 0..2_000 {
        // The server learns the scripts, too: what is lost later shall not be that it does not know one.
        let together = store.check_many(&hundred(), &[("another", 1); 2]).await;
        if store.peek(&hundred(), "another").await.is_ok()
            && store.check(&hundred(), "another", 1).await.is_ok()
            && together.iter().all(Result::is_ok)
        {
            // What the store asks of a new connection in the background is answered first, or its reply would be the one to be lost.
            tokio::time::sleep(Duration::from_millis(200)).await;
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("calls never get through again");
}

/// What the server has counted for the key, seen by a store with a way of its own.
async fn counted(server: &RedisServer) -> u64 {
    let seen = store(&server.url());
    settle(&seen).await;
    100 - seen.peek(&hundred(), "key").await.unwrap().remaining
}

fn unknown<T: std::fmt::Debug>(answer: Result<T, Error<StoreError>>) -> ErrorKind {
    match answer {
        Err(Error::Store(error)) => {
            assert_eq!(error.applied(), Applied::Unknown, "{error}");
            assert!(error.is_transient(), "{error}");
            error.kind().clone()
        }
        answer => panic!("an answer that was lost: {answer:?}"),
    }
}

/// The server runs the call, and the connection breaks before its reply arrives, five times.
async fn is_not_repeated(server: &RedisServer, proxy: &Proxy, store: &RedisStore<FixedWindow>) {
    settle(store).await;
    let (mut sent, mut unanswered) = (0, 0);
    while unanswered < 5 {
        proxy.set(Fault::CutsInsteadOfNextReply);
        match store.check(&hundred(), "key", 1).await {
            // The reply that was cut was one that fred had asked for.
            Ok(_) => sent += 1,
            Err(Error::Store(error)) if error.applied() == Applied::No => {}
            Err(error) => {
                assert!(matches!(unknown::<()>(Err(error)), ErrorKind::Lost(_)));
                sent += 1;
                unanswered += 1;
            }
        }
        // Whatever waits to be repeated would be, now that there is a connection again.
        settle(store).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(counted(server).await, sent);
    }
}

#[test]
fn a_call_whose_connection_breaks_is_unknown_and_counted_once() {
    let server = RedisServer::start();
    let proxy = Proxy::to(&server);
    block_on(async {
        is_not_repeated(&server, &proxy, &store(&proxy.url())).await;
    });
}

/// By default fred sends a command up to three times.
#[test]
fn a_clients_own_settings_do_not_make_it_repeat_calls() {
    let server = RedisServer::start();
    let proxy = Proxy::to(&server);
    block_on(async {
        let config = Config::from_url(&proxy.url()).unwrap();
        let client: Client = FredBuilder::from_config(config)
            .set_policy(fred::types::config::ReconnectPolicy::new_constant(0, 10))
            .build()
            .unwrap();
        assert_eq!(client.connection_config().max_command_attempts, 3);
        let connection = client.connect();
        let store = RedisStore::builder("test")
            .client(client.clone())
            .build()
            .unwrap();
        is_not_repeated(&server, &proxy, &store).await;
        client.quit().await.unwrap();
        let _ = connection.await;
    });
}

#[test]
fn a_reply_that_never_comes_ends_at_the_deadline_and_is_counted_once() {
    let server = RedisServer::start();
    let proxy = Proxy::to(&server);
    block_on(async {
        let store = store(&proxy.url());
        settle(&store).await;
        proxy.set(Fault::LosesReplies);
        assert_eq!(
            unknown(store.check(&hundred(), "key", 3).await),
            ErrorKind::Timeout
        );
        // The connection is found dead, closed and opened anew, which needs replies.
        tokio::time::sleep(Duration::from_millis(50)).await;
        proxy.set(Fault::None);
        settle(&store).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(counted(&server).await, 3);
        assert!(proxy.lost_replies() >= 1);
    });
}

#[test]
fn a_lost_lease_is_debited_once_and_a_lost_hand_back_applied_once() {
    let server = RedisServer::start();
    let proxy = Proxy::to(&server);
    block_on(async {
        let store = store(&proxy.url());
        settle(&store).await;
        let other = store.lease(&hundred(), "leased", 2, 1).await.unwrap();
        assert_eq!(
            store
                .give_back(&hundred(), "leased", other.tag, 1)
                .await
                .unwrap(),
            1
        );
        proxy.set(Fault::CutsInsteadOfNextReply);
        unknown(store.lease(&hundred(), "key", 4, 1).await);
        settle(&store).await;
        assert_eq!(counted(&server).await, 4);
        let grant = store.lease(&hundred(), "key", 4, 1).await.unwrap();
        assert_eq!(grant.amount, 4);
        proxy.set(Fault::CutsInsteadOfNextReply);
        unknown(store.give_back(&hundred(), "key", grant.tag, 3).await);
        settle(&store).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(counted(&server).await, 5);
    });
}

/// What became of six checks of one key whose connection broke instead of the first reply.
async fn fate(
    server: &RedisServer,
    store: &RedisStore<FixedWindow>,
    answers: Vec<Result<Decision, Error<StoreError>>>,
) -> (u64, u64, u64) {
    let (mut lost, mut answered) = (0, 0);
    for answer in answers {
        match answer {
            Ok(_) => answered += 1,
            Err(Error::Store(error)) => lost += u64::from(error.applied() == Applied::Unknown),
            Err(error) => panic!("{error}"),
        }
    }
    settle(store).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    (answered, lost, counted(server).await)
}

#[test]
fn many_checks_whose_reply_is_lost_are_counted_once_and_all_unknown() {
    let server = RedisServer::start();
    let proxy = Proxy::to(&server);
    block_on(async {
        let store = store(&proxy.url());
        settle(&store).await;
        proxy.set(Fault::CutsInsteadOfNextReply);
        let answers = store.check_many(&hundred(), &[("key", 1); 6]).await;
        assert_eq!(fate(&server, &store, answers).await, (0, 6, 6));
    });
}

#[test]
fn concurrent_checks_whose_replies_are_lost_are_counted_once_at_most() {
    let server = RedisServer::start();
    let proxy = Proxy::to(&server);
    block_on(async {
        for max_batch in [1, 64] {
            let builder = RedisStore::builder("test").url(proxy.url());
            let builder = builder.deadline(Duration::from_millis(300));
            let store = builder.max_batch(max_batch).build().unwrap();
            settle(&store).await;
            store.reset(&hundred(), "key").await.unwrap();
            proxy.set(Fault::CutsInsteadOfNextReply);
            let strategy = hundred();
            let checks = (0..6).map(|_| store.check(&strategy, "key", 1));
            let answers = futures_util::future::join_all(checks).await;
            // The connection may break before the last of them are written. Those are not sent, or for the first time on the
            // next connection, and then answered. What was written is sent by nobody again, or more would be counted.
            let (answered, lost, counted) = fate(&server, &store, answers).await;
            assert!(lost >= 1, "the first reply was lost");
            assert!(
                (answered.max(1)..=answered + lost).contains(&counted),
                "{counted} counted, {answered} answered, {lost} lost"
            );
        }
    });
}

/// As many calls in commands of their own would have said so, too.
#[test]
fn a_connection_that_left_the_calls_of_one_command_unanswered_is_given_up() {
    let server = RedisServer::start();
    let proxy = Proxy::to(&server);
    block_on(async {
        let builder = RedisStore::builder("test").url(proxy.url());
        // Long enough that fred itself does not give it up meanwhile.
        let store = builder.deadline(Duration::from_secs(1)).build().unwrap();
        settle(&store).await;
        proxy.set(Fault::LosesReplies);
        for answer in store.check_many(&hundred(), &[("key", 1); 5]).await {
            assert_eq!(unknown(answer), ErrorKind::Timeout);
        }
        proxy.set(Fault::None);
        while let Err(Error::Store(error)) = store.check(&hundred(), "another", 1).await {
            assert_ne!(*error.kind(), ErrorKind::Timeout, "on the old connection");
        }
        assert_eq!(counted(&server).await, 5);
    });
}

/// The answers on the other connection prove nothing for this one.
#[test]
fn one_silent_connection_of_two_is_given_up() {
    let server = RedisServer::start();
    let proxy = Proxy::to(&server);
    block_on(async {
        let builder = RedisStore::builder("test").url(proxy.url()).connections(2);
        // Long enough that fred itself does not give it up meanwhile.
        let store = builder.deadline(Duration::from_secs(1)).build().unwrap();
        for _ in 0..4 {
            settle(&store).await;
        }
        proxy.set(Fault::LosesRequests);
        assert_eq!(
            unknown(store.check(&hundred(), "key", 1).await),
            ErrorKind::Timeout
        );
        proxy.set(Fault::None);
        let (mut timeouts, mut in_a_row) = (1, 0);
        while in_a_row < 20 {
            match store.peek(&hundred(), "key").await {
                Ok(_) => in_a_row += 1,
                Err(Error::Store(error)) => {
                    in_a_row = 0;
                    timeouts += u32::from(*error.kind() == ErrorKind::Timeout);
                }
                Err(error) => panic!("{error}"),
            }
            assert!(timeouts <= 8, "every other call is lost for good");
        }
    });
}

#[test]
fn a_request_that_never_arrives_is_unknown_too() {
    let server = RedisServer::start();
    let proxy = Proxy::to(&server);
    block_on(async {
        let store = store(&proxy.url());
        settle(&store).await;
        // Whatever is sent from now on vanishes; the connection is then found dead and opened anew.
        proxy.set(Fault::LosesRequests);
        assert_eq!(
            unknown(store.check(&hundred(), "key", 1).await),
            ErrorKind::Timeout
        );
        proxy.set(Fault::None);
        settle(&store).await;
        assert_eq!(counted(&server).await, 0);
    });
}
