//! The pool in Redis beside the one in memory, step by step.

use std::{sync::Arc, time::Duration};

use tk_core::{Clock, ManualClock, Timestamp};
use tk_fair::{Draw, PoolRule, PoolTag, RegionFairPool, RegionName, RegionPool};
use tk_store_redis::PoolError;
use tk_testkit::{Random, conformance::block_on, servers::RedisServer};

use crate::support::pool_by;

const START: Timestamp = Timestamp::from_secs(1_790_000_000);

/// A pool of each kind, on one clock, and the last tag of each region.
struct Pair {
    redis: tk_store_redis::RedisRegionFairPool,
    memory: RegionFairPool<Arc<ManualClock>>,
    clock: Arc<ManualClock>,
    tags: Vec<(RegionName, Vec<PoolTag>)>,
}

impl Pair {
    fn new(server: &RedisServer, name: &str, rule: PoolRule, regions: usize) -> Self {
        let clock = Arc::new(ManualClock::at(START));
        let names = (0..regions).map(|i| RegionName::new(&format!("region {i}: größe")).unwrap());
        Self {
            redis: pool_by(server, name, rule, clock.clone()),
            memory: RegionFairPool::with_clock(rule, clock.clone()),
            clock,
            tags: names.map(|name| (name, Vec::new())).collect(),
        }
    }

    async fn draw(&mut self, region: usize, draw: Draw) -> u64 {
        let (name, tags) = &mut self.tags[region];
        let redis = self.redis.draw(name, draw).await;
        match (redis, self.memory.draw(name, draw).await) {
            (Ok(redis), Ok(memory)) => {
                assert_eq!(redis, memory, "{name:?} {draw:?}");
                tags.push(memory.tag);
                memory.amount
            }
            (Err(PoolError::Full(_)), Err(_)) => 0,
            other => panic!("{name:?} {draw:?}: {other:?}"),
        }
    }

    async fn give_back(&mut self, region: usize, tag: PoolTag, amount: u64) -> u64 {
        let name = &self.tags[region].0;
        let redis = self.redis.give_back(name, tag, amount).await.unwrap();
        let memory = self.memory.give_back(name, tag, amount).await.unwrap();
        assert_eq!(redis, memory, "{name:?} hands back {amount} by {tag:?}");
        memory
    }
}

struct Dice(Random);

impl Dice {
    /// A number below `end`, which is not 0.
    fn below(&mut self, end: u64) -> u64 {
        self.0.within(0, end - 1)
    }
}

/// Mostly small numbers, and sometimes ones near the largest.
fn number(random: &mut Dice, largest: u64) -> u64 {
    match random.below(8) {
        0 => largest - random.below(3).min(largest),
        1 => random.below(largest) + 1,
        _ => random.below(largest.min(100)) + 1,
    }
}

async fn run(server: &RedisServer, seed: u64, steps: usize) -> [u64; 3] {
    let mut random = Dice(Random::new(seed));
    let limit = number(&mut random, 1 << 48);
    let window = 1_000 + random.below(1_000_000_000);
    let idle_after = 1 + random.below(window / 5);
    let micros = Duration::from_micros;
    let rule = PoolRule::new(limit, micros(window), micros(idle_after)).unwrap();
    let regions = [2, 3, 5, 66][seed as usize % 4];
    let mut pair = Pair::new(server, &format!("pool {seed}"), rule, regions);
    let (mut granted, mut taken, mut rolls) = (0, 0, 0);
    for _ in 0..steps {
        let region = random.below(regions as u64) as usize;
        let heavy = if random.below(4) == 0 { 1 << 47 } else { 1_000 };
        match random.below(8) {
            0..=4 => {
                let draw = Draw {
                    weight: number(&mut random, heavy) - u64::from(random.below(4) == 0),
                    settled: random.below(limit + 1),
                    want: random.below(limit + 2) / (1 + random.below(regions as u64)),
                };
                granted += u64::from(pair.draw(region, draw).await > 0);
            }
            5 => {
                let tags = &pair.tags[region].1;
                if let Some(&tag) = tags.get(tags.len().wrapping_sub(1 + random.below(3) as usize))
                {
                    let amount = random.below(limit + 1);
                    let took = pair.give_back(region, tag, amount).await;
                    taken += u64::from(took > 0);
                    assert!(took == 0 || pair.give_back(region, tag, amount).await == 0);
                }
            }
            6 => pair.clock.advance(micros(random.below(idle_after) + 1)),
            _ => {
                let before = pair.clock.now().as_micros() / window;
                pair.clock.advance(micros(random.below(window / 3) + 1));
                rolls += pair.clock.now().as_micros() / window - before;
            }
        }
    }
    [granted, taken, rolls]
}

#[test]
fn ten_thousand_random_operations_answer_alike() {
    let server = RedisServer::start();
    block_on(async {
        let mut seen = [0; 3];
        for seed in 0..40 {
            let run = run(&server, seed, 300).await;
            seen = [0, 1, 2].map(|i| seen[i] + run[i]);
        }
        let [granted, taken, rolls] = seen;
        // Else the steps above miss what they are for.
        assert!(granted > 1_000 && taken > 100 && rolls > 100, "{seen:?}");
    });
    server.assert_all_keys_expire();
}

#[test]
fn a_claim_outlives_the_key_of_its_window() {
    let server = RedisServer::start();
    block_on(async {
        let second = Duration::from_secs(1);
        let rule = PoolRule::new(90, 10 * second, second).unwrap();
        let mut pair = Pair::new(&server, "pool", rule, 2);
        let draw = |weight, want| Draw {
            weight,
            settled: 0,
            want,
        };
        pair.clock.advance(second * 19 / 2);
        for region in 0..2 {
            assert_eq!(pair.draw(region, draw(1 + region as u64, 1)).await, 1);
        }
        pair.clock.advance(second / 2);
        assert_eq!(pair.draw(1, draw(2, 90)).await, 60);
        assert_eq!(pair.draw(0, draw(1, 90)).await, 30);
    });
}
