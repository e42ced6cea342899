use crate::project::check;
use serde_json::{Value, json};

/// The places of the problems of a document with these sections.
fn problems(sections: Value) -> Vec<String> {
    let mut document = json!({
        "id": "shop",
        "scopes": [{ "id": "site.write", "description": "x", "allows": ["publish"], "intent_types": ["PUBLISH"] }],
    });
    document.as_object_mut().unwrap().extend(sections.as_object().unwrap().clone());
    check(&serde_json::from_value(document).unwrap()).into_iter().map(|problem| problem.at).collect()
}

#[test]
fn users_belong_to_a_named_issuer_and_get_known_roles() {
    for issuer in ["local", "https://idp.example", "https://idp.example/realms/staff"] {
        assert_eq!(problems(json!({ "scim": { "issuer": issuer } })), [""; 0], "{issuer}");
    }
    for issuer in
        ["", "idp.example", "http://idp.example", "https://", "https://a@idp.example", "https://idp.example?x"]
    {
        assert_eq!(problems(json!({ "scim": { "issuer": issuer } })), ["scim.issuer"], "{issuer}");
    }
    let policy = |roles: &[&str], more: &[&str]| json!({ "scim": { "issuer": "local", "roles": roles, "assignable_roles": more } });
    assert_eq!(problems(policy(&["user", "approver"], &["admin"])), [""; 0]);
    assert_eq!(problems(policy(&[], &[])), ["scim.roles"]);
    assert_eq!(problems(policy(&["owner"], &[])), ["scim.roles"]);
    assert_eq!(problems(policy(&["user"], &["owner"])), ["scim.assignable_roles"]);
}

///
#[test]
fn a_transmitter_has_its_keys_below_its_own_issuer() {
    let with = |issuer: &str, keys: &str| {
        problems(json!({ "shared_signals": [{ "issuer": issuer, "jwks_uri": keys, "audience": "us" }] }))
    };
    let realm = "https://idp.example/realms/a";
    for (issuer, keys) in [
        ("https://idp.example", "https://idp.example/.well-known/jwks.json"),
        ("https://idp.example/", "https://idp.example/keys"),
        (realm, "https://idp.example/realms/a/certs"),
    ] {
        assert_eq!(with(issuer, keys), [""; 0], "{keys}");
    }
    for keys in [
        "https://idp.example/realms/b/certs",
        "https://idp.example/realms/ab",
        "https://idp.example/realms/a/../b/certs",
        "https://idp.example/realms/a/%2e%2e/b/certs",
        "https://idp.example/realms/a/..\\b",
        "https://idp.example.evil.example/realms/a/certs",
        "http://idp.example/realms/a/certs",
        "",
    ] {
        assert_eq!(with(realm, keys), ["shared_signals[0]"], "{keys}");
    }
    let one = json!({ "issuer": realm, "jwks_uri": format!("{realm}/certs"), "audience": "us" });
    assert_eq!(problems(json!({ "shared_signals": [one, one] })), ["shared_signals[1]"]);
}
