//! A name space in front of keys.

use crate::{Key, KeySink};

/// A key in a name space: the fields of `space`, if there is one, and then those of `key`.
///
/// Limiters that share a store keep their counters apart by it.
#[derive(Clone, Copy, Debug)]
pub struct Prefix<'a, K: ?Sized> {
    /// The name space.
    pub space: Option<&'a str>,
    /// The key within it.
    pub key: &'a K,
}

impl<K: Key + ?Sized> Key for Prefix<'_, K> {
    #[inline]
    fn feed<S: KeySink>(&self, sink: &mut S) {
        if let Some(space) = self.space {
            sink.bytes(space.as_bytes());
            sink.next_field();
        }
        self.key.feed(sink);
    }

    /// Whether the key within the name space is empty.
    #[inline]
    fn is_empty(&self) -> bool {
        self.key.is_empty()
    }
}
