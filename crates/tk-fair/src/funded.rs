//! An escrow whose budget is lent to it, bit by bit: what leases from a store and draws from a pool have in common.
//!
//! # What is lent ends with its window
//!
//! A grant comes with the time until its window ends, on the lender's clock. That time is counted here on the monotonic clock from the
//! instant the request was *sent*, less a thousandth and a microsecond for drift and less what the clock may
//! [lag](Clock::lag), so that no unit is spent after its
//! window, however the walls differ and however slow the reply was. A grant that is over when it arrives is dropped. Every unit spent here
//! was deducted there in the same window, so all processes together never exceed the limit.
//!
//! # One request at a time, and none is lost
//!
//! There is one request to the lender in flight. Whoever needs more waits for it, and whoever sees the reply first applies it under
//! the lock. The request is a shared future that is kept here: dropping a waiting check neither cancels it nor strands the
//! others, and if all are dropped, the next check or hand-back finds it where they left it. It is not dropped with the last of them: what it
//! has drawn by then would be lost, and clients that give up early could so drain a budget of which nobody gets anything. Nor can
//! it go on by itself, since there is no runtime here to run it on.
//!
//! A request that panics would panic again whenever somebody looks at it, so what it ends with is an error, to all who
//! waited for it; the panic hook has told of it by then. The next check sends another one.

mod lender;
mod state;

pub(crate) use lender::{Funding, Lender, Need};

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::FutureExt;
use tk_core::{Clock, ConfigError, Decision, Key, Range, Timestamp};

use crate::{
    FairError, Stats, TenantId, TenantStats, Weigh,
    builder::Settings,
    decision::{Clocking, decision, free},
    identity::{Identity, admissible},
    shares::Ask,
};
use lender::{InFlight, Reply};
use state::State;

/// Rounds that one check may take. Each is a round trip, its own or one that it waited for.
const ROUNDS: u32 = 32;

/// Grants that may arrive too late in one check.
const LATE: u32 = 3;

/// The longest time for which "there is no more" is believed, in microseconds: somebody may hand back.
const BELIEVED: u64 = 1_000_000;

/// The escrow over a lender.
pub(crate) struct Funded<L: Lender, W, C> {
    pub(crate) settings: Settings,
    quantum: u64,
    weight_of: W,
    clock: Arc<C>,
    pub(crate) lender: Arc<L>,
    identity: Identity,
    state: Mutex<State<L>>,
}

/// What a check does next.
enum Next<L: Lender> {
    Answer(Decision),
    /// The answer depends on it.
    Wait(InFlight<L>),
    /// The lender must hear from here; if it does not, the check goes on.
    Beat(InFlight<L>),
}

