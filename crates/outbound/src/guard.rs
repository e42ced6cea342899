//! The addresses that may be connected to when a stranger chose the name: public unicast only (C-68).

#[cfg(test)]
mod tests;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The address is valid, but a stranger must not be able to make the node connect to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{address} is not public: {why}")]
pub struct Forbidden {
    pub address: IpAddr,
    pub why: &'static str,
}

/// Accepts an address for a name that anybody may have chosen. Static hosts of the configuration are not checked.
pub fn is_public(address: IpAddr) -> Result<(), Forbidden> {
    let why = match address {
        IpAddr::V4(v4) => forbidden_v4(v4),
        IpAddr::V6(v6) => forbidden_v6(v6),
    };
    why.map_or(Ok(()), |why| Err(Forbidden { address, why }))
}

/// The IANA registry of special-purpose addresses, and a cloud metadata service with a public address.
const V4: &[([u8; 4], u32, &str)] = &[
    ([0, 0, 0, 0], 8, "unspecified"),
    ([10, 0, 0, 0], 8, "private"),
    ([100, 64, 0, 0], 10, "shared by a carrier"),
    ([127, 0, 0, 0], 8, "loopback"),
    ([168, 63, 129, 16], 32, "metadata of a cloud"),
    ([169, 254, 0, 0], 16, "link-local"),
    ([172, 16, 0, 0], 12, "private"),
    ([192, 0, 0, 0], 24, "reserved for protocols"),
    ([192, 0, 2, 0], 24, "documentation"),
    ([192, 88, 99, 0], 24, "6to4 relay"),
    ([192, 168, 0, 0], 16, "private"),
    ([198, 18, 0, 0], 15, "benchmarking"),
    ([198, 51, 100, 0], 24, "documentation"),
    ([203, 0, 113, 0], 24, "documentation"),
    ([224, 0, 0, 0], 4, "multicast"),
    ([240, 0, 0, 0], 4, "reserved or broadcast"),
];

/// Named for the reader of a log; an address in no row must still be global unicast.
const V6: &[([u16; 8], u32, &str)] = &[
    ([0, 0, 0, 0, 0, 0, 0, 0], 128, "unspecified"),
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, "loopback"),
    ([0, 0, 0, 0, 0, 0xffff, 0, 0], 96, "an IPv4 address in disguise"),
    ([0, 0, 0, 0, 0, 0, 0, 0], 96, "an IPv4 address in disguise"),
    ([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96, "NAT64"),
    ([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, "NAT64"),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, "Teredo"),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, "reserved for protocols"),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, "documentation"),
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, "6to4"),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, "documentation"),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, "unique local"),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, "link-local"),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, "multicast"),
];

fn forbidden_v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    let inside = |net: &[u8; 4], prefix: u32| (bits ^ Ipv4Addr::from(*net).to_bits()).leading_zeros() >= prefix;
    V4.iter().find(|(net, prefix, _)| inside(net, *prefix)).map(|(_, _, why)| *why)
}

fn forbidden_v6(address: Ipv6Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    let inside = |net: &[u16; 8], prefix: u32| (bits ^ Ipv6Addr::from(*net).to_bits()).leading_zeros() >= prefix;
    let named = V6.iter().find(|(net, prefix, _)| inside(net, *prefix)).map(|(_, _, why)| *why);
    // Only 2000::/3 has ever been allocated as global unicast: the rest is refused without a name.
    named.or_else(|| (!inside(&[0x2000, 0, 0, 0, 0, 0, 0, 0], 3)).then_some("not global unicast"))
}
