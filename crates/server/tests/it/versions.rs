//! The negotiated version (AAP 13.4, 22), and the handling of unknown members.

mod headers;
mod refused;
mod unknown_members;

use countersign_protocol::aap::version;

/// The choice of a version. This build serves one, so no response can show it yet.
#[test]
fn the_version_that_was_asked_for_is_served_though_a_newer_one_is_there() {
    let both = &["2.0", "2.1"];
    assert_eq!(version::negotiate(Some("2.0"), both), Some("2.0"));
    assert_eq!(version::negotiate(Some("2.1"), both), Some("2.1"));
    for other in ["2", "2.", "2.00", "2.2", "1.9", "3.0", "", "aap/2.0", "2.0, 2.1"] {
        assert_eq!(version::negotiate(Some(other), both), None, "{other:?}");
    }
    assert_eq!(version::negotiate(None, both), None, "nothing asked, nothing chosen");
}
