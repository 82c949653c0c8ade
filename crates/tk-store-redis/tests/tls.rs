//! A server that is spoken to by TLS. The tests need `openssl`, and a `redis-server` built with TLS, as Debian's is.

#![expect(clippy::unwrap_used, reason = "a test ends where something is missing")]

use std::{env, process::Command, time::Duration};

use tk_core::{Error, FixedWindow, Store};
use tk_store_redis::{Applied, ErrorKind, RedisStore};
use tk_testkit::{
    conformance::block_on,
    servers::{Certificates, RedisServer, free_port},
};

/// Long enough that nothing replenishes while a test runs.
const LONG: Duration = Duration::from_secs(1 << 24);

/// Tells the process that trusts the authority where the server is.
const URL: &str = "TK_TLS_URL";

fn five() -> FixedWindow {
    FixedWindow::new(5, LONG).unwrap()
}

fn store(url: &str) -> RedisStore<FixedWindow> {
    let builder = RedisStore::builder("test").url(url);
    builder.deadline(Duration::from_secs(5)).build().unwrap()
}

/// A server, the URL of its side that speaks TLS, and its certificates. It speaks without TLS too.
fn start() -> (RedisServer, String, Certificates) {
    let mut server = RedisServer::at(free_port(), &[]);
    let certificates = Certificates::make_in(server.directory());
    let port = free_port();
    server.add_settings(&certificates.settings(port));
    server.run();
    (server, format!("rediss://localhost:{port}"), certificates)
}

/// The authority is named to a process by a variable of its environment, as an operator would.
#[test]
fn a_limit_is_kept_over_tls() {
    let (server, url, certificates) = start();
    let output = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "a_process_that_trusts_the_authority",
            "--nocapture",
        ])
        .env("SSL_CERT_FILE", certificates.authority())
        .env(URL, url)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    block_on(async {
        let plain = store(&server.url());
        assert!(plain.check(&five(), "key", 1).await.unwrap().is_denied());
    });
}

/// Does nothing unless it is started by the test above.
#[test]
fn a_process_that_trusts_the_authority() {
    let Ok(url) = env::var(URL) else { return };
    block_on(async {
        let store = store(&url);
        for remaining in (0..5).rev() {
            let decision = store.check(&five(), "key", 1).await.unwrap();
            assert_eq!((decision.allowed, decision.remaining), (true, remaining));
        }
        assert!(store.check(&five(), "key", 1).await.unwrap().is_denied());
    });
}

#[test]
fn a_server_whose_authority_is_not_trusted_is_not_spoken_to() {
    let (server, url, _certificates) = start();
    block_on(async {
        let builder = RedisStore::builder("test").url(url);
        let store = builder.deadline(Duration::from_secs(1)).build().unwrap();
        let Err(Error::Store(error)) = store.check(&five(), "key", 1).await else {
            panic!("anybody could have answered that");
        };
        let ErrorKind::Unreachable(why) = error.kind() else {
            panic!("{error}");
        };
        // Each library has its own words.
        assert!(why.to_lowercase().contains("certificate"), "{why}");
        assert_eq!(error.applied(), Applied::No);
        assert!(server.keys().is_empty());
    });
}
