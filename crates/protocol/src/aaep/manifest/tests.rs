use super::*;
use serde_json::json;

fn manifest() -> Value {
    json!({ "@context": "https://aaep-protocol.org/context/v1", "type": "aaep:producer.manifest", "agent_id": "hub",
        "aaep_versions_supported": ["1.0.0"], "conformance_levels_supported": [1, 2, 3],
        "transports_supported": ["sse"] })
}

fn parse(manifest: &Value) -> Result<Manifest, MemberProblem> {
    Manifest::parse(manifest.to_string().as_bytes())
}

#[test]
fn an_invalid_manifest_is_reported_by_its_member() {
    for (member, wrong) in [
        ("@context", json!("https://shop.example/v1")),
        ("type", json!("aaep:agent.manifest")),
        ("agent_id", json!("")),
        ("aaep_versions_supported", json!([])),
        ("aaep_versions_supported", json!(["one"])),
        ("conformance_levels_supported", json!([])),
        ("conformance_levels_supported", json!([4])),
        ("transports_supported", json!([""])),
        ("languages_supported", json!(["en_US"])),
        ("extensions_supported", json!(["x"])),
        ("default_verbosity", json!("loud")),
        ("max_concurrent_subscriptions", json!(0)),
        ("contact", json!("")),
        ("dev_countersign", json!({})),
        ("dev_countersign", json!({ "path_prefix": "aaep" })),
        ("dev_countersign", json!({ "path_prefix": "/aaep", "bindings": [{ "uri": "x" }] })),
    ] {
        let mut manifest = manifest();
        manifest[member] = wrong;
        let problem = parse(&manifest).unwrap_err();
        assert!(problem.member.starts_with(&format!("manifest.{member}")) || problem.member == member, "{problem}");
    }
    assert!(Manifest::parse(b"[]").is_err() && Manifest::parse(b"nonsense").is_err());
}

#[test]
fn a_manifest_without_extras_is_read() {
    let read = parse(&manifest()).unwrap();
    assert_eq!((read.agent_id.as_str(), read.countersign, read.languages_supported.len()), ("hub", None, 0));
}