impl<L: Lender, W, C: Clock + 'static> Funded<L, W, C> {
    /// # Errors
    ///
    /// If the clock's lag has no bound.
    pub(crate) fn new(
        settings: Settings,
        quantum: u64,
        weight_of: W,
        clock: C,
        lender: L,
    ) -> Result<Self, ConfigError> {
        let state = State::new(
            settings.shares(),
            settings.limit(),
            Range::lag(clock.lag())?,
        );
        // A clock's first reading may take long, and is not left to a request.
        let _ = clock.monotonic();
        Ok(Self {
            settings,
            quantum,
            weight_of,
            clock: Arc::new(clock),
            lender: Arc::new(lender),
            identity: Identity::random(),
            state: Mutex::new(state),
        })
    }

    pub(crate) async fn check<T>(
        &self,
        tenant: &T,
        cost: u64,
    ) -> Result<Decision, FairError<Arc<L::Error>>>
    where
        T: Key + ?Sized,
        W: Weigh<T>,
    {
        let weight = admissible(tenant, cost, self.settings.limit(), &self.weight_of)?;
        let id = self.identity.of(tenant);
        let (mut rounds, mut late) = (0, 0);
        loop {
            let may_wait = rounds < ROUNDS && late < LATE;
            let (waiting, needed) = match self.step(id, weight, cost, may_wait) {
                Next::Answer(decision) => return Ok(decision),
                Next::Wait(waiting) => (waiting, true),
                Next::Beat(waiting) => (waiting, false),
            };
            let reply = waiting.await;
            late += u32::from(self.settle(&reply));
            match reply.lent {
                Err(error) if needed => return Err(error),
                _ => rounds += 1,
            }
        }
    }

    /// Decides, or says what to wait for.
    fn step(&self, id: TenantId, weight: u32, cost: u64, may_wait: bool) -> Next<L> {
        // The wall first, so that a pause between the two makes what is told on it early, and not late.
        let (wall, now) = (self.clock.now(), self.now());
        let mut state = self.lock();
        let window_end = state.roll(now, self.settings.window());
        let clocking = Clocking {
            now,
            window_end,
            limit: self.settings.limit(),
        };
        let on_the_wall = |told: Decision| Decision {
            reset_at: wall + told.reset_at.since(Timestamp::from_micros(now)),
            ..told
        };
        if cost == 0 {
            let used = state.shares.tenant(id.0).used;
            return Next::Answer(on_the_wall(free(&state.shares, weight, used, clocking)));
        }
        if may_wait && now >= state.beat_at {
            let waiting = state.in_flight.clone();
            return Next::Beat(waiting.unwrap_or_else(|| self.request(&mut state, 0, now)));
        }
        let (verdict, used) = state.shares.ask(&Ask {
            tenant: id.0,
            weight,
            cost,
            now,
        });
        if let Some(want) = state
            .wants::<L>(verdict, self.quantum, now)
            .filter(|_| may_wait)
        {
            let waiting = state.in_flight.clone();
            return Next::Wait(waiting.unwrap_or_else(|| self.request(&mut state, want, now)));
        }
        let told = decision(&state.shares, weight, used, verdict, clocking);
        let change = Duration::from_micros(state.change_at.saturating_sub(now).max(1));
        let retry_after = told.retry_after.min(change);
        Next::Answer(on_the_wall(Decision {
            retry_after,
            ..told
        }))
    }

    /// Sends a request, when somebody first waits for it.
    fn request(&self, state: &mut State<L>, want: u64, now: u64) -> InFlight<L> {
        state.requests += 1;
        let number = state.requests;
        let weight = state.shares.active_weight(now);
        state.told = weight;
        let need = Need {
            want,
            weight,
            settled: state.shares.settled(),
        };
        let (lender, clock) = (Arc::clone(&self.lender), Arc::clone(&self.clock));
        let request = async move {
            let sent = clock.monotonic().as_micros();
            let lent = lender.lend(need).await;
            lent.map(|funding| (sent, funding))
                .map_err(|error| FairError::Store(Arc::new(error)))
        };
        // What panics is dropped, so nobody sees it half done.
        let request = AssertUnwindSafe(request).catch_unwind();
        let request = request.map(move |answer| Reply {
            number,
            want,
            lent: answer.unwrap_or(Err(FairError::Lost)),
        });
        let request = request.boxed().shared();
        state.in_flight = Some(request.clone());
        request
    }

    /// Applies a reply, unless somebody has; whether its grant came too late.
    fn settle(&self, reply: &Reply<L>) -> bool {
        let now = self.now();
        let mut state = self.lock();
        if state.in_flight.is_none() || state.requests != reply.number {
            return false;
        }
        state.in_flight = None;
        state.roll(now, self.settings.window());
        let patience = (self.settings.idle_after() / 2).max(1);
        if L::SHOWS_SPARE {
            state.beat_at = now.saturating_add(patience);
        }
        match &reply.lent {
            Ok(lent) => !state.apply(reply.want, lent, patience.min(BELIEVED), now),
            Err(_) => false,
        }
    }

    /// Hands back what is not spent, if nobody is active; how much was taken. What is on its way is waited for, since nobody else may.
    pub(crate) async fn give_back(&self) -> Result<u64, FairError<Arc<L::Error>>> {
        let waiting = self.lock().in_flight.clone();
        if let Some(waiting) = waiting {
            // If it failed, there is less to hand back.
            self.settle(&waiting.await);
        }
        let now = self.now();
        let back = {
            let mut state = self.lock();
            state.roll(now, self.settings.window());
            if state.shares.active_weight(now) > 0 || state.in_flight.is_some() {
                None
            } else {
                let tag = state.tag.take();
                tag.map(|(tag, most)| (tag, state.shares.part_with(most)))
            }
        };
        match back {
            Some((tag, amount)) if amount > 0 => {
                let taken = self.lender.take_back(tag, amount).await;
                taken.map_err(|error| FairError::Store(Arc::new(error)))
            }
            _ => Ok(0),
        }
    }

    pub(crate) fn reset<T: Key + ?Sized>(&self, tenant: &T) {
        let id = self.identity.of(tenant);
        self.lock().shares.leave(id.0);
    }

    pub(crate) fn stats(&self) -> Stats {
        let (wall, now) = (self.clock.now(), self.now());
        let mut state = self.lock();
        let end = state.roll(now, self.settings.window());
        let window = wall + Duration::from_micros(end.saturating_sub(now));
        let start = window - Duration::from_micros(self.settings.window());
        Stats::of(&state.shares, start, self.settings.limit())
    }

    pub(crate) fn stats_of<T: Key + ?Sized>(&self, tenant: &T) -> TenantStats {
        let now = self.now();
        let mut state = self.lock();
        state.roll(now, self.settings.window());
        TenantStats::of(&state.shares, self.identity.of(tenant))
    }

    pub(crate) fn id_of<T: Key + ?Sized>(&self, tenant: &T) -> TenantId {
        self.identity.of(tenant)
    }

    fn now(&self) -> u64 {
        self.clock.monotonic().as_micros()
    }

    fn lock(&self) -> MutexGuard<'_, State<L>> {
        // Nothing panics while the lock is held; if something did, no unit would be spent twice.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
