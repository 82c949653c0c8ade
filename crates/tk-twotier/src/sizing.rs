//! How large the next lease should be.
//!
//! A lease of size b costs a round trip per b units served, and strands on average b/2 units when its window ends. That is
//! the *economic order quantity* (Harris 1913): under demand D a window costs
//! `order_cost * D / b + strand_penalty * b / 2`, least at [`eoq_optimum`]. Demand is not known and changes, so a
//! [`LeaseSizer`] learns the size of each key, from the demand that was served in each window that has ended, and a
//! [`PredictiveSizer`] bets on a forecast besides.
//!
//! Sizes decide what leasing costs, never whether a limit holds: the bounds hold for any sequence of sizes,
//! hence the floating point, which no decision of this project involves. Whatever is fed to a sizer, its size stays a
//! whole number between the smallest and the largest allowed.

mod eoq;
mod factory;
mod forecast;
mod learner;
mod options;
mod predictive;

pub use eoq::eoq_optimum;
pub use factory::{Sizers, Sizing};
pub use learner::LeaseSizer;
pub use options::SizerOptions;
pub use predictive::PredictiveSizer;

/// Chooses the size of one key's leases.
///
/// It is called while requests wait, so it should be quick. One that panics is dropped, and its key goes on in leases of as
/// many units as a request costs.
///
/// ```
/// use tk_twotier::Sizer;
///
/// /// Always leases a tenth of what the last window served.
/// struct Tenth(u64);
///
/// impl Sizer for Tenth {
///     fn size(&self) -> u64 {
///         self.0
///     }
///
///     fn observe(&mut self, demand: u64) {
///         self.0 = (demand / 10).max(1);
///     }
/// }
/// ```
pub trait Sizer: Send + 'static {
    /// Units that the next lease asks for. A limiter clamps it to between 1 and the capacity.
    fn size(&self) -> u64;

    /// A window has ended in which this node served `demand` units of the key.
    fn observe(&mut self, demand: u64);
}

impl<S: Sizer + ?Sized> Sizer for Box<S> {
    fn size(&self) -> u64 {
        (**self).size()
    }

    fn observe(&mut self, demand: u64) {
        (**self).observe(demand);
    }
}
