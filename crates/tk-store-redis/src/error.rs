//! Why there is no answer, and whether the call may have been applied all the same.

use std::fmt;

use tk_core::Error;

/// Why the store could not answer.
///
/// A caller has two questions: [may it have been applied](StoreError::applied), and [may the same call succeed
/// soon](StoreError::is_transient). A call that may have been applied is never sent again by the store nor by the client
/// library beneath; a caller that repeats it may charge twice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}; the call {}", self.applied())]
pub struct StoreError {
    kind: ErrorKind,
}

/// Whether a call without an answer may have been applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is no third possibility")]
pub enum Applied {
    /// It was not: nothing was charged.
    No,
    /// Nobody can tell: it was sent, and no answer came.
    Unknown,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no connection; nothing was sent.
    #[error("no connection to the server: {0}")]
    Unreachable(Box<str>),
    /// After several failures in a row the store asks the server once per probe interval; nothing was sent.
    #[error("the server did not answer lately and is not asked before the next probe")]
    BreakerOpen,
    /// More calls are in flight than allowed; nothing was sent.
    #[error("more calls are in flight than the store's limit of {0}")]
    TooManyInFlight(usize),
    /// A batch has more calls than may ever be in flight; nothing was sent.
    #[error("a batch of {calls} calls is above the store's limit of {max} in flight")]
    BatchTooLarge {
        /// The calls that were to be made at once.
        calls: usize,
        /// How many may be in flight.
        max: usize,
    },
    /// All connections of a pool, or the key itself, were in use by other calls until the deadline; nothing was sent.
    #[error("other calls kept this one waiting until the deadline")]
    Busy,
    /// The answer to a question that comes before all writing did not come; nothing was applied.
    #[error("the state could not be read: {0}")]
    Unread(Box<str>),
    /// Others changed the state during all attempts of a transaction; nothing was applied.
    #[error("others changed the state during each of {0} attempts")]
    Contended(u32),
    /// What lies under the key is no state of this kind, or a state of a strategy of one's own cannot be written; nothing was applied.
    #[error("the stored state is of no use: {0}")]
    BadState(&'static str),
    /// No answer came within the deadline.
    #[error("no answer within the deadline")]
    Timeout,
    /// The connection was lost while the call was in flight.
    #[error("the connection was lost during the call: {0}")]
    Lost(Box<str>),
    /// The cluster moved the key to another node, twice; nothing was applied.
    #[error("the cluster is moving the key to another node")]
    Moving,
    /// The server is a replica, also after the topology was refreshed; nothing was applied.
    #[error("the server is a replica and takes no writes")]
    ReadOnly,
    /// The server does not let scripts read its clock; nothing was applied.
    #[error(
        "the server does not let scripts call TIME ({0}); allow it, or build the store with `.clock(..)` to decide by \
         the callers' clocks"
    )]
    TimeRefused(Box<str>),
    /// The server answered with an error.
    #[error("the server answered: {0}")]
    Refused(Box<str>),
    /// The server's answer makes no sense, or contradicts the rule; it is not believed.
    #[error("the server's answer is malformed: {0}")]
    Malformed(&'static str),
}

/// Why something that lies under a key is of no use.
pub(crate) const UNREADABLE: &str = "it cannot be read as a state of this kind";

/// Errors that the server gives before a script has written anything.
const BEFORE_WRITES: [&str; 16] = [
    "ASK",
    "BUSY",
    "CROSSSLOT",
    "EXECABORT",
    "LOADING",
    "MASTERDOWN",
    "MISCONF",
    "MOVED",
    "NOAUTH",
    "NOPERM",
    "NOREPLICAS",
    "NOSCRIPT",
    "OOM",
    "TRYAGAIN",
    "WRONGPASS",
    "WRONGTYPE",
];

/// Errors that go away by themselves.
const PASSING: [&str; 9] = [
    "BUSY",
    "CLUSTERDOWN",
    "LOADING",
    "MASTERDOWN",
    "MISCONF",
    "NOREPLICAS",
    "OOM",
    "TRYAGAIN",
    "UNBLOCKED",
];

impl StoreError {
    pub(crate) const fn new(kind: ErrorKind) -> Self {
        Self { kind }
    }

    /// What went wrong.
    #[must_use]
    pub const fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Whether the call may have been applied.
    #[must_use]
    pub fn applied(&self) -> Applied {
        match &self.kind {
            ErrorKind::Timeout | ErrorKind::Lost(_) | ErrorKind::Malformed(_) => Applied::Unknown,
            ErrorKind::Refused(message) if !starts_with_any(message, &BEFORE_WRITES) => {
                Applied::Unknown
            }
            _ => Applied::No,
        }
    }

    /// Whether the same call may succeed soon.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match &self.kind {
            ErrorKind::Refused(message) => starts_with_any(message, &PASSING),
            ErrorKind::BatchTooLarge { .. }
            | ErrorKind::TimeRefused(_)
            | ErrorKind::Malformed(_)
            | ErrorKind::BadState(_) => false,
            _ => true,
        }
    }

    /// Whether the user may not call the command, or not with these keys.
    pub(crate) fn is_forbidden(&self) -> bool {
        matches!(&self.kind, ErrorKind::Refused(message) if starts_with_any(message, &["NOPERM"]))
    }

    /// Whether the server itself seems to be gone, which is what a breaker counts.
    pub(crate) const fn is_outage(&self) -> bool {
        matches!(
            self.kind,
            ErrorKind::Unreachable(_)
                | ErrorKind::Unread(_)
                | ErrorKind::Timeout
                | ErrorKind::Lost(_)
        )
    }
}

impl From<ErrorKind> for StoreError {
    fn from(kind: ErrorKind) -> Self {
        Self::new(kind)
    }
}

impl From<StoreError> for Error<StoreError> {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

fn starts_with_any(message: &str, codes: &[&str]) -> bool {
    let code = message.split_whitespace().next().unwrap_or_default();
    codes.contains(&code)
}

impl fmt::Display for Applied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::No => "was not applied",
            Self::Unknown => "may have been applied",
        })
    }
}
