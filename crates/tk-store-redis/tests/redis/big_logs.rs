//! A sliding window log costs the same whatever a call costs and however much it holds.

use std::time::Duration;

use tk_core::{Clock, SlidingWindowLog, Store};
use tk_testkit::{
    conformance::block_on,
    servers::{Answer, RedisServer},
};

use crate::support::on;

const MILLION: u64 = 1_000_000;
const HALF: u64 = MILLION / 2;

/// The microseconds that the slowest command since the last look has blocked the server for.
fn slowest(server: &RedisServer) -> i64 {
    let entries = server.ask(&["SLOWLOG", "GET", "1000"]);
    server.ask(&["SLOWLOG", "RESET"]);
    let micros = |entry: &Answer| entry.list().and_then(|fields| fields[2].number());
    let script = |entry: &&Answer| {
        let name = entry.list().and_then(|fields| fields[3].list()?[0].text());
        name.is_some_and(|name| {
            ["EVALSHA", "EVAL", "UNLINK"].contains(&name.to_uppercase().as_str())
        })
    };
    let entries = entries.list().unwrap();
    entries
        .iter()
        .filter(script)
        .filter_map(micros)
        .max()
        .unwrap()
}

/// Some of the entries of a log whose last one is at a given instant, each 3 ms after the one before, as the scripts write them.
const FILL: &str = "
local f = function(x) return string.format('%.0f', x) end
for i = ARGV[1] + 1, ARGV[2] + 0 do
  local at = f(ARGV[3] - (ARGV[4] - i) * 3000)
  redis.call('ZADD', KEYS[1], at, 'T' .. at .. ':' .. f(i - 1) .. ':' .. f(i), f(-i), 'C' .. at)
end
return redis.call('ZCARD', KEYS[1])";

#[test]
fn a_cost_of_a_million_is_one_entry_and_a_million_entries_are_no_burden() {
    // Every command is in the slow log.
    let server = RedisServer::start_with(&[
        "--slowlog-log-slower-than",
        "0",
        "--lazyfree-lazy-expire",
        "yes",
    ]);
    block_on(async {
        let store = on::<SlidingWindowLog>(&server).build().unwrap();
        let strategy = SlidingWindowLog::new(MILLION, Duration::from_secs(3_600)).unwrap();
        assert!(store.check(&strategy, "dear", 1).await.unwrap().allowed);
        slowest(&server);
        assert!(
            store
                .check(&strategy, "dear", MILLION)
                .await
                .unwrap()
                .is_denied()
        );
        assert!(
            store
                .check(&strategy, "dear", MILLION - 1)
                .await
                .unwrap()
                .allowed
        );
        assert!(store.check(&strategy, "dear", 1).await.unwrap().is_denied());
        println!("cost of a million: {} us", slowest(&server));
        store.reset(&strategy, "dear").await.unwrap();
        println!("its reset: {} us", slowest(&server));

        assert!(store.check(&strategy, "full", 1).await.unwrap().allowed);
        let key = String::from_utf8(server.keys().remove(0).0).unwrap();
        let meta = server.ask(&["ZRANGE", &key, "0", "0"]).list().unwrap()[0]
            .text()
            .unwrap();
        server.ask(&["DEL", &key]);
        server.ask(&["ZADD", &key, "-inf", &meta]);
        let now = tk_core::SystemClock.now().as_micros() - 1_000_000;
        for part in 0..HALF / 10_000 {
            let (from, to) = (part * 10_000, (part + 1) * 10_000);
            let [from, to, now, all] = [from, to, now, HALF].map(|number| number.to_string());
            server.ask(&["EVAL", FILL, "1", &key, &from, &to, &now, &all]);
        }
        server.ask(&["PEXPIRE", &key, "3600000"]);
        slowest(&server);
        let before = store.peek(&strategy, "full").await.unwrap();
        assert_eq!(before.remaining, MILLION - HALF);
        for cost in [1, 7, MILLION / 3] {
            assert!(store.check(&strategy, "full", cost).await.unwrap().allowed);
        }
        let grant = store.lease(&strategy, "full", 100, 1).await.unwrap();
        assert_eq!(
            store
                .give_back(&strategy, "full", grant.tag, 40)
                .await
                .unwrap(),
            40
        );
        let denied = store.check(&strategy, "full", HALF).await.unwrap();
        assert!(denied.is_denied());
        println!(
            "calls on a log of half a million entries: {} us",
            slowest(&server)
        );
        store.reset(&strategy, "full").await.unwrap();
        println!("its reset: {} us", slowest(&server));
    });
}

/// Totals that grow without end would reach 2^53.
#[test]
fn running_totals_are_counted_anew_before_they_are_inexact() {
    let server = RedisServer::start();
    block_on(async {
        let store = on::<SlidingWindowLog>(&server).build().unwrap();
        let limit = 1 << 48;
        let strategy = SlidingWindowLog::new(limit, Duration::from_secs(3_600)).unwrap();
        assert!(store.check(&strategy, "key", 1).await.unwrap().allowed);
        let key = String::from_utf8(server.keys().remove(0).0).unwrap();
        // The same log, as it would be after years: its totals just below 2^52.
        let entry = server.ask(&["ZRANGE", &key, "-1", "-1"]).list().unwrap()[0]
            .text()
            .unwrap();
        let at = entry[1..].split(':').next().unwrap().to_owned();
        let (before, through) = ((1u64 << 52) - 5, (1u64 << 52) - 4);
        server.ask(&["ZREM", &key, &entry]);
        server.ask(&["ZADD", &key, &at, &format!("T{at}:{before}:{through}")]);
        server.ask(&["ZADD", &key, &format!("-{through}"), &format!("C{at}")]);
        for cost in [1, 2, 3, 100, limit - 107] {
            assert!(
                store.check(&strategy, "key", cost).await.unwrap().allowed,
                "{cost}"
            );
        }
        assert_eq!(store.peek(&strategy, "key").await.unwrap().remaining, 0);
        let members = server.ask(&["ZRANGE", &key, "0", "-1"]);
        let through = |member: &str| {
            member
                .strip_prefix('T')?
                .rsplit(':')
                .next()?
                .parse::<u64>()
                .ok()
        };
        let totals: Vec<_> = members
            .list()
            .unwrap()
            .iter()
            .filter_map(|m| through(&m.text()?))
            .collect();
        assert_eq!(totals.iter().max(), Some(&limit), "{totals:?}");
    });
}
