//! Keys in the order in which requests bring them.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Random;

/// How keys are spread over requests.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Spread {
    /// All requests have one key.
    One,
    /// Each of `keys` keys is as likely as any other.
    Uniform {
        /// How many keys there are.
        keys: u64,
    },
    /// The k-th key is as likely as k to the power of -`exponent` says.
    Zipf {
        /// How many keys there are.
        keys: u64,
        /// How uneven it is.
        exponent: f64,
    },
}

/// A stretch of requests, laid out in the order in which they come, as if they had just been read.
#[derive(Debug)]
pub struct Traffic {
    requests: Vec<String>,
    /// How far each thread has come.
    places: [AtomicUsize; THREADS],
}

/// How many threads may ask.
const THREADS: usize = 2;

/// Requests in a stretch; when it is over it starts again.
const STRETCH: usize = 1 << 20;

/// The key of number `number`: 11 bytes.
#[must_use]
pub fn name_of(number: u64) -> String {
    format!("user{number:07}")
}

impl Spread {
    /// How many keys there are.
    #[must_use]
    pub const fn keys(&self) -> u64 {
        match self {
            Self::One => 1,
            Self::Uniform { keys } | Self::Zipf { keys, .. } => *keys,
        }
    }
}

impl Traffic {
    /// The same traffic in each run.
    #[must_use]
    pub fn of(spread: Spread) -> Self {
        let mut random = Random::new(7);
        let requests = match spread {
            Spread::One => vec![name_of(0); 64],
            Spread::Uniform { keys } => (0..STRETCH).map(|_| name_of(random.below(keys))).collect(),
            Spread::Zipf { keys, exponent } => zipf(keys, exponent, &mut random),
        };
        let places = [0, 1].map(|thread| AtomicUsize::new(thread * requests.len() / 3));
        Self { requests, places }
    }

    /// The keys of the next `count` requests of a thread. A block never begins where the one before it began: a contender
    /// that saw the same few requests again and again would find their keys in its caches.
    pub fn requests(&self, thread: usize, count: usize) -> impl Iterator<Item = &String> {
        // The length is a power of two, so that going around costs a mask and no more.
        let (start, mask) = (self.advance(thread, count), self.requests.len() - 1);
        (start..start + count).map(move |at| &self.requests[at & mask])
    }

    /// Moves a thread on by `count` requests and says where it was.
    pub fn advance(&self, thread: usize, count: usize) -> usize {
        self.places[thread % THREADS].fetch_add(count, Ordering::Relaxed)
    }

    /// The whole stretch.
    #[must_use]
    pub fn stretch(&self) -> &[String] {
        &self.requests
    }
}

/// Ranks are dealt to keys at random, so that frequent keys are not neighbours.
fn zipf(keys: u64, exponent: f64, random: &mut Random) -> Vec<String> {
    let mut total = 0.0;
    let cumulated: Vec<f64> = (1..=keys)
        .map(|rank| {
            total += (rank as f64).powf(-exponent);
            total
        })
        .collect();
    (0..STRETCH)
        .map(|_| {
            let drawn = random.unit() * total;
            let rank = cumulated.partition_point(|&sum| sum < drawn) as u64;
            name_of(rank.wrapping_mul(0x9e37_79b9_7f4a_7c15) % keys)
        })
        .collect()
}
