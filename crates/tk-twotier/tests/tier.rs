//! Two tiers against a store that answers, delays, fails and loses as it is told.

#[path = "clocks/behind.rs"]
mod behind;
#[path = "clocks/panics_for.rs"]
mod panics_for;

mod tier {
    pub(crate) mod l2;
    pub(crate) mod node;

    mod bounds;
    mod clock;
    mod config;
    mod denials;
    mod flight;
    mod home;
    mod lag;
    mod learned;
    mod leased;
    mod outage;
    mod plugins;
    mod resets;
    mod strategies;
    mod telling;
    mod unsound;
}
