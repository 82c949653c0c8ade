//! Real servers for tests: `redis-server` on a free port of the loopback interface, in a directory of its own.
//!
//! A server ends, and its directory goes, when it is dropped. Everything here panics with a message that says what is
//! missing: a test that cannot run must fail and not be skipped.

mod cluster;
mod proxy;
mod redis;
mod sentinel;
mod tls;
mod wire;

pub use cluster::RedisCluster;
pub use proxy::{Fault, Proxy};
pub use redis::{RedisServer, free_port};
pub use sentinel::RedisSentinel;
pub use tls::Certificates;
pub use wire::{Answer, Wire};
