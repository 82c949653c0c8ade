//! What a line is counted per.

use std::{
    borrow::Cow,
    net::{IpAddr, Ipv6Addr},
    str,
};

use throttlekit::Timestamp;

use crate::{args::KeyBy, line::Entry};

impl<'a> Entry<'a> {
    /// The instant and the key of this line; `None` if the line lacks what the key is made of.
    pub(crate) fn keyed(&self, by: KeyBy) -> Option<(Timestamp, Cow<'a, [u8]>)> {
        let key = match by {
            KeyBy::Ip => address(self.host, |address| address),
            KeyBy::Ip64 => address(self.host, network),
            KeyBy::Path => self.path()?.into(),
            KeyBy::Field(number) => self.field(number.get() - 1)?.into(),
        };
        (!key.is_empty()).then_some((self.at, key))
    }
}

/// The address in its usual form, so that one client has one key; a host name as it is.
fn address(host: &[u8], of: impl Fn(IpAddr) -> IpAddr) -> Cow<'_, [u8]> {
    let parsed = str::from_utf8(host)
        .ok()
        .and_then(|host| host.parse::<IpAddr>().ok());
    match parsed.map(|address| of(address.to_canonical())) {
        Some(address) => address.to_string().into_bytes().into(),
        None => host.into(),
    }
}

/// The first 64 bits of an IPv6 address: one subscriber owns all addresses behind them.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
    }
}
