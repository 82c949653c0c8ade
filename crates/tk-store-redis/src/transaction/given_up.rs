//! Calls that their callers give up before the deadline: `link/given_up.rs` says what is learnt from them, and how.

use std::sync::Arc;

use super::core::Core;

/// A call whose caller waits for its answer. If this is dropped before that has come, the caller has given up.
pub(super) struct Awaited<'a> {
    core: &'a Arc<Core>,
    key: &'a [u8],
    is_over: bool,
}

impl<'a> Awaited<'a> {
    pub(super) const fn new(core: &'a Arc<Core>, key: &'a [u8]) -> Self {
        Self {
            core,
            key,
            is_over: false,
        }
    }

    /// It has ended, and the breaker knows how.
    pub(super) fn ended(mut self) {
        self.is_over = true;
    }
}

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        // Somebody else's question tells as much.
        let Ok(turn) = self.core.question.clone().try_lock_owned() else {
            return;
        };
        let (core, key) = (self.core.clone(), self.key.to_vec());
        self.core.runtime.spawn(async move {
            let _turn = turn;
            core.ask_for_a_sign_of_life(&key).await;
        });
    }
}
