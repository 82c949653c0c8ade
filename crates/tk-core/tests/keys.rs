//! One notion of equality for keys, whoever takes them in.

use std::{
    hash::{BuildHasher, RandomState},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    num::NonZero,
    sync::Arc,
};

use quickcheck::{Arbitrary, Gen, QuickCheck};
use tk_core::{Fingerprint, Key, KeySink, OwnedKey, Prefix};

/// Any key of up to eight fields.
#[derive(Clone, Debug)]
struct AnyKey(Vec<Field>);

#[derive(Clone, Debug)]
enum Field {
    Bytes(Vec<u8>),
    Number(u128),
}

impl Key for AnyKey {
    fn feed<S: KeySink>(&self, sink: &mut S) {
        for (place, field) in self.0.iter().enumerate() {
            if place > 0 {
                sink.next_field();
            }
            match field {
                Field::Bytes(bytes) => sink.bytes(bytes),
                Field::Number(number) => sink.number(*number),
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.0
            .iter()
            .all(|field| matches!(field, Field::Bytes(bytes) if bytes.is_empty()))
    }
}

impl Arbitrary for AnyKey {
    /// Few letters and small numbers, so that many keys nearly coincide.
    fn arbitrary(g: &mut Gen) -> Self {
        let fields = 1 + u8::arbitrary(g) % 8;
        let field = |g: &mut Gen| {
            if bool::arbitrary(g) {
                let length = u8::arbitrary(g) % 17;
                let letters = [0, 1, b'a', b'7'];
                Field::Bytes(
                    (0..length)
                        .map(|_| letters[usize::arbitrary(g) % 4])
                        .collect(),
                )
            } else {
                Field::Number(
                    u128::from(u8::arbitrary(g) % 8) << [0, 8, 64][usize::arbitrary(g) % 3],
                )
            }
        };
        Self((0..fields).map(|_| field(g)).collect())
    }
}

fn hashes() -> [RandomState; 2] {
    [RandomState::new(), RandomState::new()]
}

fn same<A: Key + ?Sized, B: Key + ?Sized>(one: &A, other: &B) -> bool {
    let hashes = hashes();
    let prints = (
        Fingerprint::of(one, &hashes),
        Fingerprint::of(other, &hashes),
    );
    let owned = OwnedKey::of(one) == OwnedKey::of(other);
    assert_eq!(prints.0 == prints.1, owned, "fingerprint and copy disagree");
    owned
}

#[test]
fn fingerprints_are_equal_exactly_if_keys_are() {
    fn agree(one: AnyKey, other: AnyKey) -> bool {
        assert!(same(&one, &one.clone()));
        assert_eq!(OwnedKey::of(&one).is_empty(), one.is_empty());
        same(&one, &OwnedKey::of(&one)) && (same(&one, &other) || !same(&other, &one))
    }
    QuickCheck::new()
        .tests(5_000)
        .quickcheck(agree as fn(AnyKey, AnyKey) -> bool);
}

#[test]
fn text_and_its_bytes_are_one_key() {
    assert!(same("a", b"a"));
    assert!(same("a", b"a".as_slice()));
    assert!(same("a", &String::from("a")));
    assert!(same("a", &vec![b'a']));
    assert!(same("a", &Box::<str>::from("a")));
    assert!(same("a", &Arc::<str>::from("a")));
    assert!(same("a", &&&"a"));
    assert!(!same("a", "b"));
    assert!(!same("a", "a\0"));
}

#[test]
fn number_is_one_key_whatever_its_width_and_no_text() {
    assert!(same(&7_u8, &7_u16) && same(&7_u32, &7_u64) && same(&7_u64, &7_u128));
    assert!(same(&7_usize, &7_u64) && same(&7_i32, &7_u64) && same(&-7_i8, &-7_i64));
    assert!(!same(&-7_i64, &7_i64) && !same(&-1_i8, &u8::MAX) && !same(&-1_i64, &u64::MAX));
    let name = std::borrow::Cow::Borrowed("name");
    assert!(same(&name, "name") && same(&name.clone().into_owned(), &name));
    assert!(!same(&7_u64, &8_u64));
    assert!(!same(&7_u64, "7"));
    assert!(!same(&7_u64, &7_u64.to_le_bytes()));
    assert!(!same(&7_u128, &7_u128.to_le_bytes()) && !same(&7_u128, &7_u128.to_ne_bytes()));
}

#[test]
fn fields_do_not_run_together() {
    assert!(!same(&("a", "bc"), &("ab", "c")));
    assert!(!same(&("a", ""), "a"));
    assert!(!same(&("", "a"), "a"));
    assert!(!same(&("a", ""), &("", "a")));
    // Were lengths told apart by halves only, these would be the same nine zeros.
    assert!(!same(&("\0", ""), &("", "\0")));
    assert!(!same(&(1_u64, 2_u64), &(12_u64, "")));
    assert!(same(&("a", ("b", "c")), &(("a", "b"), "c")));
    assert!(same(&("a", "b", "c"), &("a", ("b", "c"))));
    assert!(same(&("a", "b", "c", 4_u8), &("a", "b", ("c", 4_u64))));
}

/// Parts that nearly coincide, and whose bytes may look like a number, a length or nothing.
type Six = (String, u64, Vec<u8>, bool, char, IpAddr);

fn six(g: &mut Gen) -> Six {
    let mut pick = |among: usize| usize::arbitrary(g) % among;
    (
        ["", "a", "ab", "\0", "7"][pick(5)].to_owned(),
        [0, 1, 7, 1 << 8, 2 << 56][pick(5)],
        vec![[0, 1, b'a'][pick(3)]; pick(18)],
        pick(2) == 1,
        ['a', '\0', '\u{1}', 'ä'][pick(4)],
        [IpAddr::from([0, 0, 0, 1]), IpAddr::from([97; 16])][pick(2)],
    )
}

#[test]
fn tuples_are_one_key_exactly_if_all_their_parts_are() {
    let mut g = Gen::new(100);
    for _ in 0..20_000 {
        let one = six(&mut g);
        let mut other = six(&mut g);
        // Few are equal by chance: let all parts but one be.
        match u8::arbitrary(&mut g) % 7 {
            0 => other = (other.0, one.1, one.2.clone(), one.3, one.4, one.5),
            1 => other = (one.0.clone(), other.1, one.2.clone(), one.3, one.4, one.5),
            2 => other = (one.0.clone(), one.1, other.2, one.3, one.4, one.5),
            3 => other = (one.0.clone(), one.1, one.2.clone(), other.3, one.4, one.5),
            4 => other = (one.0.clone(), one.1, one.2.clone(), one.3, other.4, one.5),
            5 => other = (one.0.clone(), one.1, one.2.clone(), one.3, one.4, other.5),
            _ => {}
        }
        assert_eq!(same(&one, &other), one == other, "{one:?}, {other:?}");
        let (a, b, c, d, e, f) = one;
        assert!(same(&(&a, b, &c, d, e, f), &((&a, (b, &c)), d, (e, (f,)))));
        assert!(!same(&(&a, b, &c, d, e, f), &(&a, b, &c, d, e)));
        assert!(!same(&(&a, b, &c, d, e, f), &(&a, b, &c, d, e, f, "")));
    }
}

#[test]
fn tuples_have_up_to_eight_parts() {
    assert!(same(&("a",), "a"));
    assert!(same(&(1, 2, 3, 4, 5), &((1, 2, 3), (4, 5))));
    assert!(same(&(1, 2, 3, 4, 5, 6, 7), &((1, 2, 3, 4), (5, 6, 7))));
    assert!(same(
        &(1, 2, 3, 4, 5, 6, 7, 8),
        &((1, 2, 3, 4), (5, 6, 7, 8))
    ));
    assert!(!same(&(1, 2, 3, 4, 5, 6, 7, 8), &(1, 2, 3, 4, 5, 6, 8, 7)));
    assert!(Key::is_empty(&("", "", "", "", "", "", "", "")));
    assert!(!Key::is_empty(&("", "", "", "", "", "", "", 'a')));
}

#[test]
fn what_names_a_client_is_a_key_of_whatever_type() {
    assert!(same(&true, &1_u8) && same(&false, &0_u8) && !same(&true, &false));
    assert!(same(&'a', "a") && same(&'ä', "ä") && !same(&'7', &7_u8));
    assert!(!Key::is_empty(&'\0') && !Key::is_empty(&false));
    let seven = NonZero::new(7_u32).unwrap();
    assert!(same(&seven, &7_u64) && !Key::is_empty(&seven));
    assert!(same(&NonZero::new(-7_i64).unwrap(), &-7_i8));
    let text = String::from("a");
    assert!(same(&Arc::new(text), "a"));
    assert!(same(&Box::<[u8]>::from([b'a']), "a") && same(&Arc::<[u8]>::from([b'a']), "a"));
    assert!(same(&std::borrow::Cow::<[u8]>::Borrowed(b"a"), "a"));
}

#[test]
fn client_has_one_key_however_its_address_is_written() {
    let v4 = Ipv4Addr::new(192, 0, 2, 1);
    assert!(same(&v4, &IpAddr::V4(v4)));
    assert!(same(&v4, &v4.to_ipv6_mapped()));
    assert!(same(&v4, &IpAddr::V6(v4.to_ipv6_mapped())));
    let v6: Ipv6Addr = "2001:db8::1".parse().unwrap();
    assert!(same(&v6, &IpAddr::V6(v6)));
    assert!(!same(&v6, &v4));
    assert!(![IpAddr::V4(v4), IpAddr::V6(v6)].iter().any(Key::is_empty));
    assert!(!Key::is_empty(&v4) && !Key::is_empty(&v6));
}

#[test]
fn key_is_empty_if_all_its_fields_are() {
    assert!(Key::is_empty("") && Key::is_empty(&String::new()) && Key::is_empty(&b""[..]));
    assert!(Key::is_empty(&[0_u8; 0]) && Key::is_empty(&&""));
    assert!(Key::is_empty(&("", "")) && Key::is_empty(&("", "", ("", ""))));
    assert!(Key::is_empty(&Box::<str>::from("")));
    assert!(
        !Key::is_empty(&("", "a")) && !Key::is_empty(&("a", "")) && !Key::is_empty(&("", 0_u8))
    );
    assert!(!Key::is_empty(&0_u64) && !Key::is_empty(&0_u128) && !Key::is_empty(&[0_u8; 1]));
    assert!(OwnedKey::of(&("", "")).is_empty() && !OwnedKey::of(&0_u8).is_empty());
}

#[test]
fn prefix_is_a_field_in_front_and_does_not_fill_an_empty_key() {
    let prefixed = |key| Prefix {
        space: Some("login"),
        key,
    };
    assert!(same(&prefixed("alice"), &("login", "alice")));
    assert!(!same(&prefixed("alice"), "alice"));
    assert!(same(
        &Prefix {
            space: None,
            key: "alice"
        },
        "alice"
    ));
    assert!(prefixed("").is_empty() && !prefixed("a").is_empty());
}

#[test]
fn fingerprint_depends_on_both_hash_keys_and_is_never_zero() {
    struct Constant(u64);
    impl BuildHasher for Constant {
        type Hasher = Self;
        fn build_hasher(&self) -> Self {
            Self(self.0)
        }
    }
    impl std::hash::Hasher for Constant {
        fn finish(&self) -> u64 {
            self.0
        }
        fn write(&mut self, _: &[u8]) {}
    }
    let bits = |low, high| Fingerprint::of("a", &[Constant(low), Constant(high)]).bits();
    // Twice the length of the last field is laid over both.
    assert_eq!(bits(5, 7), (7 ^ 2) << 64 | (5 ^ 2));
    assert_eq!(bits(2, 2), 1);
    let hashes = hashes();
    let print = Fingerprint::of("alice", &hashes).bits();
    assert_ne!(print as u64, (print >> 64) as u64);
    assert_ne!(print, Fingerprint::of("alice", &self::hashes()).bits());
}

#[test]
fn bytes_of_every_length_count_to_the_last_one_and_so_does_where_a_field_ends() {
    const LONGEST: usize = 50;
    let all: Vec<u8> = (1..=LONGEST as u8).collect();
    let hashes = hashes();
    let mut prints = std::collections::HashSet::new();
    for length in 0..=LONGEST {
        let (run, others) = all.split_at(length);
        assert!(prints.insert(Fingerprint::of(run, &hashes)));
        // The same bytes in two fields, and one byte changed, to zero and to another.
        assert!(prints.insert(Fingerprint::of(&(run, others), &hashes)));
        for (at, byte) in (0..length).flat_map(|at| [(at, 0), (at, 0xff)]) {
            let mut changed = run.to_vec();
            changed[at] = byte;
            assert!(
                prints.insert(Fingerprint::of(&changed, &hashes)),
                "{at} of {length}"
            );
        }
        // What follows is not mistaken for the zeros that fill a word.
        for zeros in 1..=LONGEST {
            let longer = [run, &vec![0; zeros]].concat();
            assert!(prints.insert(Fingerprint::of(&(longer, "longer"), &hashes)));
        }
    }
}
