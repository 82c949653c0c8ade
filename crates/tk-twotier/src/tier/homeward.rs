//! Credits on their way home.

use std::{
    collections::VecDeque,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use tk_core::{Clock, OwnedKey, Store};
use tokio::runtime::Handle;

use super::{Observer, entry::GivenUp, inner::Inner};
use crate::HandBack;

/// What keys have given up, and the shared store has yet to hear of. Each unit is sent once.
///
/// No key holds it any more. So whatever cuts the way short, a caller who goes away, a panic or the end of the runtime, what is left is stranded
/// when this is dropped, and no unit is lost from the count.
pub(super) struct Homeward<L2: Store, C: Clock + 'static, O: Observer> {
    inner: Arc<Inner<L2, C, O>>,
    backs: VecDeque<(Arc<OwnedKey>, HandBack)>,
    /// Units that the store will not take back.
    stranded: u64,
}

impl<L2: Store, C: Clock + 'static, O: Observer> Homeward<L2, C, O> {
    pub(super) fn new(
        inner: &Arc<Inner<L2, C, O>>,
        given_up: impl IntoIterator<Item = GivenUp>,
    ) -> Self {
        let mut homeward = Self {
            inner: inner.clone(),
            backs: VecDeque::new(),
            stranded: 0,
        };
        for GivenUp {
            key,
            backs,
            stranded,
        } in given_up
        {
            homeward.stranded += stranded;
            let backs = backs.into_iter().map(|back| (key.clone(), back));
            homeward.backs.extend(backs);
        }
        homeward
    }

    /// Sends all of it, and returns how many units the shared store took.
    pub(super) async fn send(mut self) -> u64 {
        self.strand();
        let mut taken = 0;
        while let Some((key, back)) = self.backs.front() {
            let HandBack { tag, amount } = *back;
            let inner = &*self.inner;
            // Rule 5: a hand-back whose answer is lost is not sent again. Its units are lost until the window ends.
            let strategy = inner.strategy();
            let keyed = inner.keyed(&**key);
            let answer = inner.l2.give_back(&strategy, &keyed, tag, amount).await;
            let applied = inner.called(answer).ok();
            let took = applied.unwrap_or(0).min(amount);
            inner.counters.handed_back.add(amount);
            inner.counters.taken_back.add(took);
            taken += took;
            self.backs.pop_front();
            self.stranded += amount - took;
            self.inner.observer.handed_back(amount, applied);
            self.strand();
        }
        taken
    }

    /// Counts what the store will not take back.
    fn strand(&mut self) {
        self.inner.strand(mem::take(&mut self.stranded));
    }
}

impl<L2: Store, C: Clock + 'static, O: Observer> Drop for Homeward<L2, C, O> {
    fn drop(&mut self) {
        let left: u64 = self.backs.iter().map(|(_, back)| back.amount).sum();
        self.stranded += left;
        // An observer that panics while a panic is under way would end the process.
        let _ = catch_unwind(AssertUnwindSafe(|| self.strand()));
    }
}

impl<L2: Store, C: Clock + 'static, O: Observer> Inner<L2, C, O> {
    /// Sends hand-backs on a task of their own. Without a runtime the units are lost until their window ends.
    pub(super) fn hand_back_later(this: &Arc<Self>, given_up: Vec<GivenUp>) {
        if given_up.is_empty() {
            return;
        }
        let mut homeward = Homeward::new(this, given_up);
        homeward.strand();
        if let Ok(runtime) = Handle::try_current()
            && !homeward.backs.is_empty()
        {
            this.tasks.spawn(&runtime, async move {
                homeward.send().await;
            });
        }
    }

    pub(super) fn strand(&self, units: u64) {
        if units > 0 {
            self.counters.stranded.add(units);
            self.observer.stranded(units);
        }
    }
}
