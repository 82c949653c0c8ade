//! How contenders are measured: side by side, in one run, on a machine that may be shared.
//!
//! A figure from one run and a figure from another cannot be compared on a machine whose speed changes from minute to
//! minute. So the contenders of a row take turns, block by block, in an order that rotates; each block is framed by
//! a control loop of fixed arithmetic, and a block whose control loop was slowed down is repeated; and what counts
//! is the median, and the ratio of medians.

#![forbid(unsafe_code)]

mod control;
mod flat;
mod harness;
mod random;
mod report;
mod stopwatch;
mod traffic;

pub use control::Control;
pub use flat::FlatTable;
pub use harness::{Contender, Harness, Plan};
pub use random::Random;
pub use report::{Figure, Report, Row, Table};
pub use stopwatch::Stopwatch;
pub use traffic::{Spread, Traffic, name_of};
