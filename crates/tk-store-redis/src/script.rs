//! The scripts: the files of `script/`, put together from common parts.

use std::sync::LazyLock;

use fred::{bytes_utils::Str, types::Value};

use crate::operation::Operation;

/// A text and its name on the server.
#[derive(Debug)]
pub(crate) struct Text {
    text: &'static str,
    hash: LazyLock<Str>,
}

impl Text {
    /// The command that runs it, and how that names it: by the SHA-1 of the text, or by the text itself.
    pub(crate) fn named(&self, with_text: bool) -> (&'static str, Value) {
        if with_text {
            ("EVAL", Value::from_static_str(self.text))
        } else {
            // A copy shares the text.
            ("EVALSHA", Value::String(self.hash.clone()))
        }
    }
}

/// A script for one key, and the same for many.
#[derive(Debug)]
pub(crate) struct Script {
    alone: Text,
    together: Option<Text>,
}

impl Script {
    pub(crate) const fn alone(&self) -> &Text {
        &self.alone
    }

    pub(crate) const fn together(&'static self) -> Option<&'static Text> {
        self.together.as_ref()
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

/// The text made of these files, in their order.
macro_rules! text {
    ($($file:literal)*) => {{
        const TEXT: &str = concat!($(include_str!(concat!("script/", $file, ".lua"))),*);
        Text {
            text: TEXT,
            hash: LazyLock::new(|| fred::util::sha1_hash(TEXT).into()),
        }
    }};
}

/// A script made of these files.
macro_rules! script {
    ($($file:literal)*) => {
        Script {
            alone: text!("shared/alone" $($file)*),
            together: Some(text!("shared/together_begin" $($file)* "shared/together_end")),
        }
    };
}

/// A script made of these files that is called for one key at a time: where its work outweighs the command's, others had better not wait for
/// it.
macro_rules! lone_script {
    ($($file:literal)*) => {
        Script {
            alone: text!("shared/alone" $($file)*),
            together: None,
        }
    };
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
    check: lone_script!("shared/time" "shared/functions" "shared/write" "shared/expiry" "shared/muldiv" "shared/limit" "sliding_window/state" "sliding_window/charge" "sliding_window/check"),
    peek: lone_script!("shared/time" "shared/functions" "sliding_window/peek"),
    lease: lone_script!("shared/time" "shared/functions" "shared/write" "shared/expiry" "shared/muldiv" "shared/limit" "sliding_window/state" "sliding_window/charge" "sliding_window/lease"),
    give_back: lone_script!("shared/time" "shared/functions" "shared/write" "shared/expiry" "shared/muldiv" "sliding_window/state" "sliding_window/give_back"),
};

pub(crate) static LOG: Scripts = Scripts {
    check: lone_script!("shared/time" "shared/functions" "shared/write" "shared/expiry" "shared/limit" "log/state" "log/charge" "log/check"),
    peek: lone_script!("shared/time" "shared/functions" "shared/limit" "log/state" "log/peek"),
    lease: lone_script!("shared/time" "shared/functions" "shared/write" "shared/expiry" "shared/limit" "log/state" "log/charge" "log/lease"),
    give_back: lone_script!("shared/time" "shared/functions" "shared/write" "shared/expiry" "shared/limit" "log/state" "log/give_back"),
};

/// A budget that regions draw from.
#[cfg(feature = "fair")]
pub(crate) static POOL_DRAW: Script = lone_script!("shared/time" "shared/functions" "shared/write" "shared/expiry" "pool/state" "pool/muldiv" "pool/rule" "pool/draw");

#[cfg(feature = "fair")]
pub(crate) static POOL_GIVE_BACK: Script = lone_script!("shared/time" "shared/functions" "shared/write" "shared/expiry" "pool/state" "pool/give_back");
