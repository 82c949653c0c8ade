//! What an error of fred says about the call.

use fred::error::{Error, ErrorKind as Kind};

use crate::error::{ErrorKind, UNREADABLE};

/// What the scripts answer if they may not read the server's clock.
const TIME_REFUSED: &str = "TKTIME ";

/// What the scripts answer if something else lies under a key.
const NO_STATE: &str = "TKSTATE";

/// What the scripts answer if a command was refused after others of the same script had written.
const PARTLY: &str = "TKPARTLY ";

/// How Redis 7.0 begins to say that a user may not call a command of a script. Others say it with a code.
const FORBIDDEN: &str = "ERR The user executing the script can't run";

/// Errors of fred for commands that it did not write.
const NOT_WRITTEN: [&str; 4] = [
    "Client is not initialized.",
    "Connection closed unexpectedly.",
    "Failed to route command.",
    "Failed to send command to router.",
];

/// Whatever is not known to leave the server untouched counts as lost.
pub(crate) fn classify(error: &Error) -> ErrorKind {
    let text = error.details();
    if *error.kind() == Kind::Timeout {
        return ErrorKind::Timeout;
    }
    let text = unwrapped(text);
    if let Some(code) = code(text) {
        return answered(code, text);
    }
    match error.kind() {
        // With no redirections allowed: the key is elsewhere.
        Kind::Routing => ErrorKind::Moving,
        Kind::Cluster | Kind::Backpressure => ErrorKind::Unreachable(text.into()),
        _ if NOT_WRITTEN.contains(&text) => ErrorKind::Unreachable(text.into()),
        _ => ErrorKind::Lost(text.into()),
    }
}

/// What an error says that a script caught and passed on.
pub(super) fn refused(text: &str) -> ErrorKind {
    let text = unwrapped(text);
    answered(code(text).unwrap_or_default(), text)
}

/// An error that the server has sent.
fn answered(code: &str, text: &str) -> ErrorKind {
    if let Some(reason) = text.strip_prefix(TIME_REFUSED) {
        return ErrorKind::TimeRefused(reason.into());
    }
    if let Some((_, reason)) = text.split_once(PARTLY) {
        return ErrorKind::Refused(format!("in the middle of a script: {reason}").into());
    }
    if text.starts_with(FORBIDDEN) {
        return ErrorKind::Refused(text.replacen("ERR", "NOPERM", 1).into());
    }
    // A script that finds it out in a function raises it as an error, and servers put something in front of it.
    if text.contains(NO_STATE) {
        return ErrorKind::BadState(UNREADABLE);
    }
    if text.contains("READONLY") {
        return ErrorKind::ReadOnly;
    }
    match code {
        "MOVED" | "ASK" => ErrorKind::Moving,
        // fred closes the connection and gives this error to all calls that were in flight on it.
        "CLUSTERDOWN" => ErrorKind::Lost(text.into()),
        _ => ErrorKind::Refused(text.into()),
    }
}

/// The error of a command within a script. Servers before Redis 7 wrap it in one of the script, with the line once or twice in front of it;
/// a script that catches it finds it with the line.
fn unwrapped(text: &str) -> &str {
    if text.contains(PARTLY) {
        return text;
    }
    let wraps = ["ERR Error running script", "@user_script"];
    let inner = if wraps.iter().any(|wrap| text.starts_with(wrap)) {
        text.rsplit_once("@user_script:")
    } else {
        None
    };
    let inner = inner.map(|(_, rest)| {
        rest.trim_start_matches(|c: char| c.is_ascii_digit() || " :-".contains(c))
    });
    inner.filter(|inner| code(inner).is_some()).unwrap_or(text)
}

