//! What a tenant's share is in proportion to.

/// The largest weight of a tenant: 2^20.
pub const MAX_WEIGHT: u64 = 1 << 20;

/// Gives each tenant its weight.
///
/// Any function from a tenant to a whole number is one. It is asked on every check, outside of any
/// lock, and may change its mind: see [the crate's documentation](crate#weights-that-change).
///
/// ```
/// use tk_fair::Weigh;
///
/// let by_plan = |tenant: &str| match tenant.split(':').next() {
///     Some("enterprise") => 4,
///     Some("pro") => 2,
///     _ => 1,
/// };
/// assert_eq!(by_plan.weight("pro:acme"), 2);
/// ```
pub trait Weigh<T: ?Sized>: Send + Sync + 'static {
    /// The weight of `tenant`: 0, which admits nothing, to [`MAX_WEIGHT`].
    fn weight(&self, tenant: &T) -> u64;
}

impl<T: ?Sized, F> Weigh<T> for F
where
    F: Fn(&T) -> u64 + Send + Sync + 'static,
{
    fn weight(&self, tenant: &T) -> u64 {
        self(tenant)
    }
}

/// Everyone weighs the same.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct EqualWeights;

impl<T: ?Sized> Weigh<T> for EqualWeights {
    fn weight(&self, _tenant: &T) -> u64 {
        1
    }
}
