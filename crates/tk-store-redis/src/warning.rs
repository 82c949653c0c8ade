//! Settings of the server under which limits do not hold as they should.

use std::{fmt, sync::Weak, time::Duration};

use fred::{
    clients::Client,
    interfaces::ClientLike,
    types::{ClusterHash, CustomCommand, Value, config::Options},
};

use crate::link::{Link, Supervisor};

/// A setting of the server under which limits do not hold as they should.
///
/// A store looks once, after it first connected. Where the server does not tell its settings, there is no warning.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// When its memory is full, the server may drop the states of limiters, which then start anew.
    Evicts {
        /// `maxmemory-policy`.
        policy: Box<str>,
    },
    /// The server frees expired keys while all calls wait, which takes long for large sliding window logs.
    BlockingExpiry,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evicts { policy } => write!(
                f,
                "the server's maxmemory-policy is {policy}: with its memory full it drops limits, which then start anew; \
                 use noeviction, or a server of their own for limits"
            ),
            Self::BlockingExpiry => f.write_str(
                "the server's lazyfree-lazy-expire is no: the expiry of a large sliding window log blocks it; set it to yes",
            ),
        }
    }
}

/// Takes a warning.
pub(crate) type Hook = Box<dyn Fn(&Warning) + Send + Sync>;

/// Looks at the server's settings once it is connected, and reports to `hook`.
pub(crate) fn inspect(link: Weak<Link>, client: Client, logs: bool, hook: Hook) -> Supervisor {
    Supervisor::spawn(async move {
        while !client.is_connected() {
            if link.strong_count() == 0 {
                return;
            }
            let _ = tokio::time::timeout(Duration::from_secs(1), client.wait_for_connect()).await;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        if let Some(policy) = eviction(&client).await {
            hook(&Warning::Evicts { policy });
        }
        if logs && setting(&client, "lazyfree-lazy-expire").await.as_deref() == Some("no") {
            hook(&Warning::BlockingExpiry);
        }
    })
}

/// The eviction policy, if there is a bound on memory and the policy may drop keys that expire, which all keys of limiters do.
async fn eviction(client: &Client) -> Option<Box<str>> {
    let info = ask(client, "INFO", vec!["memory"]).await?;
    let info = info.as_str()?;
    let field = |name: &str| {
        let line = info.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|value| value.strip_prefix(':'))
    };
    let bounded = field("maxmemory").is_some_and(|bytes| bytes != "0");
    let policy = field("maxmemory_policy")?;
    (bounded && policy != "noeviction").then(|| policy.into())
}

async fn setting(client: &Client, name: &'static str) -> Option<String> {
    let Value::Array(pair) = ask(client, "CONFIG", vec!["GET", name]).await? else {
        return None;
    };
    pair.get(1)?.as_string()
}

async fn ask(
    client: &Client,
    command: &'static str,
    arguments: Vec<&'static str>,
) -> Option<Value> {
    let options = Options {
        max_attempts: Some(1),
        timeout: Some(Duration::from_secs(1)),
        ..Options::default()
    };
    let command = CustomCommand::new_static(command, ClusterHash::Random, false);
    let client = client.with_options(&options);
    client.custom(command, arguments).await.ok()
}
