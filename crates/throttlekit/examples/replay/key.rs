//! What a line is counted per.

use std::{
    borrow::Cow,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
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

/// The address in its usual form, so that one client has one key, however its server writes it: in brackets, with a port, or as an
/// IPv4 address mapped into IPv6. A host name stays as it is.
fn address(host: &[u8], of: impl Fn(IpAddr) -> IpAddr) -> Cow<'_, [u8]> {
    match str::from_utf8(host).ok().and_then(parsed) {
        Some((address, None)) => of(address).to_string().into_bytes().into(),
        Some((address, Some(scope))) => format!("{}%{scope}", of(address)).into_bytes().into(),
        None => host.into(),
    }
}

/// The address, and the link that it belongs to if it is told.
fn parsed(host: &str) -> Option<(IpAddr, Option<&str>)> {
    // Nearly all are written so.
    if let Ok(plain) = host.parse::<IpAddr>() {
        return Some((plain.to_canonical(), None));
    }
    let host = without_port(host)?;
    let (address, scope) = match host.split_once('%') {
        Some((address, scope)) => (address, Some(scope)),
        None => (host, None),
    };
    Some((address.parse::<IpAddr>().ok()?.to_canonical(), scope))
}

/// `host` without the port and the brackets that it may have; `None` if what is there instead is neither.
fn without_port(host: &str) -> Option<&str> {
    let (address, port) = match host.strip_prefix('[') {
        Some(bracketed) => bracketed.split_once(']')?,
        None => match host.split_once(':') {
            Some((v4, _)) if v4.parse::<Ipv4Addr>().is_ok() => host.split_at(v4.len()),
            _ => (host, ""),
        },
    };
    let is_port = |port: &str| port.parse::<u16>().is_ok();
    (port.is_empty() || port.strip_prefix(':').is_some_and(is_port)).then_some(address)
}

/// The first 64 bits of an IPv6 address: one subscriber owns all addresses behind them.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
    }
}
