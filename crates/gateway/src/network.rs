//! An address or a range of addresses: `10.1.2.3`, `10.0.0.0/8`, `fd00::/8`.

#[cfg(test)]
mod tests;

use http::HeaderMap;
use serde::Deserialize;
use std::net::{IpAddr, Ipv6Addr};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    base: IpAddr,
    prefix: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an address such as 10.1.2.3 or a range such as 10.0.0.0/8")]
pub struct NotANetwork;

impl Network {
    pub fn parse(text: &str) -> Result<Self, NotANetwork> {
        let (base, prefix) = text.split_once('/').map_or((text, None), |(base, prefix)| (base, Some(prefix)));
        let base: IpAddr = base.parse().map_err(|_| NotANetwork)?;
        let prefix = prefix.map_or(Ok(width(base)), str::parse).map_err(|_| NotANetwork)?;
        if prefix <= width(base) { Ok(Self { base, prefix }) } else { Err(NotANetwork) }
    }

    /// An IPv4 address that arrives on an IPv6 socket (`::ffff:10.1.2.3`) is the IPv4 address.
    pub fn contains(&self, address: IpAddr) -> bool {
        let (base, address) = (self.base.to_canonical(), address.to_canonical());
        let shift = u32::from(width(self.base) - self.prefix);
        base.is_ipv4() == address.is_ipv4() && shifted(base, shift) == shifted(address, shift)
    }
}

/// The part of an address that a caller cannot change at will: an IPv4 address, or the /64 of an IPv6 one.
pub fn source(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        v4 => v4,
    }
}

/// The caller's address: the peer's, or as a trusted proxy reports it in the last hop of `X-Forwarded-For`.
pub fn client_address(peer: IpAddr, headers: &HeaderMap, trusted_proxies: &[Network]) -> IpAddr {
    let trusted = trusted_proxies.iter().any(|network| network.contains(peer));
    if trusted { forwarded_for(headers).unwrap_or(peer) } else { peer }
}

fn forwarded_for(headers: &HeaderMap) -> Option<IpAddr> {
    let last = headers.get_all("x-forwarded-for").iter().next_back()?.to_str().ok()?;
    last.rsplit(',').next()?.trim().parse().ok()
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// The bits of the network. A /0 shifts all bits out, which an ordinary shift cannot express.
fn shifted(address: IpAddr, by: u32) -> u128 {
    let bits = match address {
        IpAddr::V4(v4) => u128::from(v4.to_bits()),
        IpAddr::V6(v6) => v6.to_bits(),
    };
    bits.checked_shr(by).unwrap_or(0)
}

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}
