//! The scripts: the files of `script/`, put together from common parts.

use std::sync::LazyLock;

use fred::{bytes_utils::Str, types::Value};

use crate::operation::Operation;

/// A script and its name on the server.
#[derive(Debug)]
pub(crate) struct Script {
    text: &'static str,
    hash: LazyLock<Str>,
}

impl Script {
    pub(crate) const fn text(&self) -> &'static str {
        self.text
    }

    /// The SHA-1 of the text, by which EVALSHA calls it.
    pub(crate) fn hash(&self) -> Value {
        // A copy shares the text.
        Value::String(self.hash.clone())
    }
}

/// The scripts of a strategy.
#[derive(Debug)]
pub struct Scripts {
    check: Script,
    peek: Script,
    lease: Script,
    give_back: Script,
}

impl Scripts {
    pub(crate) const fn of(&self, operation: Operation) -> &Script {
        match operation {
            Operation::Check { .. } => &self.check,
            Operation::Peek { .. } => &self.peek,
            Operation::Lease { .. } => &self.lease,
            Operation::GiveBack { .. } => &self.give_back,
        }
    }
}

/// A script made of these files, in their order.
macro_rules! script {
    ($($file:literal)*) => {{
        const TEXT: &str = concat!($(include_str!(concat!("script/", $file, ".lua"))),*);
        Script {
            text: TEXT,
            hash: LazyLock::new(|| fred::util::sha1_hash(TEXT).into()),
        }
    }};
}

/// GCRA and token bucket.
pub(crate) static TAT: Scripts = Scripts {
    check: script!("shared/time" "tat/state" "tat/debt" "shared/muldiv" "tat/convert" "tat/check" "tat/charge" "shared/keep"),
    peek: script!("shared/time" "shared/peek_string"),
    lease: script!("shared/time" "tat/state" "tat/debt" "shared/muldiv" "tat/convert" "shared/muldiv" "tat/lease" "tat/charge" "shared/keep"),
    give_back: script!("shared/time" "tat/state" "tat/give_back" "shared/keep"),
};

pub(crate) static FIXED_WINDOW: Scripts = Scripts {
    check: script!("shared/time" "shared/limit" "fixed_window/state" "fixed_window/check" "fixed_window/charge" "shared/keep"),
    peek: script!("shared/time" "shared/peek_string"),
    lease: script!("shared/time" "shared/limit" "fixed_window/state" "fixed_window/lease" "fixed_window/charge" "shared/keep"),
    give_back: script!("shared/time" "fixed_window/state" "fixed_window/give_back" "shared/keep"),
};

pub(crate) static SLIDING_WINDOW: Scripts = Scripts {
    check: script!("shared/time" "shared/functions" "shared/expiry" "shared/muldiv" "shared/limit" "sliding_window/state" "sliding_window/charge" "sliding_window/check"),
    peek: script!("shared/time" "shared/functions" "sliding_window/peek"),
    lease: script!("shared/time" "shared/functions" "shared/expiry" "shared/muldiv" "shared/limit" "sliding_window/state" "sliding_window/charge" "sliding_window/lease"),
    give_back: script!("shared/time" "shared/functions" "shared/expiry" "shared/muldiv" "sliding_window/state" "sliding_window/give_back"),
};

pub(crate) static LOG: Scripts = Scripts {
    check: script!("shared/time" "shared/functions" "shared/expiry" "shared/limit" "log/state" "log/charge" "log/check"),
    peek: script!("shared/time" "shared/functions" "shared/limit" "log/state" "log/peek"),
    lease: script!("shared/time" "shared/functions" "shared/expiry" "shared/limit" "log/state" "log/charge" "log/lease"),
    give_back: script!("shared/time" "shared/functions" "shared/expiry" "shared/limit" "log/state" "log/give_back"),
};

/// A budget that regions draw from.
#[cfg(feature = "fair")]
pub(crate) static POOL_DRAW: Script = script!("shared/time" "shared/functions" "shared/expiry" "pool/state" "pool/muldiv" "pool/rule" "pool/draw");

#[cfg(feature = "fair")]
pub(crate) static POOL_GIVE_BACK: Script =
    script!("shared/time" "shared/functions" "shared/expiry" "pool/state" "pool/give_back");
