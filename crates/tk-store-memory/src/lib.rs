//! The in-process store of ThrottleKit: a sharded flat table that cleans itself.
//!
//! A check of a known key locks one of 256 shards, touches one cache line of its table, and allocates nothing:
//!
//! ```text
//! key ── two keyed hashes ──> 128-bit fingerprint ── high half ──> shard ── low half ──> slot
//! slot, 32 bytes: { fingerprint, word }
//! word, 128 bits: { packed state: 104, who packed it: 4, incarnation: 20 }
//! ```
//!
//! States that do not pack (sliding windows, strategies of one's own) live in a slab beside the table, and the word says where.
//! [`MemoryStore`] is the whole of the public face, with its [`Builder`].

#![forbid(unsafe_code)]

mod action;
mod builder;
mod denied;
mod full;
mod generations;
mod population;
mod shard;
mod slab;
mod store;
mod sync;
mod table;
mod word;

pub use builder::Builder;
pub use full::WhenFull;
pub use store::MemoryStore;
