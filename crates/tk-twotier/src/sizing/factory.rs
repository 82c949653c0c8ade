//! Where a limiter gets a sizer for each key.

use std::{fmt, sync::Arc};

use tk_core::ConfigError;

use super::{LeaseSizer, PredictiveSizer, Sizer, SizerOptions, options::Plan};

/// Which kind of sizer each key gets; options make a [`LeaseSizer`].
///
/// ```
/// use tk_twotier::{SizerOptions, Sizing};
///
/// let learned: Sizing = SizerOptions::new(200.0, 1.0).into();
/// let predictive = Sizing::predictive(SizerOptions::new(200.0, 1.0));
/// ```
#[derive(Clone, Debug)]
pub struct Sizing(Kind<SizerOptions>);

/// Makes a sizer for each key: a [`Sizing`] that was checked against a capacity.
///
/// ```
/// use tk_twotier::{Sizer, SizerOptions, Sizing};
///
/// let sizers = Sizing::learned(SizerOptions::new(200.0, 1.0)).for_capacity(10_000)?;
/// let (mut busy, idle) = (sizers.sizer(), sizers.sizer());
/// busy.observe(5_000);
/// assert!(busy.size() > idle.size());
/// # Ok::<(), tk_core::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sizers(Kind<Plan>);

#[derive(Clone)]
enum Kind<O> {
    Learned(O),
    Predictive(O),
    Custom(Arc<dyn Fn() -> Box<dyn Sizer> + Send + Sync>),
}

impl Sizing {
    /// A [`LeaseSizer`] for each key.
    #[must_use]
    pub const fn learned(options: SizerOptions) -> Self {
        Self(Kind::Learned(options))
    }

    /// A [`PredictiveSizer`] for each key.
    #[must_use]
    pub const fn predictive(options: SizerOptions) -> Self {
        Self(Kind::Predictive(options))
    }

    /// What `make` returns for each key.
    #[must_use]
    pub fn custom<S: Sizer>(make: impl Fn() -> S + Send + Sync + 'static) -> Self {
        Self(Kind::Custom(Arc::new(move || Box::new(make()))))
    }

    /// Checks the options against the capacity of the limit that is leased from.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] naming the option that is out of range.
    pub fn for_capacity(&self, capacity: u64) -> Result<Sizers, ConfigError> {
        Ok(Sizers(match &self.0 {
            Kind::Learned(options) => Kind::Learned(options.plan(capacity)?),
            Kind::Predictive(options) => Kind::Predictive(options.plan(capacity)?),
            Kind::Custom(make) => Kind::Custom(make.clone()),
        }))
    }
}

impl From<SizerOptions> for Sizing {
    fn from(options: SizerOptions) -> Self {
        Self::learned(options)
    }
}

impl Sizers {
    /// A sizer for a key that was not seen before.
    #[must_use]
    pub fn sizer(&self) -> Box<dyn Sizer> {
        match &self.0 {
            Kind::Learned(plan) => Box::new(LeaseSizer::of(*plan)),
            Kind::Predictive(plan) => Box::new(PredictiveSizer::of(*plan)),
            Kind::Custom(make) => make(),
        }
    }
}

impl<O: fmt::Debug> fmt::Debug for Kind<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Learned(options) => f.debug_tuple("Learned").field(options).finish(),
            Self::Predictive(options) => f.debug_tuple("Predictive").field(options).finish(),
            Self::Custom(_) => f.write_str("Custom"),
        }
    }
}
