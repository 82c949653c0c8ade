//! How a limiter's key becomes a key of the server.
//!
//! `{prefix:policy:strategy:fields}`, one hash tag around all of it: whatever belongs to a key lives in one slot of a cluster, and
//! keys spread over all slots. Fields are separated by `:` and stay readable. A byte field escapes what has a meaning
//! here, and control characters, as `%XX`; a number is written `#7`, so that it never equals the text `7`. A key whose
//! fields take more than 128 bytes is replaced by `~` and its SHA-256: a key of a megabyte costs the server 65 bytes.

use sha2::{Digest, Sha256};
use tk_core::{Key, KeySink};

/// The longest fields that are written out.
const MAX_READABLE: usize = 128;

/// Room for fields that are not uncommonly long.
const USUAL: usize = 48;

/// What stands in front of the fields of all keys of a store: `{prefix:policy:strategy:`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Space(Vec<u8>);

impl Space {
    pub(crate) fn new(prefix: &str, policy: &str, strategy: &str) -> Self {
        let mut text = vec![b'{'];
        for part in [prefix, policy, strategy] {
            escape(part.as_bytes(), &mut text);
            text.push(b':');
        }
        Self(text)
    }

    /// The server's key for `key`.
    pub(crate) fn key<K: Key + ?Sized>(&self, key: &K) -> Vec<u8> {
        let mut text = Vec::with_capacity(self.0.len() + USUAL);
        text.extend_from_slice(&self.0);
        let mut sink = Sink {
            text,
            start: self.0.len(),
            digest: None,
        };
        key.feed(&mut sink);
        sink.finish()
    }
}

struct Sink {
    text: Vec<u8>,
    /// Where the fields begin.
    start: usize,
    /// Takes the fields in, once there are too many of them.
    digest: Option<Sha256>,
}

impl Sink {
    /// Moves the fields written so far into the digest, if they are too long to be written out.
    fn settle(&mut self) {
        if self.digest.is_some() || self.text.len() - self.start > MAX_READABLE {
            let digest = self.digest.get_or_insert_with(Sha256::new);
            digest.update(&self.text[self.start..]);
            self.text.truncate(self.start);
        }
    }

    fn finish(mut self) -> Vec<u8> {
        if let Some(digest) = self.digest {
            self.text.push(b'~');
            for byte in digest.finalize() {
                push_hex(byte, &mut self.text);
            }
        }
        self.text.push(b'}');
        self.text
    }
}

impl KeySink for Sink {
    fn bytes(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(1_024) {
            escape(chunk, &mut self.text);
            self.settle();
        }
    }

    fn number(&mut self, number: u128) {
        self.text.push(b'#');
        self.text.extend_from_slice(number.to_string().as_bytes());
        self.settle();
    }

    fn next_field(&mut self) {
        self.text.push(b':');
        self.settle();
    }
}

fn escape(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        if byte.is_ascii_control() || b" %{}:#~".contains(&byte) {
            out.push(b'%');
            push_hex(byte, out);
        } else {
            out.push(byte);
        }
    }
}

fn push_hex(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.push(DIGITS[usize::from(byte >> 4)]);
    out.push(DIGITS[usize::from(byte & 15)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key<K: Key + ?Sized>(key: &K) -> String {
        String::from_utf8(Space::new("tk", "api", "gcra").key(key)).unwrap()
    }

    #[test]
    fn keys_are_readable() {
        assert_eq!(key("alice"), "{tk:api:gcra:alice}");
        assert_eq!(key(&("GET", 7u64)), "{tk:api:gcra:GET:#7}");
        assert_eq!(key("größe"), "{tk:api:gcra:größe}");
    }

    #[test]
    fn separators_and_braces_in_keys_are_harmless() {
        assert_eq!(key("a}b{c:d"), "{tk:api:gcra:a%7db%7bc%3ad}");
        assert_ne!(key(&("a", "b")), key("a:b"));
        assert_ne!(key(&("a", "bc")), key(&("ab", "c")));
        assert_ne!(key("%3a"), key(":"));
        assert_eq!(key("\0\r\n \x7f"), "{tk:api:gcra:%00%0d%0a%20%7f}");
        let spaces =
            [("a:b", "c"), ("a", "b:c")].map(|(prefix, policy)| Space::new(prefix, policy, "gcra"));
        assert_ne!(spaces[0], spaces[1]);
    }

    #[test]
    fn a_number_never_equals_its_text() {
        assert_ne!(key(&7u64), key("7"));
        assert_ne!(key(&7u64), key("#7"));
        assert_eq!(key(&7u64), key(&7u8));
    }

    #[test]
    fn long_keys_are_hashed_and_stay_apart() {
        let long = "x".repeat(1 << 20);
        let hashed = key(&long);
        assert_eq!(hashed.len(), "{tk:api:gcra:~}".len() + 64);
        assert_ne!(hashed, key(&format!("{long}x")));
        assert_eq!(hashed, key(&long));
        let half = &long[..1 << 19];
        assert_ne!(hashed, key(&(half, half)));
        let digest = hashed
            .trim_start_matches("{tk:api:gcra:")
            .trim_end_matches('}');
        assert_ne!(hashed, key(digest), "a key that looks like a digest");
    }

    #[test]
    fn keys_on_either_side_of_the_longest_stay_apart() {
        let keys: Vec<_> = (120..140).map(|length| key(&"k".repeat(length))).collect();
        for (i, one) in keys.iter().enumerate() {
            assert!(keys[..i].iter().all(|other| other != one));
            assert_eq!(one.contains('~'), i + 120 > MAX_READABLE);
        }
    }
}
