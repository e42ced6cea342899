#![allow(clippy::unwrap_used, reason = "tests say what went wrong by failing")]

use super::*;

fn network(address: &str, watch: &ConcurrentUse) -> ClientNetwork {
    ClientNetwork::of(address.parse().unwrap(), watch)
}

/// AAP-13.3-05
#[test]
fn a_network_is_the_configured_prefix_of_its_address_family() {
    let watch = ConcurrentUse::default();
    assert_eq!(network("203.0.113.7", &watch).to_string(), "203.0.113.0/24");
    assert_eq!(network("203.0.113.7", &watch), network("::ffff:203.0.113.99", &watch));
    assert_ne!(network("203.0.113.7", &watch), network("203.0.114.7", &watch));
    assert_eq!(network("2001:db8:1:2::3", &watch).to_string(), "2001:db8:1::/48");
    assert_ne!(network("2001:db8:1::1", &watch), network("2001:db8:2::1", &watch));
    let exact = ConcurrentUse { ipv4_prefix: 32, ipv6_prefix: 128, ..watch };
    assert_ne!(network("203.0.113.7", &exact), network("203.0.113.8", &exact));
    assert_eq!(network("2001:db8::1", &exact).to_string(), "2001:db8::1/128");
}

/// AAP-13.3-05
#[test]
fn only_uses_from_two_networks_within_the_window_conflict_in_either_order() {
    let watch = ConcurrentUse::default();
    let used = |address: &str, at: i64| LastUse { network: network(address, &watch), at: UnixMillis(at) };
    let first = used("203.0.113.7", 100_000);
    for (other, conflicts) in [
        (used("203.0.113.200", 100_001), false),
        (used("198.51.100.1", 100_001), true),
        (used("198.51.100.1", 159_999), true),
        (used("198.51.100.1", 160_000), false),
        (used("198.51.100.1", 40_001), true),
        (used("198.51.100.1", 40_000), false),
    ] {
        assert_eq!(first.conflicts_with(&other, watch.window_seconds), conflicts, "{other:?}");
        assert_eq!(other.conflicts_with(&first, watch.window_seconds), conflicts, "{other:?}");
    }
}
