use super::{Network, NotANetwork, source};
use std::net::IpAddr;

fn contains(network: &str, address: &str) -> bool {
    Network::parse(network).expect("a network").contains(address.parse::<IpAddr>().expect("an address"))
}

#[test]
fn a_text_that_is_neither_address_nor_range_is_refused() {
    for text in ["", "10.0.0.0/33", "10.0.0.0/", "fd00::/129", "example.com", "10.0.0/8", "10.0.0.0/-1"] {
        assert_eq!(Network::parse(text), Err(NotANetwork), "{text}");
    }
}

#[test]
fn a_range_contains_its_own_addresses_and_no_others() {
    assert!(contains("10.0.0.0/8", "10.255.0.1"));
    assert!(!contains("10.0.0.0/8", "11.0.0.1"));
    assert!(contains("192.0.2.7", "192.0.2.7"));
    assert!(!contains("192.0.2.7", "192.0.2.8"));
    assert!(contains("fd00::/8", "fd12::1"));
    assert!(contains("0.0.0.0/0", "203.0.113.9"));
    assert!(!contains("::/0", "203.0.113.9"));
}

#[test]
fn an_ipv4_address_on_an_ipv6_socket_is_the_same_address() {
    assert!(contains("10.0.0.0/8", "::ffff:10.1.2.3"));
    assert!(!contains("10.0.0.0/8", "::ffff:11.1.2.3"));
    assert!(contains("::ffff:10.0.0.0/104", "10.1.2.3"));
}

#[test]
fn one_caller_is_an_ipv4_address_or_a_64_bit_network() {
    let of = |address: &str| source(address.parse().expect("an address")).to_string();
    assert_eq!(of("192.0.2.7"), "192.0.2.7");
    assert_eq!(of("::ffff:192.0.2.7"), "192.0.2.7");
    assert_eq!(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
    assert_ne!(of("2001:db8:1:3::"), of("2001:db8:1:2::"));
}
