//! What a limit is counted per.

mod fingerprint;
#[cfg(feature = "alloc")]
mod owned;

pub use fingerprint::Fingerprint;
#[cfg(feature = "alloc")]
pub use owned::OwnedKey;

use core::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    num::NonZero,
};

/// What a limit is counted per: a user, an address, a path, or several of them in a tuple.
///
/// Text, bytes, numbers, `bool`, `char` and IP addresses are keys, and so are references and pointers to them, and tuples of up to eight keys.
/// What is not, for a reason: a `SocketAddr`, whose port changes with each connection, so that nobody would ever be denied (take its `ip()`); an
/// `Option`, as only the caller knows whether those without a value are one client or none; floating point. Of a `Uuid` take its `as_u128()` or its
/// bytes.
///
/// A key is a sequence of fields; each field is a run of bytes or a number. It writes itself into a
/// [`KeySink`], so that nothing is formatted or allocated to look it up. Two keys are equal when their
/// sequences are: `"a"` and `b"a"` are equal, `7u64` and `7u32` are equal, `7u64` and `"7"` are not, and neither are `("a", "bc")`
/// and `("ab", "c")`. Every store uses this one notion.
///
/// ```
/// use tk_core::{Key, KeySink};
///
/// struct Session { user: u64, device: String }
///
/// impl Key for Session {
///     fn feed<S: KeySink>(&self, sink: &mut S) {
///         (self.user, self.device.as_str()).feed(sink);
///     }
///     fn is_empty(&self) -> bool { false }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a key",
    label = "not a key",
    note = "a key is text, bytes, a number, an IP address, or a tuple of up to eight of them",
    note = "of a `SocketAddr` take `.ip()`: its port changes with each connection",
    note = "of a `Uuid` take `.as_u128()`; of an `Option` decide what counts for those without a value"
)]
pub trait Key: Sync {
    /// Writes the fields into `sink`, with [`KeySink::next_field`] between two of them.
    fn feed<S: KeySink>(&self, sink: &mut S);

    /// Whether there is nothing in it. Limiters refuse such a key.
    fn is_empty(&self) -> bool;
}

/// Takes in a key, field by field.
///
/// A field is one call of [`bytes`](KeySink::bytes) or [`number`](KeySink::number).
pub trait KeySink {
    /// A field of bytes.
    fn bytes(&mut self, bytes: &[u8]);
    /// A field that is a number.
    fn number(&mut self, number: u128);
    /// The next field follows.
    fn next_field(&mut self);
}

macro_rules! byte_keys {
    ($($type:ty: $as_bytes:expr),* $(,)?) => { $(
        impl Key for $type {
            // Inlined always: a sink that goes through memory takes a fifth longer.
            #[inline(always)]
            fn feed<S: KeySink>(&self, sink: &mut S) {
                let as_bytes: fn(&$type) -> &[u8] = $as_bytes;
                sink.bytes(as_bytes(self));
            }

            fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }
    )* };
}

byte_keys! { str: |s| s.as_bytes(), [u8]: |b| b }
#[cfg(feature = "alloc")]
byte_keys! { alloc::string::String: |s| s.as_bytes(), alloc::vec::Vec<u8>: |b| b }

impl<const N: usize> Key for [u8; N] {
    fn feed<S: KeySink>(&self, sink: &mut S) {
        sink.bytes(self);
    }

    fn is_empty(&self) -> bool {
        N == 0
    }
}

macro_rules! number_keys {
    ($($type:ty),* as $wide:ty) => { $(
        /// The number; a negative one is its two's complement in 128 bits. One number is one key, of whatever type.
        impl Key for $type {
            #[inline(always)]
            fn feed<S: KeySink>(&self, sink: &mut S) {
                sink.number(*self as $wide as u128);
            }

            fn is_empty(&self) -> bool {
                false
            }
        }
    )* };
}

