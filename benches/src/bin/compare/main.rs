//! Compares this store with its peers.

fn main() {}
