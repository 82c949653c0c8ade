//! Splits one budget by weight, so that nobody who asks is starved and nothing that somebody asks for is left unused.
//!
//! | | the budget is | |
//! |---|---|---|
//! | [`WeightedFairEscrow`] | this process's own | answers at once |
//! | [`LeasedEscrow`] | leased bit by bit from a counter that several processes share | waits for a store now and then |
//! | [`FederatedEscrow`] | drawn bit by bit from a pool that several regions share, each with its own tenants | waits for the pool now and then |
//!
//! [`ideal()`] computes the split that a planner would make who knows all demand beforehand, and [`traces`] are
//! days on which to measure how near one comes.
//!
//! # What fair means here
//!
//! Windows are aligned to the Unix epoch, and `L` units may be admitted in each. A tenant is **active** if it asked less than
//! `idle_after` ago. Activity outlives the window, use does not.
//!
//! 1. **Safety before fairness.** Admitted in a window are at most `L`, whatever is evicted, reset or reweighed, and however the clock steps.
//! 2. **Guarantee.** A tenant of weight `w` that is active at a window's first instant, and asks again before it would become idle, is
//!    admitted whenever what it has and asks for is at most `w * L / W`, `W` being the sum of the weights of all who
//!    were active in the window so far. So with requests of cost `c` it can have `floor(w * L / W) - (c - 1)`.
//! 3. **Nothing is left.** What others do not ask for goes to those who do, in proportion to weight. Whoever falls silent
//!    loses its claim after `idle_after`, so a unit is left only while an active tenant may still come for it, or if it is less than everybody's next cost.
//! 4. **Turns.** Units that are not promised go to the lowest level first, and among equals to whoever had such a unit longest ago, over windows.
//!    Whoever always asks and gets nothing for a whole window, since too little is there for all, is served out of half of the next budgets, in turn.
//!
//! # The rule
//!
//! The *level* of a request is what its tenant would have used for each unit of weight: `x = (u + c) / w`. Tenants stand in line by
//! the level of their last cost, then by turn. Let `lambda = L / W`. Tenants active since the window's first instant are *early*, others *late*.
//!
//! - An early tenant whose request has `x <= lambda` is admitted.
//! - Otherwise the request is admitted if, after it, everyone ahead in line could still rise to level `x`:
//!   `used + c + sum over those ahead of (w_j * x - u_j) <= L`. Only active tenants count whose next cost still fits.
//! - For a late tenant with `x <= lambda`, early tenants count as ahead as long as they have not reached `lambda`, and up to that level.
//! - Whoever is refused before it has had anything in a window goes into a queue, until it is served or idle. Those who were in it
//!   before the window began are *overdue*: what they asked for is kept out of the reach of the two rules above, up to half of `L`. The first of them
//!   is served out of that when it asks, if what early tenants need to reach `lambda` stays. Nothing is kept if what is left would not do for the first, and
//!   if it is not served for a whole window, it goes to the end.
//!
//! # Why it keeps its promises
//!
//! Let `P` be the early active tenants whose next cost keeps them within `lambda`. The invariant is
//!
//! ```text
//! I:   (sum over P of w_j * lambda) + (sum over all others of u_j)  <=  L
//! ```
//!
//! *It holds when a window begins*: nobody has used anything, and the weights of the early sum up to `W`.
//! *Promised requests keep it*: such a tenant stays in `P`, and its term stays, or it leaves `P` with `u_j <= w_j * lambda`.
//! *Other requests keep it*: everyone in `P` is reserved up to `lambda` at least in the sum that is compared with `L`: for a late tenant below `lambda` by the third
//! point, otherwise because `x > lambda` puts all of `P` ahead. For whoever is overdue the rule says so.
//! *Newcomers keep it*: `W` rises, `lambda` falls, and no term grows. `W` never falls within a window while somebody is active, so leaving does not
//! raise `lambda`; a tenant whose weight changes becomes late, and weighs in `W` what it weighed most. Nobody counts twice: whoever counts in `W` is not
//! forgotten before the window ends, and comes back to what it has used, also if its weight was 0 for a while. (One that was [reset](WeightedFairEscrow::reset)
//! has used nothing when it comes back; what it used before stays in the second sum.)
//! *So the guarantee holds*: `I` says that whatever a tenant in `P` may still take fits. And *safety* needs no invariant: every admission is checked
//! against `L` itself; what a forgotten tenant used stays in `used`.
//!
//! *Nothing is left*: suppose active tenants always ask and all are refused though their costs fit. The first in line has nobody ahead,
//! so its sum is `used + c <= L` and it is admitted, unless something is kept for the overdue; then the first of them is admitted, unless it would come out of
//! a promise; then whoever has that promise is admitted. A contradiction. Whoever is silent leaves the line after `idle_after`.
//! *Levels are even*: of two that always ask, one is admitted above the other only if that one may still rise as high without what is kept for the overdue,
//! who take one cost each. So they differ by one cost for each unit of weight at most.
//! *Nobody waits for ever*: the first of the overdue is served in a window that has enough for it beside its promises, and otherwise lets the others go ahead.
//!
//! Two limits of it are worth knowing. A tenant that is silent around a window's edge is a newcomer in the next window, and what newcomers use may come out
//! of the share of one tenant instead of everyone's: those who are early may take at once what nobody else has a claim to then, and what the first of
//! them has taken cannot be shared out again when somebody comes. And in a crowd of more than 512 that falls idle at once beside more than 512 who do not,
//! claims lapse 512 for each check.
//!
//! # What it costs
//!
//! Two B-trees hold everyone active in line, with sums of weights and use over each subtree: one by the level of a
//! first cost, which outlives windows, one of those served in this window, which is dropped with it. A check walks each of them a few times:
//! O(log n). Most refusals do without: what was refused once refuses everyone due later, as long as little has changed since. Marks that belong to a window carry its number and lapse by themselves, so nothing is swept when a window
//! ends; tables grow in small pieces.
//!
//! # Weights that change
//!
//! The weight function is asked on each check, from 0, which admits nothing and ends the tenant's claim until it asks with another weight, to [`MAX_WEIGHT`]. Another weight is in force at once. The promise made under the old one is void until the
//! next window, since raising it could break somebody else's.

#![forbid(unsafe_code)]

mod builder;
mod decision;
mod error;
mod escrow;
mod federated;
mod funded;
mod ideal;
mod identity;
mod leased;
mod pool;
mod prefetch;
mod region;
mod shares;
mod stats;
pub mod traces;
mod weight;

pub use builder::EscrowBuilder;
pub use error::FairError;
pub use escrow::WeightedFairEscrow;
pub use federated::{FederatedBuilder, FederatedEscrow};
pub use ideal::{Fraction, Want, ideal};
pub use identity::TenantId;
pub use leased::LeasedEscrow;
pub use pool::{
    Draw, MAX_REGION_WEIGHT, MAX_REGIONS, PoolFull, PoolRule, PoolState, PoolTag, Region,
    RegionGrant,
};
pub use region::{RegionFairPool, RegionName, RegionPool, split_weight};
pub use stats::{Stats, TenantStats};
pub use weight::{EqualWeights, MAX_WEIGHT, Weigh};
