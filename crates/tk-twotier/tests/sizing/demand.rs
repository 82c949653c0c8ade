//! Sequences of demand, each a function of the window and, for those that mean harm, of the size in force.

use tk_twotier::eoq_optimum;

/// A named sequence.
pub(super) struct Stream {
    pub(super) name: &'static str,
    demand: fn(u64, u64) -> u64,
}

impl Stream {
    pub(super) fn at(&self, window: u64, size: u64) -> u64 {
        (self.demand)(window, size)
    }

    /// The size that suits the mean demand, with costs of 200 and 1; of a stream that looks at the size, roughly.
    /// Whether its demand depends on the size in force.
    pub(super) fn sees_the_size(&self) -> bool {
        self.at(0, 1) != self.at(0, 1_000)
    }

    pub(super) fn best_fixed(&self) -> u64 {
        let total: u64 = (0..100_000).map(|window| self.at(window, 100)).sum();
        (eoq_optimum(200.0, 1.0, total / 100_000) as u64).clamp(1, 1_000)
    }
}

pub(super) const STEADY: &[Stream] = &[
    Stream {
        name: "constant",
        demand: |_, _| 100,
    },
    Stream {
        name: "uniform noise",
        demand: |window, _| mix(window) % 201,
    },
    Stream {
        name: "bursts, one window in ten",
        demand: |window, _| {
            if mix(window).is_multiple_of(10) {
                1_000
            } else {
                10
            }
        },
    },
];

pub(super) const DRIFTING: &[Stream] = &[
    Stream {
        name: "a climb, tenfold",
        demand: |window, _| 50 + window / 200,
    },
    Stream {
        name: "tides",
        demand: tide,
    },
    Stream {
        name: "a walk",
        demand: walk,
    },
    Stream {
        name: "a jump every 1,000 windows",
        demand: |window, _| 10 * (1 + mix(window / 1_000) % 50),
    },
];

pub(super) const HOSTILE: &[Stream] = &[
    Stream {
        name: "nothing and plenty in turn",
        demand: |window, _| window % 2 * 1_000,
    },
    Stream {
        name: "blocks that double",
        demand: |window, _| u64::from((window + 1).ilog2() % 2) * 400,
    },
    Stream {
        name: "against the size in force",
        demand: |_, size| if size > 150 { 20 } else { 400 },
    },
    Stream {
        name: "ramps to either end",
        demand: |window, _| if window / 10 % 2 == 0 { 0 } else { 100_000 },
    },
    Stream {
        name: "all or nothing against the size",
        demand: |_, size| if size > 31 { 0 } else { 50_000 },
    },
];

pub(super) const TIDE: Stream = Stream {
    name: "tides",
    demand: tide,
};

/// A triangle wave between 100 and 1,100 over 400 windows.
fn tide(window: u64, _size: u64) -> u64 {
    let phase = window % 400;
    100 + 5 * phase.min(400 - phase)
}

/// Sums of slow waves with periods that share no factor: it seems to wander, and repeats after 10^9 windows.
fn walk(window: u64, _size: u64) -> u64 {
    [997, 1_999, 503]
        .iter()
        .map(|period| {
            let phase = window % (2 * period);
            200 * phase.min(2 * period - phase) / period
        })
        .sum()
}

/// Noise that depends on its argument alone (the finaliser of SplitMix64).
fn mix(n: u64) -> u64 {
    let mut z = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A sequence of noise.
pub(super) struct Noise(u64);

impl Noise {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed << 32)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 += 1;
        mix(self.0) % bound
    }
}
