//! Documents of others, sent through the door: a refusal for every constraint of the schemas (AAP 19), and none for a member
//! that they do not know (C-07).

use super::schema;
use crate::{
    register::support::{Ready, SQLITE, claims_of, with},
    service_accounts::{Account, Desk},
};
use countersign_protocol::aap::manifest::{EXTENSIONS, Manifest};
use countersign_testkit::{Answer, on_sqlite};
use serde_json::{Value, json};

/// A syntactically wrong value of each format.
const WRONG_FORMATS: [(&str, &str); 6] = [
    ("uri", "no uri"),
    ("uri-reference", "no reference"),
    ("hostname", "no host"),
    ("email", "nobody"),
    ("date", "2025-13-01"),
    ("date-time", "2025-06-02 at noon"),
];

/// Copies of a sound document with one violated constraint each, by keyword and place.
fn violations(schema: &Value, sound: &Value) -> Vec<(String, Value)> {
    let spoil = |(keyword, place, put): (String, String, Option<Value>)| {
        let mut document = sound.clone();
        let (parent, member) = place.rsplit_once('/').unwrap_or_default();
        match put {
            Some(value) if place.is_empty() => document = value,
            Some(value) => *document.pointer_mut(&place).unwrap_or_else(|| panic!("nothing at {place}")) = value,
            None => drop(document.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(member)),
        }
        (format!("{keyword} at {place}"), document)
    };
    constraints(schema, "").into_iter().map(spoil).collect()
}

/// A keyword, its place, and a value that violates it; none where a member must be left out.
fn constraints(schema: &Value, place: &str) -> Vec<(String, String, Option<Value>)> {
    let mut all = Vec::new();
    for (keyword, value) in schema.as_object().unwrap() {
        match (keyword.as_str(), value) {
            ("$schema" | "$id" | "title" | "description" | "default", _) | ("additionalProperties", Value::Bool(_)) => {
            }
            ("required", _) => {
                let names = value.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
                all.extend(names.map(|name| (keyword.clone(), format!("{place}/{name}"), None)));
            }
            ("properties", _) => {
                let members = value.as_object().unwrap().iter();
                all.extend(members.flat_map(|(name, schema)| constraints(schema, &format!("{place}/{name}"))));
            }
            ("items", _) => all.extend(constraints(value, &format!("{place}/0"))),
            // Of the endpoints, which have any names.
            ("additionalProperties", _) => all.extend(constraints(value, &format!("{place}/register"))),
            _ => all.push((keyword.clone(), place.to_owned(), Some(violating(keyword, value)))),
        }
    }
    all
}

fn violating(keyword: &str, value: &Value) -> Value {
    let long = |n: i64| json!("x".repeat(usize::try_from(n).unwrap()));
    match (keyword, value.as_str(), value.as_i64()) {
        ("type", Some("string"), _) => json!(7),
        ("type", Some(_), _) => json!("text"),
        ("format", Some(format), _) => json!(WRONG_FORMATS.iter().find(|(known, _)| *known == format).unwrap().1),
        ("enum" | "pattern", ..) => json!("none of these!"),
        ("minItems", ..) => json!([]),
        ("minLength", _, Some(n)) => long(n - 1),
        ("maxLength", _, Some(n)) => long(n + 1),
        ("minimum", _, Some(n)) => json!(n - 1),
        ("maximum", _, Some(n)) => json!(n + 1),
        unknown => panic!("no violation of {unknown:?}"),
    }
}

/// With a member that no schema knows.
fn with_more(sound: &Value) -> Value {
    with(sound.clone(), "favourite_colour", json!({ "of": ["2.1"] }))
}

#[track_caller]
fn assert_refused(answer: &Answer, codes: &[&str], what: &str) {
    assert!(
        codes.contains(&answer.code().as_str()) && [401, 403].contains(&answer.status),
        "{what}: {}",
        answer.text()
    );
}

