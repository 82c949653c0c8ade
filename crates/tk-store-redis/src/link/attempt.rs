//! Which calls are sent again, and when: only those that certainly were not applied.

use std::mem;

use crate::error::{ErrorKind, StoreError};

/// What has been tried for a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    /// The script's text goes along, for a server that does not know it by name.
    pub(super) with_text: bool,
    apart: bool,
    moved: bool,
    refreshed: bool,
}

/// What to do before a call is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    SendAgain,
    /// In a command of its own, and so from now on.
    SendAlone,
    Refresh,
}

impl Attempt {
    pub(super) const fn new(with_text: bool) -> Self {
        Self {
            with_text,
            apart: false,
            moved: false,
            refreshed: false,
        }
    }

    /// How a call that failed like this may succeed; each way is tried once. All these errors say that nothing was applied.
    pub(super) fn remedy(&mut self, error: &StoreError) -> Option<Remedy> {
        let (tried, remedy) = match error.kind() {
            ErrorKind::Refused(message) if message.starts_with("NOSCRIPT") => {
                (&mut self.with_text, Remedy::SendAgain)
            }
            ErrorKind::Refused(message) if message.starts_with("CROSSSLOT") => {
                (&mut self.apart, Remedy::SendAlone)
            }
            // fred has refreshed its map of the cluster.
            ErrorKind::Moving => (&mut self.moved, Remedy::SendAgain),
            ErrorKind::ReadOnly => (&mut self.refreshed, Remedy::Refresh),
            _ => return None,
        };
        (!mem::replace(tried, true)).then_some(remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Applied;

    #[test]
    fn nothing_that_may_have_been_applied_is_sent_again() {
        let kinds = [
            ErrorKind::Unreachable("".into()),
            ErrorKind::BreakerOpen,
            ErrorKind::Timeout,
            ErrorKind::Lost("".into()),
            ErrorKind::Moving,
            ErrorKind::ReadOnly,
            ErrorKind::Refused("NOSCRIPT No matching script.".into()),
            ErrorKind::Refused("CROSSSLOT Keys in request don't hash to the same slot".into()),
            ErrorKind::Refused("ERR something odd".into()),
            ErrorKind::Malformed(""),
        ];
        for kind in kinds {
            let error = StoreError::new(kind);
            let mut attempt = Attempt::new(false);
            if attempt.remedy(&error).is_some() {
                assert_eq!(error.applied(), Applied::No, "{error}");
                assert_eq!(attempt.remedy(&error), None, "{error}: a second time");
            }
        }
    }
}
