//! The future of a check.

use std::{
    future::Future,
    mem,
    pin::Pin,
    task::{Context, Poll},
};

use tk_core::{Clock, Decision, Key, Store};

use super::{Answer, Local, Observer, TwoTier, local::Missed};

/// Decides from what is at hand when it is first polled, or asks the shared store.
///
/// Written out, and not an `async fn`, for the sake of hits: this is inlined where it is awaited, so that a hit's decision
/// stays in registers, and it is a few words long, since the question is boxed. A store's own futures take kilobytes.
pub(super) struct Check<'t, 'k, K: ?Sized, L2: Store, C: Clock + 'static, O: Observer, A, F: Future>
{
    pub(super) tier: &'t TwoTier<L2, C, O>,
    pub(super) key: &'k K,
    pub(super) cost: u64,
    /// Asks the shared store.
    pub(super) ask: A,
    pub(super) progress: Progress<F>,
}

pub(super) enum Progress<F: Future> {
    Begins,
    Asks(Pin<Box<F>>),
    Answered(F::Output),
    Done,
}

/// Nothing in it is pinned but what is boxed.
impl<K, L2, C, O, A, F> Unpin for Check<'_, '_, K, L2, C, O, A, F>
where
    K: ?Sized,
    L2: Store,
    C: Clock,
    O: Observer,
    F: Future,
{
}

impl<K, L2, C, O, A, F> Future for Check<'_, '_, K, L2, C, O, A, F>
where
    K: Key + ?Sized,
    L2: Store,
    C: Clock,
    O: Observer,
    A: Fn() -> F,
    F: Future<Output = Answer<Decision, L2>>,
{
    type Output = Answer<Decision, L2>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let tier = self.tier;
        if let Progress::Begins = self.progress {
            // Before anything is charged, so that one whose observer panicked does not charge again.
            self.progress = Progress::Done;
            match tier.hit(self.key, self.cost) {
                Ok(Ok(decision)) => return Poll::Ready(Ok(decision)),
                Ok(Err(missed)) => self.progress = self.miss(missed),
                Err(error) => self.progress = Progress::Answered(Err(error)),
            }
        }
        self.go_on(context);
        match mem::replace(&mut self.progress, Progress::Done) {
            Progress::Answered(answer) => Poll::Ready(answer),
            asks => {
                self.progress = asks;
                Poll::Pending
            }
        }
    }
}

impl<K, L2, C, O, A, F> Check<'_, '_, K, L2, C, O, A, F>
where
    K: ?Sized,
    L2: Store,
    C: Clock,
    O: Observer,
    A: Fn() -> F,
    F: Future<Output = Answer<Decision, L2>>,
{
    #[cold]
    fn miss(&self, missed: Missed<'_, L2>) -> Progress<F> {
        match self.tier.inner.look(missed, self.cost) {
            Local::Decided(decision) => Progress::Answered(Ok(decision)),
            Local::NeedsL2 => Progress::Asks(Box::pin((self.ask)())),
        }
    }

    /// Leaves an answer in `progress`: to return it would make a hit's decision go through memory too.
    #[cold]
    fn go_on(&mut self, context: &mut Context<'_>) {
        match &mut self.progress {
            Progress::Asks(asking) => {
                if let Poll::Ready(answer) = asking.as_mut().poll(context) {
                    self.progress = Progress::Answered(answer);
                }
            }
            // As an `async fn` does: to charge once more would be worse.
            Progress::Done => panic!("a check was polled after it was ready"),
            Progress::Begins | Progress::Answered(_) => {}
        }
    }
}
