//! The store: a strategy's script per call.

use std::{fmt, marker::PhantomData, sync::Arc};

use fred::{bytes::Bytes, types::Value};
use tk_core::{
    Clock, ConfigError, Decision, Error, Grant, Key, Range, Store, Strategy, Tag, Timestamp,
};

use crate::{
    Builder, StoreError,
    error::{ErrorKind, UNREADABLE},
    incarnation::Incarnations,
    key::Space,
    link::{Call, Link},
    operation::{Arguments, Operation},
    reply::{Reply, malformed},
    scripted::Scripted,
};

/// Milliseconds that a key outlives its state when callers' clocks decide: the server expires keys by its own.
pub(crate) const SLACK: u64 = 60_000;

/// States in Redis, Valkey, or a cluster of them, shared by all who use the same server, prefix and policy.
///
/// Each call is one script in one round trip, decided by the server's clock. Calls that are made while others are in flight [go
/// together](Builder::max_batch). Cloning is cheap, and clones share the connection and its bounds.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use tk_core::{FixedWindow, Store};
/// use tk_store_redis::{Applied, RedisStore};
///
/// let store = RedisStore::builder("logins").url("redis://127.0.0.1").build()?;
/// let strategy = FixedWindow::per_minute(5)?;
/// match store.check(&strategy, "alice", 1).await {
///     Ok(decision) => println!("allowed: {}", decision.allowed),
///     Err(tk_core::Error::Store(error)) if error.applied() == Applied::No => println!("surely not charged: {error}"),
///     Err(error) => println!("perhaps charged: {error}"),
/// }
/// # Ok(())
/// # }
/// ```
pub struct RedisStore<S> {
    link: Arc<Link>,
    space: Space,
    prefix: Arc<str>,
    clock: Option<Arc<dyn Clock>>,
    incarnations: Arc<Incarnations>,
    strategy: PhantomData<fn() -> S>,
}

impl<S: Scripted> RedisStore<S> {
    /// Sets up a store for the limits of a policy.
    ///
    /// The policy's name is part of all keys, and so is the kind of strategy. Two limiters count together if and only if both are the
    /// same, and the prefix too.
    pub fn builder(policy: &str) -> Builder<S> {
        Builder::new(policy)
    }

    pub(crate) fn new(
        link: Arc<Link>,
        space: Space,
        prefix: String,
        clock: Option<Arc<dyn Clock>>,
    ) -> Self {
        Self {
            link,
            space,
            prefix: prefix.into(),
            clock,
            incarnations: Arc::new(Incarnations::new()),
            strategy: PhantomData,
        }
    }

    /// A store for another policy, perhaps of another strategy, over the same connections and with the same bounds and clock.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Name`] if `policy` is empty, longer than 128 bytes, or holds a control character.
    pub fn with_policy<T: Scripted>(&self, policy: &str) -> Result<RedisStore<T>, ConfigError> {
        let policy = Range::name("policy", policy)?;
        Ok(RedisStore {
            link: self.link.clone(),
            space: Space::new(&self.prefix, policy, T::NAME),
            prefix: self.prefix.clone(),
            clock: self.clock.clone(),
            incarnations: self.incarnations.clone(),
            strategy: PhantomData,
        })
    }

    /// What another kind of store over the same connections needs: the link, the prefix and the clock.
    #[cfg(feature = "fair")]
    pub(crate) fn parts(&self) -> (Arc<Link>, &str, Option<Arc<dyn Clock>>) {
        (self.link.clone(), &self.prefix, self.clock.clone())
    }

    fn key<K: Key + ?Sized>(&self, key: &K) -> Result<Bytes, Error<StoreError>> {
        if key.is_empty() {
            return Err(Error::EmptyKey);
        }
        Ok(self.space.key(key).into())
    }

    /// The call of a script; `None` if it need not be called, since it would take nothing back.
    fn prepare(
        &self,
        strategy: &S,
        key: Bytes,
        operation: Operation,
        now: Option<Timestamp>,
        incarnation: u64,
    ) -> Option<Call> {
        let slack = if now.is_some() { SLACK } else { 0 };
        let mut arguments = Arguments::new(now, slack, incarnation);
        strategy.arguments(operation, &mut arguments)?;
        Some(Call::Script {
            script: S::scripts().of(operation),
            key,
            arguments,
        })
    }

    /// The caller's clock, if that is to decide.
    fn now(&self) -> Option<Timestamp> {
        self.clock.as_ref().map(|clock| clock.now())
    }

    fn prepare_check<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
        cost: u64,
        now: Option<Timestamp>,
    ) -> Result<Call, Error<StoreError>> {
        let key = self.key(key)?;
        strategy.fits(cost)?;
        let made_now = self.incarnations.draw();
        let call = self.prepare(strategy, key, Operation::check(cost), now, made_now);
        Ok(call.ok_or_else(uncalled)?)
    }

    /// Lets the rule of the core decide on the state that the script found, and compares what both charged.
    fn decision(
        strategy: &S,
        cost: u64,
        answer: Result<Value, StoreError>,
    ) -> Result<Decision, StoreError> {
        let reply = Reply::parse(answer?)?;
        let (rule, mut state) = state(strategy, Operation::check(cost), &reply)?;
        let decision = rule.decide(&mut state, reply.now, cost);
        let charged = if decision.allowed { cost } else { 0 };
        if reply.units != charged {
            return Err(malformed("it contradicts the rule"));
        }
        Ok(decision)
    }
}

