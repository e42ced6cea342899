use super::{ManifestContext, manifest};
use crate::aaep::negotiate::Offer;
use countersign_protocol::aaep::{envelope::Producer, manifest::Manifest};

#[test]
fn the_manifest_is_accepted_by_our_own_reader_and_agrees_with_the_offer() {
    let producer = Producer {
        agent_id: "countersign".into(),
        agent_version: Some("0.1.0".into()),
        agent_name: None,
        model: None,
        manifest_uri: None,
    };
    let about = ManifestContext {
        producer: &producer,
        origin: "https://plane.example",
        path_prefix: "/aaep/v1",
        max_concurrent_subscriptions: Some(10_000),
        contact: None,
    };
    let offer = Offer::default();
    let made = manifest(&about, &offer);
    let read = Manifest::parse(&serde_json::to_vec(&made).unwrap()).unwrap();
    assert_eq!(read, made);
    assert_eq!((&made.aaep_versions_supported, &made.languages_supported), (&offer.versions, &offer.languages));
    assert_eq!(made.conformance_levels_supported, [1, 2, 3]);
    let bindings = made.countersign.unwrap().bindings;
    let uris: Vec<_> = bindings.iter().filter_map(|binding| binding.uri.as_deref()).collect();
    assert_eq!(uris, ["https://plane.example/aaep/v1/events", "wss://plane.example/aaep/v1/ws"]);
}
