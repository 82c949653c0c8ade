use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
    vec::Vec,
};

use quickcheck::{QuickCheck, TestResult};

use super::*;

/// Hashes a number to itself, so that tests can aim at places.
#[derive(Clone, Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn write(&mut self, _: &[u8]) {}
    fn write_u128(&mut self, number: u128) {
        self.0 = number as u64;
    }
    fn write_u64(&mut self, _: u64) {}
    fn finish(&self) -> u64 {
        self.0
    }
}

type Hash = BuildHasherDefault<Identity>;

fn fingerprint(number: u64) -> Fingerprint {
    Fingerprint::of(&number, &[Hash::default(), Hash::default()])
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Entry(u128, u64);

impl Keyed for Entry {
    fn bits(&self) -> u128 {
        self.0
    }
}

fn entry(key: u64, value: u64) -> Entry {
    Entry(fingerprint(key).bits(), value)
}

fn agree(table: &mut FlatTable<Entry>, model: &HashMap<u64, u64>) -> bool {
    let found = model.iter().all(|(&key, &value)| {
        let at = table.find(fingerprint(key));
        let found = at.is_ok_and(|at| table.get(at) == Some(&entry(key, value)));
        found && table.find_mut(fingerprint(key)) == Some(&mut entry(key, value))
    });
    let taken = (0..table.capacity()).filter(|&at| table.get(at).is_some());
    let full_enough = table.len() * 4 <= table.capacity() * 3;
    found && full_enough && table.len() == model.len() && taken.count() == model.len()
}

/// Keys come in a few narrow bands, so that they collide, and at both ends, so that they wrap around.
fn is_a_map(ops: Vec<(u8, u8, u64)>) -> TestResult {
    let (mut table, mut model) = (FlatTable::<Entry>::default(), HashMap::new());
    for (key, op, value) in ops {
        let band = [0, u64::MAX / 3, u64::MAX - 255][usize::from(op % 3)];
        let key = (band + u64::from(key)).max(1);
        match (table.find(fingerprint(key)), op / 3 % 3) {
            (Ok(at), 0) => {
                let removed = table.remove(at).map(|entry| entry.1);
                if removed != model.remove(&key) {
                    return TestResult::failed();
                }
                table.shrink();
            }
            (Ok(at), _) => {
                table.get_mut(at).expect("it was found").1 = value;
                model.insert(key, value);
            }
            (Err(at), _) => {
                table.insert(at, entry(key, value));
                model.insert(key, value);
            }
        }
        if !agree(&mut table, &model) {
            return TestResult::failed();
        }
    }
    TestResult::passed()
}

#[test]
fn the_table_is_a_map() {
    QuickCheck::new()
        .tests(2_000)
        .quickcheck(is_a_map as fn(Vec<(u8, u8, u64)>) -> TestResult);
}

#[test]
fn the_table_shrinks_to_almost_nothing() {
    let mut table = FlatTable::default();
    let spread = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for i in 1..=10_000 {
        let Err(at) = table.find(fingerprint(spread(i))) else {
            panic!("{i} is new");
        };
        table.insert(at, entry(spread(i), i));
    }
    for i in 1..=10_000 {
        let Ok(at) = table.find(fingerprint(spread(i))) else {
            panic!("{i} is there");
        };
        table.remove(at);
        let [before, after] = table.shrink();
        assert!(before <= 20_000 && after <= before);
        assert_eq!(after, table.capacity());
    }
    assert!(table.is_empty());
    assert!(table.capacity() <= 8, "{}", table.capacity());
}

/// Of eight lines the last but one is full, the last is, and what belongs there lies in the first too.
#[test]
fn a_removal_moves_nothing_in_front_of_where_its_search_begins() {
    let homes = [3, 6, 6, 7, 7, 7, 7].into_iter().zip(1..);
    let keys: Vec<u64> = homes.map(|(line, key)| (line << 61) + key * 2).collect();
    let mut table = FlatTable::default();
    for key in &keys {
        let at = table.find(fingerprint(*key)).expect_err("it is new");
        table.insert(at, entry(*key, 0));
    }
    assert_eq!(table.capacity(), 16);
    for (index, gone) in keys.iter().enumerate() {
        let at = table.find(fingerprint(*gone)).expect("it is still there");
        table.remove(at);
        let left = &keys[index + 1..];
        assert!(left.iter().all(|key| table.find(fingerprint(*key)).is_ok()));
    }
}

fn filled(keys: u64) -> FlatTable<Entry> {
    let mut table = FlatTable::default();
    for key in 1..=keys {
        if let Err(at) = table.find(fingerprint(key << 57)) {
            table.insert(at, entry(key << 57, key));
        }
    }
    table
}

#[test]
fn the_table_grows_beyond_three_quarters_and_shrinks_below_a_fifth() {
    let capacities = [
        (3, 4),
        (4, 8),
        (6, 8),
        (7, 16),
        (12, 16),
        (13, 32),
        (49, 80),
        (61, 100),
    ];
    for (keys, capacity) in capacities {
        let table = filled(keys);
        assert_eq!(table.capacity(), capacity, "with {keys} keys");
        assert!(!table.is_empty());
    }
    // Keys, those that stay, and the capacity afterwards: twice what is in use. A table of eight or less is left alone.
    let sizes = [
        (49, 16, 80),
        (49, 15, 30),
        (13, 7, 32),
        (13, 6, 12),
        (12, 4, 16),
        (12, 3, 6),
        (4, 1, 8),
    ];
    for (keys, left, capacity) in sizes {
        let mut table = filled(keys);
        let before = table.capacity();
        for key in left + 1..=keys {
            let at = table.find(fingerprint(key << 57)).expect("it is there");
            table.remove(at);
        }
        assert_eq!(table.shrink(), [before, capacity], "{left} of {keys}");
        assert!((1..=left).all(|key| table.find(fingerprint(key << 57)).is_ok()));
    }
}

#[test]
fn an_empty_table_holds_nothing_and_ends_every_search() {
    let mut table = FlatTable::<Entry>::default();
    assert_eq!(table.find(fingerprint(7)), Err(0));
    assert_eq!(table.remove(0), None);
    assert_eq!(table.get(0), None);
    assert_eq!((table.capacity(), table.len()), (0, 0));
}

#[test]
fn a_vacant_place_and_one_beyond_the_end_hold_nothing() {
    let mut table = FlatTable::default();
    table.insert(0, entry(1, 1));
    assert_eq!(table.capacity(), 4);
    for at in 1..6 {
        assert_eq!(table.get(at), None);
        assert_eq!(table.get_mut(at), None);
        assert_eq!(table.remove(at), None);
    }
    assert_eq!(table.len(), 1);
}

#[test]
fn the_addresses_are_where_the_search_begins() {
    let table = filled(100);
    let key = fingerprint(77 << 57);
    let (base, capacity) = (table.base(), table.capacity());
    let [first, second] = FlatTable::<Entry>::addresses(base, capacity, key);
    // 77 of the 128 parts into which the keys divide all fingerprints.
    let line = 77 * (capacity / PER_LINE) / 128;
    assert_eq!(first, core::ptr::from_ref(&table.lines[line]).cast());
    assert_eq!(second, core::ptr::from_ref(&table.lines[line + 1]).cast());
}

#[test]
fn a_hint_asks_for_the_slots_of_a_table_as_large_as_was_noted() {
    let hint = TableHint::new();
    let key = fingerprint(77 << 57);
    assert!(!hint.prefetch::<Entry>(key, 1), "nothing was noted");
    let table = filled(100);
    hint.note(&table);
    assert!(hint.prefetch::<Entry>(key, table.capacity()));
    assert!(!hint.prefetch::<Entry>(key, table.capacity() + 1));
    let smaller = filled(20);
    hint.note(&smaller);
    assert!(hint.prefetch::<Entry>(key, smaller.capacity()));
    assert!(!hint.prefetch::<Entry>(key, table.capacity()));
}