on_sqlite! {
    /// AAP-19-01, AAP-19-02
    async fn an_operators_manifest_that_violates_its_schema_is_none_and_one_with_more_is_taken(kit) {
        let ready = Ready::at(kit.plane().await).await;
        let acme = ready.plane.acme();
        let mut sound = acme.identity();
        sound["webhook_url"] = json!("https://acme.test/hook");
        sound["since"] = json!("2025-01-31");
        sound["model_providers"] = json!(["models.test"]);
        sound["countersign"]["liability_disclosure"] = json!("We are liable.");
        for (what, identity) in violations(&schema("operator-identity"), &sound) {
            acme.publish_identity(&identity);
            ready.plane.advance_secs(3601).await;
            assert_refused(&ready.register(&ready.body()).await, &["operator_not_found", "operator_jwt_invalid"], &what);
        }
        for identity in [sound.clone(), with_more(&sound)] {
            acme.publish_identity(&identity);
            ready.plane.advance_secs(3601).await;
            ready.register(&ready.body()).await.expect(200);
        }
    }

    /// AAP-19-01, AAP-19-02
    async fn a_receipt_that_violates_its_schema_is_refused_and_one_with_more_is_taken(kit) {
        let ready = Ready::at(kit.plane().await).await;
        let now = ready.plane.now();
        let mut sound = ready.receipt();
        sound["usage_limits"] = json!({ "requests_per_hour": 10, "writes_per_session": 1, "max_data_egress_kb": 64 });
        sound["execution_window"] = json!({ "earliest": now.to_rfc3339(), "latest": now.plus_secs(60).to_rfc3339() });
        for (what, claims) in violations(&schema("consent-receipt"), &sound) {
            let answer = ready.register(&ready.body_with(&claims)).await;
            assert_refused(&answer, &["consent_invalid", "consent_service_mismatch"], &what);
        }
        for claims in [sound.clone(), with_more(&sound)] {
            ready.register(&ready.body_with(&claims)).await.expect(200);
        }
    }

    /// AAP-19-01, AAP-19-02: what only we issue is closed.
    async fn a_delegation_token_that_violates_its_schema_is_refused_and_one_with_more_too(kit) {
        let ready = Ready::at(kit.plane().await).await;
        let sound = claims_of(&ready.connected.delegation_token);
        let spoiled = violations(&schema("delegation-token"), &sound);
        for (what, claims) in spoiled.into_iter().chain([("more".into(), with_more(&sound))]) {
            let body = with(ready.body(), "delegation_token", json!(ready.plane.sign_delegation(&claims).await));
            assert_refused(&ready.register(&body).await, &["delegation_invalid"], &what);
        }
        let body = with(ready.body(), "delegation_token", json!(ready.plane.sign_delegation(&sound).await));
        ready.register(&body).await.expect(200);
    }

    /// AAP-19-01, AAP-19-02
    async fn a_service_accounts_token_that_violates_its_schema_is_refused_and_one_with_more_too(kit) {
        let desk = Desk::open(kit).await;
        let account = desk.grant(|_| {}).await;
        let sound = claims_of(&account.token);
        let mut spoiled = violations(&service_account_schema(), &sound);
        let mut wider = sound.clone();
        wider["granted_scope"] = with_more(&sound["granted_scope"]);
        spoiled.extend([("more".to_owned(), with_more(&sound)), ("more in granted_scope".into(), wider)]);
        let registers = async |claims: &Value| {
            let token = desk.scene.plane.sign_delegation(claims).await;
            desk.registers(&Account { id: account.id.clone(), grant: account.grant.clone(), token }, |_| {}).await
        };
        for (what, claims) in spoiled {
            assert_refused(&registers(&claims).await, &["delegation_invalid"], &what);
        }
        registers(&sound).await.expect(200);
    }
}

/// AAP 19.5 in our words; the token has no file of its own.
fn service_account_schema() -> Value {
    let text = |more: Value| {
        let mut schema = json!({ "type": "string" });
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    json!({
        "type": "object",
        "required": ["iss", "sub", "delegated_to", "authorized_by", "org_id", "granted_scope", "iat", "exp"],
        "properties": {
            "iss": text(json!({ "format": "uri" })),
            "sub": text(json!({ "pattern": "^svc_[a-z0-9_]{3,64}$" })),
            "delegated_to": text(json!({ "format": "hostname" })),
            "authorized_by": text(json!({ "format": "email" })),
            "org_id": text(json!({})),
            "granted_scope": {
                "type": "object", "required": ["description", "scopes", "crosses_users"],
                "properties": {
                    "description": text(json!({ "maxLength": 200 })), "resources": texts,
                    "scopes": with(texts.clone(), "minItems", json!(1)), "crosses_users": { "type": "boolean" },
                },
            },
            "iat": { "type": "integer" }, "exp": { "type": "integer" },
        },
    })
}

/// AAP-19-01, AAP-19-02
#[tokio::test]
async fn a_manifest_that_violates_its_schema_is_not_usable_and_one_with_more_is() {
    let plane = SQLITE.plane().await;
    let mut sound = plane.get("/.well-known/agent-auth.json").await.expect(200).json();
    sound["scopes"][0]["explicitly_excludes"] = json!(["events.delete"]);
    for (what, document) in violations(&published_members(schema("manifest")), &sound) {
        assert!(Manifest::parse(document.to_string().as_bytes()).is_err(), "{what}");
    }
    for document in [sound.clone(), with_more(&sound)] {
        Manifest::parse(document.to_string().as_bytes()).unwrap();
    }
}

/// Our schema of the manifest without our extensions to it.
fn published_members(mut schema: Value) -> Value {
    const OF_A_SCOPE: [&str; 4] = ["id", "description", "allows", "explicitly_excludes"];
    let mut scope = schema["$defs"]["scope"].take();
    scope["properties"].as_object_mut().unwrap().retain(|name, _| OF_A_SCOPE.contains(&name.as_str()));
    schema.as_object_mut().unwrap().remove("$defs");
    schema["properties"].as_object_mut().unwrap().retain(|name, _| !EXTENSIONS.contains(&name.as_str()));
    schema["properties"]["conformance"]["properties"].as_object_mut().unwrap().remove("tested");
    schema["properties"]["scopes"]["items"] = scope;
    schema
}

/// AAP-19-02: the schemas above have each of the formats.
#[test]
fn every_format_has_a_place_in_an_incoming_document() {
    let all =
        ["operator-identity", "consent-receipt", "delegation-token", "manifest"].map(|name| schema(name).to_string());
    for (format, _) in WRONG_FORMATS {
        let asserted = format!("\"format\":\"{format}\"");
        assert!(all.iter().any(|schema| schema.contains(&asserted)), "{format}");
    }
}