number_keys!(u8, u16, u32, u64, u128, usize as u128);
number_keys!(i8, i16, i32, i64, i128, isize as i128);

macro_rules! nonzero_keys {
    ($($type:ty),*) => { $(
        /// The number.
        impl Key for NonZero<$type> {
            fn feed<S: KeySink>(&self, sink: &mut S) {
                self.get().feed(sink);
            }

            fn is_empty(&self) -> bool {
                false
            }
        }
    )* };
}

nonzero_keys!(u8, u16, u32, u64, u128, usize);
nonzero_keys!(i8, i16, i32, i64, i128, isize);

/// The number 1 or 0.
impl Key for bool {
    fn feed<S: KeySink>(&self, sink: &mut S) {
        sink.number(u128::from(*self));
    }

    fn is_empty(&self) -> bool {
        false
    }
}

/// The text of one character.
impl Key for char {
    fn feed<S: KeySink>(&self, sink: &mut S) {
        sink.bytes(self.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn is_empty(&self) -> bool {
        false
    }
}

/// The octets: an IPv4 address mapped into IPv6 equals the IPv4 address, so that one client has one key.
impl Key for IpAddr {
    fn feed<S: KeySink>(&self, sink: &mut S) {
        match self.to_canonical() {
            IpAddr::V4(address) => sink.bytes(&address.octets()),
            IpAddr::V6(address) => sink.bytes(&address.octets()),
        }
    }

    fn is_empty(&self) -> bool {
        false
    }
}

impl Key for Ipv4Addr {
    fn feed<S: KeySink>(&self, sink: &mut S) {
        IpAddr::V4(*self).feed(sink);
    }

    fn is_empty(&self) -> bool {
        false
    }
}

impl Key for Ipv6Addr {
    fn feed<S: KeySink>(&self, sink: &mut S) {
        IpAddr::V6(*self).feed(sink);
    }

    fn is_empty(&self) -> bool {
        false
    }
}

#[cfg(feature = "alloc")]
impl<K: Key + ?Sized + alloc::borrow::ToOwned<Owned: Sync>> Key for alloc::borrow::Cow<'_, K> {
    fn feed<S: KeySink>(&self, sink: &mut S) {
        (**self).feed(sink);
    }

    fn is_empty(&self) -> bool {
        (**self).is_empty()
    }
}

#[cfg(feature = "alloc")]
macro_rules! pointer_keys {
    ($($type:ty),*) => { $(
        impl<K: Key + ?Sized + Send> Key for $type {
            fn feed<S: KeySink>(&self, sink: &mut S) {
                (**self).feed(sink);
            }

            fn is_empty(&self) -> bool {
                (**self).is_empty()
            }
        }
    )* };
}

#[cfg(feature = "alloc")]
pointer_keys!(alloc::boxed::Box<K>, alloc::sync::Arc<K>);

impl<K: Key + ?Sized> Key for &K {
    fn feed<S: KeySink>(&self, sink: &mut S) {
        (**self).feed(sink);
    }

    fn is_empty(&self) -> bool {
        (**self).is_empty()
    }
}

macro_rules! tuple_keys {
    ($(($first:ident $($rest:ident)*))*) => { $(
        /// The fields of the parts in turn; empty if all parts are.
        impl<$first: Key, $($rest: Key),*> Key for ($first, $($rest),*) {
            #[allow(non_snake_case, reason = "the type parameters name the parts")]
            fn feed<Sink: KeySink>(&self, sink: &mut Sink) {
                let ($first, $($rest),*) = self;
                $first.feed(sink);
                $( sink.next_field(); $rest.feed(sink); )*
            }

            #[allow(non_snake_case, reason = "the type parameters name the parts")]
            fn is_empty(&self) -> bool {
                let ($first, $($rest),*) = self;
                $first.is_empty() $( && $rest.is_empty() )*
            }
        }
    )* };
}

tuple_keys! {
    (A)
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E F)
    (A B C D E F G)
    (A B C D E F G H)
}
