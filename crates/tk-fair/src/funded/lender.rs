//! Who lends, what is asked and what is granted.

use std::{future::Future, sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, Shared};

use crate::FairError;

/// What is asked of a lender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    pub(crate) want: u64,
    pub(crate) weight: u64,
    pub(crate) settled: u64,
}

/// What a lender grants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Funding<T> {
    pub(crate) amount: u64,
    pub(crate) spare: u64,
    pub(crate) span: Duration,
    pub(crate) retry_after: Duration,
    /// Which of the lender's windows it is from.
    pub(crate) window: u128,
    pub(crate) tag: T,
    /// The most that `tag` can hand back.
    pub(crate) returnable: u64,
}

/// Where units come from.
pub(crate) trait Lender: Send + Sync + 'static {
    type Tag: Copy + Send + Sync + 'static;
    type Error: Send + Sync + 'static;
    /// It says how much more is to be had, so that reservations need not be drawn to be shared out.
    const SHOWS_SPARE: bool;

    fn lend(&self, need: Need) -> impl Future<Output = Lent<Self>> + Send;

    fn take_back(
        &self,
        tag: Self::Tag,
        amount: u64,
    ) -> impl Future<Output = Result<u64, Self::Error>> + Send;
}

pub(super) type Lent<L> = Result<Funding<<L as Lender>::Tag>, <L as Lender>::Error>;

/// When the request was sent, and what was lent.
pub(super) type Sent<L> = (u64, Funding<<L as Lender>::Tag>);

/// A reply. Errors are shared by all who waited.
pub(super) struct Reply<L: Lender> {
    pub(super) number: u64,
    pub(super) want: u64,
    pub(super) lent: Result<Sent<L>, FairError<Arc<L::Error>>>,
}

impl<L: Lender> Clone for Reply<L> {
    fn clone(&self) -> Self {
        Self {
            lent: self.lent.clone(),
            ..*self
        }
    }
}

pub(super) type InFlight<L> = Shared<BoxFuture<'static, Reply<L>>>;
