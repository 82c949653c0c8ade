//! Being written.

#![forbid(unsafe_code)]

mod shares;
