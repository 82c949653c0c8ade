//! Which keys are the same.

use std::{
    fmt::Debug,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use tk_core::{Key, OwnedKey, Strategy};

use super::{Harness, twin};

/// All claims of this module.
pub async fn all<S: Strategy + Debug, H: Harness<S>>(harness: &H, strategy: &S) {
    different_keys_count_apart(harness, strategy).await;
    equal_keys_count_together(harness, strategy).await;
}

/// No two of these are the same key, whatever they look like when written out.
pub async fn different_keys_count_apart<S: Strategy + Debug, H: Harness<S>>(
    harness: &H,
    strategy: &S,
) {
    let mut twin = twin(harness, strategy, "different keys count apart").await;
    let all = strategy.capacity();
    for key in different() {
        let first = twin.decide(&key, all).await;
        twin.claim(
            first.allowed,
            format_args!("{key:?} was charged by another key"),
        );
    }
}

/// Each pair is one key.
pub async fn equal_keys_count_together<S: Strategy + Debug, H: Harness<S>>(
    harness: &H,
    strategy: &S,
) {
    let mut twin = twin(harness, strategy, "equal keys count together").await;
    let all = strategy.capacity();
    for (one, other) in equal() {
        let first = twin.decide(&one, all).await;
        twin.claim(
            first.allowed,
            format_args!("{one:?} was charged by another key"),
        );
        let second = twin.decide(&other, 1).await;
        twin.claim(
            second.is_denied(),
            format_args!("{one:?} and {other:?} count apart"),
        );
    }
}

fn own<K: Key + ?Sized>(key: &K) -> OwnedKey {
    OwnedKey::of(key)
}

#[expect(clippy::too_many_lines, reason = "one list, read as one")]
fn different() -> Vec<OwnedKey> {
    let mut keys: Vec<_> = [
        "a",
        "A",
        "a ",
        " a",
        "ä",
        "7",
        "07",
        "+7",
        "0",
        "-",
        "_",
        "a\0",
        "\0",
        "\n",
        "a:b",
        "a|b",
        "a/b",
        "a\\b",
        "a%3Ab",
        "%",
        "%25",
        "{a}",
        "{",
        "}",
        "a}b{",
        "a,b",
        "a;b",
        "\"",
        "#7",
        "n7",
        "7n",
        "192.0.2.1",
        "*",
        "?",
        "[a]",
        "$a",
    ]
    .iter()
    .map(|text| own(*text))
    .collect();
    keys.extend([
        own(&7_u64),
        own(&0_u8),
        own(&u64::MAX),
        own(&u128::MAX),
        own(&(1_u128 << 64)),
        own(&("a", "b")),
        own(&("ab", "")),
        own(&("", "ab")),
        own(&("a", "")),
        own(&("", "a")),
        own(&("a", "", "")),
        own(&("a:", "b")),
        own(&("a", ":b")),
        own(&("a|", "b")),
        own(&("a\\", "b")),
        own(&("a%", "b")),
        own(&("a", "b", "c")),
        own(&("a", "bc")),
        own(&("a", 7_u64)),
        own(&("a", "7")),
        own(&("a7", "")),
        own(&(7_u64, "a")),
        own(&(7_u64, 7_u64)),
        own(&(77_u64, "")),
        own(&("", 77_u64)),
        own(&[0xff_u8, 0xfe]),
        own(&[0xff_u8]),
        own(&[0_u8, 0]),
        own(&IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1))),
        own(&IpAddr::V6(Ipv6Addr::LOCALHOST)),
        own("x".repeat(1_000).as_str()),
        own("x".repeat(1_001).as_str()),
    ]);
    keys
}

fn equal() -> Vec<(OwnedKey, OwnedKey)> {
    let (address, another) = (Ipv4Addr::new(192, 0, 2, 7), Ipv4Addr::new(192, 0, 2, 8));
    vec![
        (own("alice"), own(b"alice")),
        (own("bob"), own(&String::from("bob"))),
        (own("carol"), own(&&"carol")),
        (own("dave"), own(&b"dave".to_vec())),
        (own(&7_u64), own(&7_u32)),
        (own(&9_u8), own(&9_u128)),
        (own(&("a", 1_u64)), own(&(String::from("a"), 1_u16))),
        (own(&(("a", "b"), "c")), own(&("a", ("b", "c")))),
        (own(&address), own(&address.octets())),
        (own(&IpAddr::V4(another)), own(&another.to_ipv6_mapped())),
    ]
}
