//! How a key came to be in the state it is in.

use std::{env, fmt::Debug, marker::PhantomData, time::Duration};

use quickcheck::{Arbitrary, Gen, QuickCheck, TestResult, Testable};
use tk_core::{Decision, Grant, Tag, Timestamp};
use tk_testkit::{Random, Sample};

/// A strategy of which stories are told.
pub(crate) trait Told: Sample<State: Debug + PartialEq> + PartialEq {}

impl<S: Sample<State: Debug + PartialEq> + PartialEq> Told for S {}

/// A strategy, an instant to begin at, and what happened to one key.
#[derive(Clone, Debug)]
pub(crate) struct Story<S> {
    seed: u64,
    events: Vec<Event>,
    strategy: PhantomData<S>,
}

/// What happens to a key; the numbers are cut to size where it happens.
#[derive(Clone, Copy, Debug)]
enum Event {
    Waits(u64),
    WaitsAsTold,
    WaitsOneLessThanTold,
    WaitsUntilReset,
    StepsBack(u64),
    Checks(u64),
    Leases(u64, u64),
    HandsBack(u64, u64),
    Changes(u64),
}

impl Arbitrary for Event {
    fn arbitrary(g: &mut Gen) -> Self {
        let (a, b) = (u64::arbitrary(g), u64::arbitrary(g));
        match u8::arbitrary(g) % 20 {
            0..=3 => Self::Waits(a),
            4 => Self::WaitsAsTold,
            5 => Self::WaitsOneLessThanTold,
            6 => Self::WaitsUntilReset,
            7 => Self::StepsBack(a),
            8..=14 => Self::Checks(a),
            15..=16 => Self::Leases(a, b),
            17..=18 => Self::HandsBack(a, b),
            _ => Self::Changes(a),
        }
    }
}

impl<S: Told> Arbitrary for Story<S> {
    fn arbitrary(g: &mut Gen) -> Self {
        Self {
            seed: u64::arbitrary(g),
            events: Vec::arbitrary(g),
            strategy: PhantomData,
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let seed = self.seed;
        Box::new(self.events.shrink().map(move |events| Self {
            seed,
            events,
            strategy: PhantomData,
        }))
    }
}

/// How a story ends: the strategy in force, the key's state, and the present.
#[derive(Clone, Debug)]
pub(crate) struct End<S: Told> {
    pub(crate) strategy: S,
    pub(crate) state: S::State,
    pub(crate) now: Timestamp,
    /// The largest instant of the story.
    pub(crate) largest: Timestamp,
    /// For further choices.
    pub(crate) random: Random,
}

impl<S: Told> Story<S> {
    pub(crate) fn end(&self) -> End<S> {
        let mut random = Random::new(self.seed);
        let strategy = S::sample(&mut random);
        let starts = [
            0,
            1,
            1_000_000,
            1_700_000_000_000_000,
            1_796_012_345_678_901,
        ];
        let now = Timestamp::from_micros(random.choose(&starts));
        let mut end = End {
            strategy,
            state: S::State::default(),
            now,
            largest: now,
            random,
        };
        let mut last = end.decide(0);
        let mut tags = Vec::new();
        for &event in &self.events {
            end.suffers(event, &mut last, &mut tags);
            end.largest = end.largest.max(end.now);
        }
        end
    }
}

impl<S: Told> End<S> {
    /// Decides on the state as it stands, and charges it.
    pub(crate) fn decide(&mut self, cost: u64) -> Decision {
        self.strategy.decide(&mut self.state, self.now, cost)
    }

    /// A cost of any size that can be admitted.
    pub(crate) fn cost(&mut self) -> u64 {
        let all = self.strategy.capacity();
        match self.random.within(0, 3) {
            0 => 1,
            1 => all,
            2 => self.random.within(1, all),
            _ => self.random.up_to(all).max(1),
        }
    }

    fn suffers(&mut self, event: Event, last: &mut Decision, tags: &mut Vec<Tag>) {
        let micros = Duration::from_micros;
        let full = last.reset_at.since(self.now).as_micros() as u64;
        let cut = |raw: u64, most: u64| Random::new(raw).up_to(most);
        match event {
            Event::Waits(raw) => {
                self.now = self.now + micros(cut(raw, full.saturating_mul(2).max(9)))
            }
            Event::WaitsAsTold => self.now = self.now + last.retry_after,
            Event::WaitsOneLessThanTold => {
                self.now = self.now + last.retry_after.saturating_sub(micros(1));
            }
            Event::WaitsUntilReset => self.now = last.reset_at,
            Event::StepsBack(raw) => self.now = self.now - micros(cut(raw, full.max(1_000))),
            Event::Checks(raw) => *last = self.decide(cut(raw, self.strategy.capacity())),
            Event::Leases(want, least) => {
                let want = cut(want, self.strategy.capacity());
                let (strategy, least) = (&self.strategy, cut(least, want));
                let grant =
                    Grant::charge::<_, ()>(strategy, &mut self.state, self.now, want, least, 1);
                if let Ok(grant) = grant {
                    *last = grant.decision;
                    tags.push(grant.tag);
                }
            }
            Event::HandsBack(which, amount) if !tags.is_empty() => {
                let tag = tags.swap_remove(which as usize % tags.len());
                let amount = cut(amount, tag.amount());
                tag.give_back(&self.strategy, &mut self.state, self.now, 1, amount);
            }
            Event::HandsBack(..) => {}
            Event::Changes(raw) => self.strategy = S::sample(&mut Random::new(raw)),
        }
    }
}

/// What a property says of the end of a story: nothing, or what is wrong.
pub(crate) type Verdict = Result<(), String>;

/// Checks a property at the end of some hundred stories.
pub(crate) fn holds<S: Told>(property: fn(End<S>) -> Verdict) {
    struct Property<S: Told>(fn(End<S>) -> Verdict);

    impl<S: Told> Testable for Property<S> {
        fn result(&self, g: &mut Gen) -> TestResult {
            let judge = |story: &Story<S>| self.0(story.end());
            let mut story = Story::<S>::arbitrary(g);
            let Err(mut wrong) = judge(&story) else {
                return TestResult::passed();
            };
            // The shortest story that still goes wrong.
            while let Some((shorter, still)) = story
                .shrink()
                .find_map(|shorter| judge(&shorter).err().map(|still| (shorter, still)))
            {
                (story, wrong) = (shorter, still);
            }
            TestResult::error(format!(
                "{wrong}\nat the end of {story:?}:\n{:?}",
                story.end()
            ))
        }
    }

    let stories = env::var("QUICKCHECK_TESTS")
        .ok()
        .and_then(|stories| stories.parse().ok());
    QuickCheck::new()
        .tests(stories.unwrap_or(400))
        .quickcheck(Property(property));
}

/// Says what is wrong unless `claim` holds.
pub(crate) fn claim(claim: bool, wrong: impl FnOnce() -> String) -> Verdict {
    if claim { Ok(()) } else { Err(wrong()) }
}
