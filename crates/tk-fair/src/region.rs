//! Where regions draw from.

use std::{
    fmt::Debug,
    future::{Future, ready},
    sync::{Mutex, PoisonError},
};

use tk_core::{Clock, ConfigError, Range, SystemClock};

use crate::{Draw, PoolFull, PoolRule, PoolState, PoolTag, RegionGrant};

/// The name of a region: 1 to 128 bytes without control characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegionName(Box<str>);

impl RegionName {
    /// Checks a name.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Name`] if it is empty, longer than 128 bytes, or holds a control character.
    pub fn new(name: &str) -> Result<Self, ConfigError> {
        Ok(Self(Range::name("region", name)?.into()))
    }

    /// The name.
    #[must_use]
    pub const fn as_str(&self) -> &str {
        &self.0
    }
}

/// A budget that regions draw from, by the rule of [`PoolRule`].
///
/// Whoever implements it for a store keeps one [`PoolState`] there and applies that rule in one atomic step, by the store's own clock,
/// grant for grant as [`RegionFairPool`] does.
pub trait RegionPool: Send + Sync + 'static {
    /// Why it could not answer.
    type Error: Debug + Send + Sync + 'static;

    /// The settings that all regions share.
    fn rule(&self) -> &PoolRule;

    /// [`PoolRule::draw`]. If the answer is lost, so are the units granted, until the window ends.
    fn draw(
        &self,
        region: &RegionName,
        draw: Draw,
    ) -> impl Future<Output = Result<RegionGrant, Self::Error>> + Send;

    /// [`PoolRule::give_back`]. Send it at most once for each tag.
    fn give_back(
        &self,
        region: &RegionName,
        tag: PoolTag,
        amount: u64,
    ) -> impl Future<Output = Result<u64, Self::Error>> + Send;
}

/// A pool within one process: for tests, and for "regions" that are parts of one program.
///
/// ```
/// use std::time::Duration;
/// use tk_fair::{Draw, PoolRule, RegionFairPool, RegionName, RegionPool};
///
/// # async fn demo() -> Result<(), Box<dyn std::error::Error>> {
/// let rule = PoolRule::new(100_000, Duration::from_secs(60), Duration::from_secs(6))?;
/// let pool = RegionFairPool::new(rule);
/// let grant = pool.draw(&RegionName::new("us-east")?, Draw { weight: 7, settled: 0, want: 500 }).await?;
/// assert_eq!(grant.amount, 500);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct RegionFairPool<C = SystemClock> {
    rule: PoolRule,
    clock: C,
    state: Mutex<PoolState>,
}

impl RegionFairPool {
    /// A pool whose windows begin by the system's clock.
    #[must_use]
    pub const fn new(rule: PoolRule) -> Self {
        Self::with_clock(rule, SystemClock)
    }
}

impl<C> RegionFairPool<C> {
    /// A pool whose windows begin by `clock`.
    pub const fn with_clock(rule: PoolRule, clock: C) -> Self {
        Self {
            rule,
            clock,
            state: Mutex::new(PoolState::new()),
        }
    }

    /// A copy of the state, as of the last call.
    #[must_use]
    pub fn state(&self) -> PoolState {
        self.with(|state| state.clone())
    }

    fn with<R>(&self, step: impl FnOnce(&mut PoolState) -> R) -> R {
        // Nothing panics while the lock is held; if something did, the state would still be within the limit.
        step(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<C: Clock + 'static> RegionPool for RegionFairPool<C> {
    type Error = PoolFull;

    fn rule(&self) -> &PoolRule {
        &self.rule
    }

    fn draw(
        &self,
        region: &RegionName,
        draw: Draw,
    ) -> impl Future<Output = Result<RegionGrant, PoolFull>> + Send {
        let now = self.clock.now().as_micros();
        ready(self.with(|state| self.rule.draw(state, region.as_str(), draw, now)))
    }

    fn give_back(
        &self,
        region: &RegionName,
        tag: PoolTag,
        amount: u64,
    ) -> impl Future<Output = Result<u64, PoolFull>> + Send {
        let now = self.clock.now().as_micros();
        ready(Ok(self.with(|state| {
            let region = region.as_str();
            self.rule.give_back(state, region, tag, amount, now)
        })))
    }
}

/// Splits the weight of a tenant that lives in several regions, in proportion to its demand in each.
///
/// The parts are whole numbers and add up to `weight`; the largest remainders get the odd units, the first
/// region among equals. Without any demand the split is even. A region with demand gets at least 1 if there is enough for
/// all of them, since a part of 0 would admit nothing there.
///
/// ```
/// assert_eq!(tk_fair::split_weight(10, &[90, 10, 0]), [9, 1, 0]);
/// assert_eq!(tk_fair::split_weight(10, &[1_000, 1, 0]), [9, 1, 0]);
/// assert_eq!(tk_fair::split_weight(7, &[0, 0]), [4, 3]);
/// ```
#[must_use]
pub fn split_weight(weight: u64, demands: &[u64]) -> Vec<u64> {
    let total: u128 = demands.iter().map(|demand| u128::from(*demand)).sum();
    let even = u128::from(total == 0);
    let total = if total == 0 {
        demands.len() as u128
    } else {
        total
    };
    let shares: Vec<u128> = demands
        .iter()
        .map(|demand| u128::from(*demand) + even)
        .collect();
    let busy = shares.iter().filter(|share| **share > 0).count() as u64;
    // One for each region with demand, if there is enough, and the rest in proportion.
    let least = u64::from(weight >= busy);
    let scaled = |share: u128| share * u128::from(weight);
    let floor = |share: u128| (scaled(share) / total) as u64;
    let mut parts: Vec<u64> = (shares.iter())
        .map(|share| floor(*share).max(if *share > 0 { least } else { 0 }))
        .collect();
    settle(
        &mut parts,
        &shares,
        weight,
        |share| scaled(share) % total,
        least,
    );
    parts
}

/// Hands out what is missing to the largest remainders, or takes what is too much from the largest parts.
fn settle(
    parts: &mut [u64],
    shares: &[u128],
    weight: u64,
    remainder: impl Fn(u128) -> u128,
    least: u64,
) {
    let mut order: Vec<usize> = (0..parts.len()).filter(|i| shares[*i] > 0).collect();
    order.sort_by_key(|i| std::cmp::Reverse(remainder(shares[*i])));
    for &i in order.iter().cycle() {
        let given: u64 = parts.iter().sum();
        if given == weight {
            break;
        } else if given < weight {
            parts[i] += 1;
        } else if let Some(largest) = parts.iter_mut().max().filter(|part| **part > least) {
            *largest -= 1;
        } else {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quickcheck::quickcheck;

    quickcheck! {
        fn parts_add_up_and_nobody_with_demand_is_left_out(weight: u16, demands: Vec<u32>) -> bool {
            let demands: Vec<u64> = demands.into_iter().map(u64::from).collect();
            let weight = u64::from(weight);
            let parts = split_weight(weight, &demands);
            let busy = demands.iter().filter(|demand| **demand > 0).count() as u64;
            let fed = demands.iter().zip(&parts).all(|(demand, part)| *demand == 0 || *part > 0);
            demands.is_empty()
                || (parts.iter().sum::<u64>() == weight && (weight < busy || busy == 0 || fed))
        }
    }

    #[test]
    fn a_region_needs_a_name() {
        assert!(RegionName::new("us-east").is_ok());
        for bad in ["", "a\nb", &"x".repeat(129)] {
            assert!(matches!(
                RegionName::new(bad),
                Err(ConfigError::Name {
                    field: "region",
                    ..
                })
            ));
        }
    }
}
