//! A key that owns its fields.

use alloc::{boxed::Box, vec::Vec};

use crate::{Key, KeySink};

/// A copy of any key, for those who must remember one: equal to the original as a key.
///
/// ```
/// use tk_core::OwnedKey;
///
/// assert_eq!(OwnedKey::of(&("GET", 7u64)), OwnedKey::of(&("GET".to_string(), 7u32)));
/// assert_ne!(OwnedKey::of(&("a", "bc")), OwnedKey::of(&("ab", "c")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OwnedKey(Box<[Field]>);

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Field {
    Bytes(Box<[u8]>),
    Number(u128),
}

impl OwnedKey {
    /// Copies `key`.
    pub fn of<K: Key + ?Sized>(key: &K) -> Self {
        let mut fields = Vec::new();
        key.feed(&mut Collect(&mut fields));
        Self(fields.into_boxed_slice())
    }
}

struct Collect<'a>(&'a mut Vec<Field>);

impl KeySink for Collect<'_> {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.push(Field::Bytes(bytes.into()));
    }

    fn number(&mut self, number: u128) {
        self.0.push(Field::Number(number));
    }

    fn next_field(&mut self) {}
}

impl Key for OwnedKey {
    fn feed<S: KeySink>(&self, sink: &mut S) {
        for (i, field) in self.0.iter().enumerate() {
            if i > 0 {
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
