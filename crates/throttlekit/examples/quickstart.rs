//! A limit in one process: `cargo run --example quickstart`.

use std::error::Error;

use throttlekit::{Gcra, MemoryStore, RateLimiter};

fn main() -> Result<(), Box<dyn Error>> {
    let limiter = RateLimiter::new(Gcra::per_minute(6)?.burst(3)?, MemoryStore::new());
    for request in 1..=5 {
        let decision = limiter.check("203.0.113.9")?;
        if decision.allowed {
            println!("request {request}: allowed, {} left", decision.remaining);
        } else {
            println!(
                "request {request}: denied, retry after {:?}",
                decision.retry_after
            );
        }
    }
    // A cost that can never fit is an error, not a denial with a waiting time.
    match limiter.check_n("203.0.113.9", 4) {
        Err(error) => println!("cost 4: {error}"),
        Ok(decision) => println!("cost 4: {decision:?}"),
    }
    Ok(())
}
