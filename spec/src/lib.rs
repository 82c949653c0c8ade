//! Twins of the specifications: the same systems, over the code that ships.
//!
//! A proof about a model says nothing about a program that has drifted away from it. Each system in `spec/*.tla` is
//! built here once more, and where the specification has a variable and a formula, the twin has
//! the shipping [`LeaseLedger`](tk_twotier::LeaseLedger), the shipping [`FixedWindow`](tk_core::FixedWindow) under
//! [`Grant::charge`](tk_core::Grant::charge) and [`Tag::give_back`](tk_core::Tag::give_back), or the shipping
//! [`PoolRule`](tk_fair::PoolRule). Both are explored completely. That the two count the same number of states, bound
//! by bound, is what ties them together: a ledger with one transition more or less has another count.
//!
//! [`explore`] searches, [`world`] carries messages, [`systems`] are the systems, and [`catalog`] lists what is claimed of each.

#![forbid(unsafe_code)]

pub mod catalog;
pub mod explore;
pub mod systems;
pub mod world;
