//! A store that several processes share, with a reply that can be held up and a link that can be cut.

#![allow(dead_code, reason = "each test file uses a part")]

use std::{
    future::Future,
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
};

use tk_core::{
    Clock, Decision, Error, FixedWindow, FixedWindowState, Grant, Key, ManualClock, Store,
    Strategy, Tag,
};
use tokio::sync::Semaphore;

/// One fixed window, whatever the key.
pub(crate) struct L2 {
    pub(crate) clock: ManualClock,
    pub(crate) state: Mutex<FixedWindowState>,
    pub(crate) leases: AtomicU64,
    pub(crate) leased: AtomicU64,
    pub(crate) down: AtomicBool,
    /// The next lease panics when it would be answered.
    pub(crate) panics: AtomicBool,
    /// Replies that may be delivered.
    pub(crate) replies: Semaphore,
}

#[derive(Clone)]
pub(crate) struct SharedL2(pub(crate) Arc<L2>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Down;

impl std::fmt::Display for Down {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("down")
    }
}

impl std::error::Error for Down {}

impl SharedL2 {
    pub(crate) fn new(clock: ManualClock) -> Self {
        Self(Arc::new(L2 {
            clock,
            state: Mutex::default(),
            leases: AtomicU64::new(0),
            leased: AtomicU64::new(0),
            down: AtomicBool::new(false),
            panics: AtomicBool::new(false),
            replies: Semaphore::new(Semaphore::MAX_PERMITS),
        }))
    }

    fn with<R>(&self, step: impl FnOnce(&mut FixedWindowState) -> R) -> R {
        step(&mut self.0.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Store for SharedL2 {
    type Strategy = FixedWindow;
    type Error = Down;

    async fn check<K: Key + ?Sized>(
        &self,
        _: &FixedWindow,
        _: &K,
        _: u64,
    ) -> Result<Decision, Error<Down>> {
        Err(Error::Store(Down))
    }

    async fn peek<K: Key + ?Sized>(&self, _: &FixedWindow, _: &K) -> Result<Decision, Error<Down>> {
        Err(Error::Store(Down))
    }

    async fn lease<K: Key + ?Sized>(
        &self,
        strategy: &FixedWindow,
        _: &K,
        want: u64,
        at_least: u64,
    ) -> Result<Grant, Error<Down>> {
        self.0.leases.fetch_add(1, Ordering::Relaxed);
        if self.0.down.load(Ordering::Relaxed) {
            return Err(Error::Store(Down));
        }
        let now = self.0.clock.now();
        let grant = self.with(|state| Grant::charge(strategy, state, now, want, at_least, 1));
        if let Ok(grant) = &grant {
            self.0.leased.fetch_add(grant.amount, Ordering::Relaxed);
        }
        if let Ok(permit) = self.0.replies.acquire().await {
            permit.forget();
        }
        assert!(
            !self.0.panics.swap(false, Ordering::Relaxed),
            "the store panics, as it was told to"
        );
        grant
    }

    async fn give_back<K: Key + ?Sized>(
        &self,
        strategy: &FixedWindow,
        _: &K,
        tag: Tag,
        amount: u64,
    ) -> Result<u64, Error<Down>> {
        let now = self.0.clock.now();
        Ok(self.with(|state| strategy.give_back(state, now, tag.mark(), amount)))
    }

    async fn reset<K: Key + ?Sized>(&self, _: &FixedWindow, _: &K) -> Result<(), Error<Down>> {
        self.with(|state| *state = FixedWindowState::default());
        Ok(())
    }

    async fn check_many<K: Key>(
        &self,
        _: &FixedWindow,
        calls: &[(K, u64)],
    ) -> Vec<Result<Decision, Error<Down>>> {
        calls.iter().map(|_| Err(Error::Store(Down))).collect()
    }
}

/// The output of a future that is ready, or nothing.
pub(crate) fn poll_once<F: Future>(future: std::pin::Pin<&mut F>) -> Option<F::Output> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// The output of a future that must be ready.
pub(crate) fn now<F: Future>(future: F) -> F::Output {
    poll_once(pin!(future)).expect("the future is ready")
}

/// A small source of chances.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}