/// The code with which errors of the server begin: a word of capitals.
fn code(text: &str) -> Option<&str> {
    let word = text.split_whitespace().next()?;
    let capitals = word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    capitals.then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Applied, StoreError};

    fn applied(kind: Kind, text: &'static str) -> Applied {
        StoreError::new(classify(&Error::new(kind, text))).applied()
    }

    #[test]
    fn only_what_left_the_server_untouched_is_not_applied() {
        use Applied::{No, Unknown};
        let cases = [
            (
                Kind::Unknown,
                "READONLY You can't write against a read only replica.",
                No,
            ),
            (
                Kind::Unknown,
                "ERR Error running script: -READONLY You can't write",
                No,
            ),
            (
                Kind::Unknown,
                "OOM command not allowed when used memory > 'maxmemory'.",
                No,
            ),
            (
                Kind::Unknown,
                "ERR Error running script (call to f_1): @user_script:62: @user_script: 62: -OOM command not allowed",
                No,
            ),
            (
                Kind::Unknown,
                "ERR Error running script (call to f_1): @user_script:62: WRONGTYPE Operation against",
                No,
            ),
            (
                Kind::Unknown,
                "ERR Error running script (call to f_1): @user_script:62: @user_script: 62: odd",
                Unknown,
            ),
            (Kind::Unknown, "Failed to route command.", No),
            (Kind::Canceled, "Connection closed unexpectedly.", No),
            (Kind::Routing, "Too many redirections.", No),
            (Kind::Cluster, "Missing server for hash slot 7", No),
            (Kind::Cluster, "CLUSTERDOWN The cluster is down", Unknown),
            (Kind::Unknown, "ERR user_script:12: something odd", Unknown),
            (Kind::Unknown, "Too many failed write attempts.", Unknown),
            (Kind::IO, "Connection closed.", Unknown),
            (Kind::Timeout, "Request timed out.", Unknown),
            (Kind::Canceled, "Canceled.", Unknown),
            (Kind::Protocol, "Invalid frame.", Unknown),
        ];
        for (kind, text, expected) in cases {
            assert_eq!(applied(kind, text), expected, "{text}");
        }
    }

    #[test]
    fn what_a_script_caught_is_told_as_if_it_had_not() {
        for (text, expected) in [
            ("WRONGTYPE Operation against a key", Applied::No),
            ("@user_script: 62: -OOM command not allowed", Applied::No),
            ("@user_script: 62: WRONGTYPE Operation against", Applied::No),
            (
                "user_script:12: attempt to index a nil value",
                Applied::Unknown,
            ),
            ("", Applied::Unknown),
        ] {
            assert_eq!(StoreError::new(refused(text)).applied(), expected, "{text}");
        }
        assert_eq!(
            refused("TKTIME not allowed"),
            ErrorKind::TimeRefused("not allowed".into())
        );
    }

    #[test]
    fn a_command_that_is_forbidden_was_not_applied_unless_others_were_before_it() {
        for (text, expected) in [
            (
                "NOPERM this user has no permissions to run the 'evalsha' command",
                Applied::No,
            ),
            (
                "ERR The user executing the script can't run this command or subcommand script: 1f, on @user_script:1.",
                Applied::No,
            ),
            (
                "ERR TKPARTLY ERR The user executing the script can't run this command script: 1f, on @user_script:1.",
                Applied::Unknown,
            ),
            (
                "ERR Error running script (call to f_1): @user_script:9: TKPARTLY @user_script: 9: NOPERM The user",
                Applied::Unknown,
            ),
        ] {
            let error = StoreError::new(classify(&Error::new(Kind::Unknown, text)));
            assert_eq!(error.applied(), expected, "{text}");
            assert!(!error.is_transient(), "{text}");
        }
    }

    #[test]
    fn a_bad_state_that_a_function_raised_is_one() {
        for text in [
            "TKSTATE no state of this kind",
            "ERR TKSTATE no state of this kind script: 1f, on @user_script:40.",
            "ERR Error running script (call to f_1): @user_script:40: TKSTATE no state of this kind",
            "ERR Error running script (call to f_1): TKSTATE no state of this kind",
        ] {
            let kind = classify(&Error::new(Kind::Unknown, text));
            assert_eq!(kind, ErrorKind::BadState(UNREADABLE), "{text}");
        }
    }

    #[test]
    fn read_only_is_found_anywhere_in_the_message() {
        let wrapped = Error::new(
            Kind::Unknown,
            "ERR Error running script (call to f_1): @user_script: 23: -READONLY You can't",
        );
        assert_eq!(classify(&wrapped), ErrorKind::ReadOnly);
    }

    #[test]
    fn a_refused_clock_names_the_option() {
        let error = Error::new(Kind::Unknown, "TKTIME ERR ACL failure in script");
        let text = StoreError::new(classify(&error)).to_string();
        assert!(text.contains(".clock(..)"), "{text}");
    }
}
