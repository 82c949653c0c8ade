//! Calls, and the commands that carry them: one call each, or many calls of one script.
//!
//! A command costs the server's parser, its dispatcher and its interpreter, and a write on each side of the connection, as much as the
//! script itself. So calls of one script that are made at the same time go as one command, whose script is called for one key after the
//! other; `script/shared/together_begin.lua` says how.

use std::ptr;

use fred::{bytes::Bytes, types::Value};

use super::classify::refused;
use crate::{
    error::StoreError,
    operation::Arguments,
    reply::malformed,
    script::{Script, Text},
};

/// A call to the server.
#[derive(Debug)]
pub(crate) enum Call {
    /// A script on one key.
    Script {
        script: &'static Script,
        key: Bytes,
        arguments: Arguments,
    },
    /// Forget a key.
    Forget { key: Bytes },
}

impl Call {
    pub(super) const fn key(&self) -> &Bytes {
        match self {
            Self::Script { key, .. } | Self::Forget { key } => key,
        }
    }

    /// The text that runs its script for many keys, if there is one.
    pub(super) fn shared_text(&self) -> Option<&'static Text> {
        match self {
            Self::Script { script, .. } => script.together(),
            Self::Forget { .. } => None,
        }
    }

    /// Whether both run the same script.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Script { script, .. }, Self::Script { script: other, .. }) => {
                ptr::eq(*script, *other)
            }
            (Self::Forget { .. }, Self::Forget { .. }) => true,
            _ => false,
        }
    }

    /// Whether one command can carry both.
    pub(super) fn goes_with(&self, other: &Self) -> bool {
        self.shared_text().is_some() && self.is_like(other)
    }
}

/// What is sent.
pub(super) struct Command<'a> {
    pub(super) name: &'static str,
    pub(super) arguments: Vec<Value>,
    /// Of the first call: it tells the node of a cluster.
    pub(super) key: &'a [u8],
    /// How many calls it carries.
    pub(super) calls: u32,
}

/// The command that carries one call.
pub(super) fn alone(call: &Call, with_text: bool) -> Command<'_> {
    let key = call.key();
    let named = Value::Bytes(key.clone());
    let (name, arguments) = match call {
        Call::Forget { .. } => ("UNLINK", vec![named]),
        Call::Script {
            script, arguments, ..
        } => {
            let (name, script) = script.alone().named(with_text);
            let mut all = Vec::with_capacity(5);
            all.extend([script, Value::Integer(1), named]);
            arguments.append_to(&mut all);
            (name, all)
        }
    };
    Command {
        name,
        arguments,
        key,
        calls: 1,
    }
}

/// The command that runs `text` for calls that go together.
pub(super) fn together<'a>(text: &Text, calls: &[&'a Call], with_text: bool) -> Command<'a> {
    let (name, script) = text.named(with_text);
    let mut all = Vec::with_capacity(2 + 2 * calls.len());
    all.extend([script, Value::Integer(calls.len() as i64)]);
    all.extend(calls.iter().map(|call| Value::Bytes(call.key().clone())));
    for call in calls {
        if let Call::Script { arguments, .. } = call {
            arguments.append_to(&mut all);
        }
    }
    Command {
        name,
        arguments: all,
        key: calls.first().map_or(&[], |call| call.key()),
        calls: calls.len() as u32,
    }
}

/// The answers of `count` calls that went together.
pub(super) fn answers_of(
    answer: Result<Value, StoreError>,
    count: usize,
) -> Vec<Result<Value, StoreError>> {
    match answer {
        Ok(Value::Array(answers)) if answers.len() == count => {
            answers.into_iter().map(of_one).collect()
        }
        Ok(_) => vec![Err(malformed("not an answer for each key")); count],
        Err(error) => vec![Err(error); count],
    }
}

/// What is in a table of its own is an error: as one, it would hide the answers beside it.
fn of_one(answer: Value) -> Result<Value, StoreError> {
    let Value::Array(error) = answer else {
        return Ok(answer);
    };
    let text = match error.as_slice() {
        [text] => text.as_str(),
        _ => None,
    };
    Err(text.map_or_else(
        || malformed("an error without a text"),
        |text| StoreError::new(refused(&text)),
    ))
}
