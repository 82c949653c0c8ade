//! What a URL says of a server.
//!
//! fred takes any scheme for that of a lone server without TLS, `rediss` too where it was built without: a password would go out in plain
//! text. It leaves out what it does not know. Here both are errors.

use fred::types::config::Config;

use crate::BuildError;

const KINDS: &str = "it begins with none of `redis://`, `rediss://`, `valkey://`, `valkeys://`, perhaps with `-cluster`, `-sentinel` or `+unix` before \
                     the colon";

/// The server that a URL names.
pub(crate) fn config(url: &str) -> Result<Config, BuildError> {
    let refused = |why: &str| Err(BuildError::Url(why.into()));
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    let scheme = scheme.to_ascii_lowercase();
    let at = scheme.find(['-', '+']).unwrap_or(scheme.len());
    let (family, kind) = scheme.split_at(at);
    let is_secret = match family {
        "redis" | "valkey" => false,
        "rediss" | "valkeys" => true,
        _ => return refused(KINDS),
    };
    if !matches!(kind, "" | "-cluster" | "-sentinel" | "+unix") {
        return refused(KINDS);
    }
    if is_secret && kind == "+unix" {
        return refused("there is no TLS on a Unix socket");
    }
    if is_secret && !cfg!(any(feature = "tls-rustls", feature = "tls-native")) {
        return refused("TLS takes the feature `tls-rustls` or `tls-native` of tk-store-redis");
    }
    if rest.contains('#') {
        return refused("a `#` in it must be written `%23`");
    }
    let path = rest.split('?').next().unwrap_or_default();
    let database = path
        .split_once('/')
        .map_or("", |(_host, database)| database);
    if kind == "-cluster" && !matches!(database, "" | "0") {
        return refused("a cluster has no other database than 0");
    }
    Config::from_url(url).map_err(|error| BuildError::Url(error.to_string().into()))
}

#[cfg(test)]
mod tests {
    use fred::types::config::ServerConfig;

    use super::*;

    const HAS_TLS: bool = cfg!(any(feature = "tls-rustls", feature = "tls-native"));

    #[test]
    fn urls_of_all_kinds_name_their_servers() {
        for url in [
            "redis://host",
            "redis://user:p%23ss@host:7000/3",
            "valkey://host",
            "REDIS://[::1]:7000",
        ] {
            let config = config(url).unwrap();
            assert!(
                matches!(config.server, ServerConfig::Centralized { .. }),
                "{url}"
            );
        }
        let user = config("redis://user:p%23ss@host:7000/3").unwrap();
        assert_eq!(user.password.as_deref(), Some("p#ss"));
        assert_eq!(user.database, Some(3));
        for url in [
            "redis-cluster://host:7000?node=other:7001",
            "valkey-cluster://host/0",
        ] {
            assert!(config(url).unwrap().server.is_clustered(), "{url}");
        }
        let sentinel = config("redis-sentinel://host:7000?sentinelServiceName=name").unwrap();
        assert!(sentinel.server.is_sentinel());
    }

    /// To go on without TLS would send a password in plain text.
    #[test]
    fn a_url_of_tls_is_refused_by_name_where_there_is_none() {
        for url in [
            "rediss://:secret@host",
            "valkeys://host",
            "rediss-cluster://host",
            "RedisS://host",
        ] {
            let answer = config(url);
            assert_eq!(answer.is_ok(), HAS_TLS, "{url}");
            if let Err(error) = answer {
                assert!(error.to_string().contains("tls-rustls"), "{url}: {error}");
            }
        }
    }

    #[test]
    fn a_url_that_says_something_else_is_refused_and_tells_no_password() {
        let long = format!("redis://:secret@{}", "x".repeat(1 << 20));
        for url in [
            "",
            "host:6379",
            "http://:secret@host",
            "rediscluster://:secret@host",
            "redis-clutser://:secret@host",
            "redis-://:secret@host",
            "rediss+unix:///socket",
            "redis://",
            "redis://:secret@",
            "redis://:secret@:7000",
            "redis://:secret@host:70000",
            "redis://:secret@host/three",
            "redis://:secret@host/256",
            "redis://:secret@host/-1",
            "redis://:secret@host/1/2",
            "redis://:secret@ho st",
            "redis://:secret@ho\0st",
            "redis://user:12#secret@host",
            "redis-cluster://:secret@host/1",
            "redis-sentinel://:secret@host",
            &long,
        ] {
            match config(url) {
                Ok(_) => assert!(url.len() > 1 << 20, "{url} was taken"),
                Err(error) => {
                    let text = error.to_string();
                    assert!(
                        text.contains("`url`") && !text.contains("secret"),
                        "{url}: {text}"
                    );
                }
            }
        }
    }
}