/// Only hand-backs may go without a call.
const fn uncalled() -> StoreError {
    malformed("there is no call to answer")
}

/// The rule that decides on the answers of scripts, and the state in one.
///
/// A script that writes has looked at the state before. One that does not leaves it to whoever reads the answer.
fn state<S: Scripted>(
    strategy: &S,
    operation: Operation,
    reply: &Reply,
) -> Result<(S::Rule, <S::Rule as Strategy>::State), StoreError> {
    let unread = || match operation.writes() {
        true => malformed("the state is no state"),
        false => ErrorKind::BadState(UNREADABLE).into(),
    };
    let state = S::read(reply.state()).ok_or_else(unread)?;
    Ok((strategy.rule(), state))
}

impl<S: Scripted> Store for RedisStore<S> {
    type Strategy = S;
    type Error = StoreError;

    async fn check<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
        cost: u64,
    ) -> Result<Decision, Error<StoreError>> {
        let call = self.prepare_check(strategy, key, cost, self.now())?;
        Ok(Self::decision(strategy, cost, self.link.call(call).await)?)
    }

    async fn peek<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
    ) -> Result<Decision, Error<StoreError>> {
        let key = self.key(key)?;
        let operation = Operation::Peek { cost: 1 };
        let call = self.prepare(strategy, key, operation, self.now(), 0);
        let reply = Reply::parse(self.link.call(call.ok_or_else(uncalled)?).await?)?;
        let (rule, state) = state(strategy, operation, &reply)?;
        Ok(rule.peek(&state, reply.now))
    }

    async fn lease<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
        want: u64,
        at_least: u64,
    ) -> Result<Grant, Error<StoreError>> {
        let key = self.key(key)?;
        strategy.fits(at_least)?;
        let operation = Operation::lease(strategy, want, at_least);
        let made_now = self.incarnations.draw();
        let call = self.prepare(strategy, key, operation, self.now(), made_now);
        let reply = Reply::parse(self.link.call(call.ok_or_else(uncalled)?).await?)?;
        let (rule, mut state) = state(strategy, operation, &reply)?;
        let incarnation = if reply.incarnation == 0 {
            made_now
        } else {
            reply.incarnation
        };
        let grant = Grant::charge(&rule, &mut state, reply.now, want, at_least, incarnation)?;
        if grant.amount != reply.units {
            return Err(malformed("it contradicts the rule").into());
        }
        Ok(grant)
    }

    async fn give_back<K: Key + ?Sized>(
        &self,
        strategy: &S,
        key: &K,
        tag: Tag,
        amount: u64,
    ) -> Result<u64, Error<StoreError>> {
        let key = self.key(key)?;
        let amount = amount.min(tag.amount());
        let operation = Operation::GiveBack {
            mark: tag.mark(),
            amount,
        };
        if amount == 0 {
            return Ok(0);
        }
        let Some(call) = self.prepare(strategy, key, operation, self.now(), tag.incarnation())
        else {
            return Ok(0);
        };
        let reply = Reply::parse(self.link.call(call).await?)?;
        if reply.units > amount {
            return Err(malformed("it took back more than was handed back").into());
        }
        Ok(reply.units)
    }

    async fn reset<K: Key + ?Sized>(
        &self,
        _strategy: &S,
        key: &K,
    ) -> Result<(), Error<StoreError>> {
        let key = self.key(key)?;
        self.link.call(Call::Forget { key }).await?;
        Ok(())
    }

    /// Checks in one round trip, or one to each node of a cluster, and in their order.
    ///
    /// As many as [`Builder::max_batch`] go as one command, and are decided at one instant. In a cluster, and where windows slide, each is
    /// decided by itself.
    ///
    /// Their order is kept but where a batch takes several commands and some of those must be sent again, which certainly were not
    /// applied: a script becomes known to the server in between, or it refuses a command for the sake of its keys. That is so if one of them is forbidden
    /// to the user, and once if they lie in different slots of a cluster that the client does not know as one. What is sent again comes
    /// behind the rest.
    async fn check_many<K: Key>(
        &self,
        strategy: &S,
        calls: &[(K, u64)],
    ) -> Vec<Result<Decision, Error<StoreError>>> {
        let mut answers = Vec::with_capacity(calls.len());
        let (mut sent, mut places) = (Vec::new(), Vec::new());
        let now = self.now();
        for (place, (key, cost)) in calls.iter().enumerate() {
            match self.prepare_check(strategy, key, *cost, now) {
                Ok(call) => {
                    sent.push(call);
                    places.push(place);
                    // Replaced below.
                    answers.push(Err(Error::EmptyKey));
                }
                Err(refusal) => answers.push(Err(refusal)),
            }
        }
        let replies = self.link.call_all(&sent).await;
        for (place, reply) in places.into_iter().zip(replies) {
            answers[place] = Self::decision(strategy, calls[place].1, reply).map_err(Error::Store);
        }
        answers
    }
}

impl<S> Clone for RedisStore<S> {
    fn clone(&self) -> Self {
        Self {
            link: self.link.clone(),
            space: self.space.clone(),
            prefix: self.prefix.clone(),
            clock: self.clock.clone(),
            incarnations: self.incarnations.clone(),
            strategy: PhantomData,
        }
    }
}

impl<S> fmt::Debug for RedisStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The link is left out: fred's clients know passwords.
        f.debug_struct("RedisStore")
            .field("space", &self.space)
            .finish_non_exhaustive()
    }
}
