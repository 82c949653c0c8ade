//! Who is asking, as bits.

use std::{
    collections::hash_map,
    hash::{BuildHasher, Hasher},
};

use tk_core::{Fingerprint, Key};

use crate::{FairError, MAX_WEIGHT, Weigh};

/// A tenant's identity within one escrow: a fingerprint of its name under keys that are random for each escrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TenantId(pub(crate) u128);

/// Turns tenants into identities.
#[derive(Debug)]
pub(crate) struct Identity([ahash::RandomState; 2]);

impl Identity {
    /// With hash keys that nobody can guess, so that nobody can look for two names with one identity.
    pub(crate) fn random() -> Self {
        let entropy = hash_map::RandomState::new();
        let word = |i: u64| {
            let mut hasher = entropy.build_hasher();
            hasher.write_u64(i);
            hasher.finish()
        };
        let keyed =
            |i| ahash::RandomState::with_seeds(word(i), word(i + 1), word(i + 2), word(i + 3));
        Self([keyed(0), keyed(4)])
    }

    pub(crate) fn of<T: Key + ?Sized>(&self, tenant: &T) -> TenantId {
        TenantId(Fingerprint::of(tenant, &self.0).bits())
    }
}

/// Refuses what can never be admitted, before anything is touched; the weight of those who may ask.
pub(crate) fn admissible<T, W, E>(
    tenant: &T,
    cost: u64,
    limit: u64,
    weight_of: &W,
) -> Result<u32, FairError<E>>
where
    T: Key + ?Sized,
    W: Weigh<T>,
{
    if tenant.is_empty() {
        return Err(FairError::EmptyTenant);
    }
    if cost > limit {
        return Err(FairError::ExceedsCapacity { cost, limit });
    }
    let weight = weight_of.weight(tenant);
    u32::try_from(weight)
        .ok()
        .filter(|_| weight <= MAX_WEIGHT)
        .ok_or(FairError::Weight {
            weight,
            max: MAX_WEIGHT,
        })
}
