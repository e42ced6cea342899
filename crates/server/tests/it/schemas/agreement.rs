//! All validators agree: on the plane's documents, and on copies with one fault each.

use super::{
    NAMES, problems,
    produced::{self, Documents},
    published_problems, published_schemas, root, schema, without_extensions,
};
use countersign_protocol::aap::{
    audit::{AuditEntry, AuditPage},
    revoke::{RollbackReport, RollbackStatus, RollbackStep},
};
use serde_json::{Value, json};
use std::{
    io::Write as _,
    process::{Command, Stdio},
};

/// A pointer into a document and its new value; none removes it.
type Spoil = (&'static str, &'static str, Option<Value>);

/// AAP-19.1-01, AAP-19.1-02, AAP-19.1-04, AAP-19.1-05, AAP-19.1-07, AAP-19.1-09, AAP-19.1-10, AAP-19.1-11, AAP-19.1-12,
/// AAP-19.1-13, AAP-19.1-14, AAP-19.1-15, AAP-19.1-16
#[tokio::test]
async fn our_schemas_another_languages_validator_and_the_published_ones_where_they_are_at_hand_agree() {
    let sound = all_produced().await;
    let mut cases: Vec<Case<'_>> = Vec::new();
    for (name, document) in &sound {
        cases.push(Case { name, document: document.clone(), sound: true, what: "as produced".into() });
    }
    for (name, place, put) in spoils() {
        let (_, document) =
            sound.iter().find(|(n, d)| *n == name && has_parent(d, place)).expect("a document to spoil");
        let what = format!("{place} = {}", put.as_ref().map_or("nothing".into(), Value::to_string));
        cases.push(Case { name, document: spoiled(document, place, put), sound: false, what });
    }
    for case in &cases {
        case.judge_here();
    }
    judge_elsewhere(&cases);
}

/// AAP-3.1-04: the placeholder is the schema's only error in a service-level manifest.
#[tokio::test]
async fn the_service_level_manifest_differs_from_the_schema_by_its_templates_alone() {
    let plane = countersign_testkit::Kit(countersign_testkit::Backend::Sqlite);
    let plane = plane.plane_with(countersign_testkit::Setup::multi()).await;
    let manifest = plane.get("/.well-known/agent-auth.json").await.expect(200).json();
    let endpoints = manifest["endpoints"].as_object().unwrap();
    let at = |prefix: &str| {
        let mut all: Vec<String> = endpoints.keys().map(|e| format!("{prefix}format at /endpoints/{e}")).collect();
        all.sort();
        all
    };
    let mut found = problems("manifest", &manifest);
    found.sort();
    assert_eq!(found, at(""));
    let mut found = published_problems("manifest", &manifest);
    found.sort();
    let expected = if published_schemas().is_some() { at("published: ") } else { Vec::new() };
    assert_eq!(found, expected);
}

/// AAP-19.1-16
#[test]
fn the_manifests_schema_is_the_protocols_and_the_documented_extensions_and_closed() {
    let ours = schema("manifest");
    assert_eq!(ours["additionalProperties"], false);
    let mut known: Vec<&str> = PROTOCOLS_OWN.to_vec();
    known.extend(countersign_protocol::aap::manifest::EXTENSIONS);
    known.sort_unstable();
    let mut listed: Vec<&str> = ours["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    listed.sort_unstable();
    assert_eq!(listed, known);
    if let Some(published) = published_schemas() {
        let mut theirs: Vec<_> = published["manifest"]["properties"].as_object().unwrap().keys().collect();
        theirs.sort_unstable();
        assert_eq!(theirs, PROTOCOLS_OWN);
    }
}

const PROTOCOLS_OWN: &[&str] = &[
    "conformance",
    "credential_ttl",
    "display_name",
    "endpoints",
    "identity_modes_supported",
    "intent_required",
    "minimum_tier",
    "scope_expansion",
    "scopes",
    "service",
    "spec",
];

/// AAP-16.1-01
#[test]
fn the_envelopes_schema_lists_exactly_the_codes_that_there_are() {
    let listed: Vec<String> =
        serde_json::from_value(schema("error-envelope")["properties"]["error"]["enum"].clone()).unwrap();
    let codes: Vec<&str> = countersign_protocol::aap::error::Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(listed, codes);
}

/// Every member that an entry can have is in the closed schema of the page.
#[test]
fn the_audit_pages_schema_has_every_member_that_is_served() {
    let text = || Some("x".to_owned());
    let entry = AuditEntry {
        timestamp: countersign_protocol::time::UnixMillis(0),
        event_type: "call".into(),
        mode: Some("user_delegated".into()),
        method: text(),
        path: text(),
        intent_type: Some("READ".into()),
        intent_type_known: Some(false),
        session_id: text(),
        delegation_id: Some("del_0123456789abcdef".into()),
        operator: Some("acme.test".into()),
        acting_for: text(),
        account_id: Some("svc_acme_prod".into()),
        data_subjects: Some(vec!["user_a".into()]),
        action: text(),
        outcome: Some("unknown: the connection broke".into()),
        effect: Some("unknown".into()),
        rollback_status: Some(RollbackStatus::Partial),
        rollback: Some(RollbackReport {
            done: vec![RollbackStep { call_id: text(), decision_id: text(), action: text(), why: text() }],
            more: true,
            ..RollbackReport::default()
        }),
        reason: text(),
        by: Some("agent".into()),
        trigger: text(),
        summary: text(),
        jkt: Some("A".repeat(43)),
        call_id: Some(format!("call_{}", "0".repeat(32))),
        decision_id: text(),
        action_sha256: Some("0".repeat(64)),
        scopes: Some(vec!["calendar.write".into()]),
        expanded_scope: text(),
        confirmation: Some("self_asserted".into()),
        dry_run: Some(true),
        evidence_fault: Some("the leaf does not fit its hash".into()),
        lane: 1,
        seq: 1,
        leaf_hash: "0".repeat(64),
    };
    let page = AuditPage { entries: vec![entry], next_cursor: None, total_count: 1 };
    super::assert_valid("audit-page", &serde_json::to_value(&page).unwrap());
}

#[test]
fn a_token_is_called_bearer_or_dpop_and_nothing_else() {
    let answer = |token_type: &str| {
        json!({ "access_token": "aat_0123456789012345678901234567890123456789012", "token_type": token_type,
            "expires_in": 3600, "session_id": "sess_0000", "effective_policy": {} })
    };
    for (token_type, sound) in [("Bearer", true), ("DPoP", true), ("dpop", false), ("MAC", false)] {
        assert_eq!(problems("register-response", &answer(token_type)).is_empty(), sound, "{token_type}");
    }
}

async fn all_produced() -> Documents {
    let mut all = produced::of_one_project().await;
    all.extend(produced::of_many_projects().await);
    for (name, _) in NAMES {
        assert!(all.iter().any(|(n, _)| n == name), "nothing was produced for {name}");
    }
    all
}

struct Case<'a> {
    name: &'a str,
    document: Value,
    sound: bool,
    what: String,
}

impl Case<'_> {
    fn judge_here(&self) {
        let found = problems(self.name, &self.document);
        assert_eq!(found.is_empty(), self.sound, "{} with {}: {found:#?}\n{:#}", self.name, self.what, self.document);
        if published_id(self.name).is_some() && !self.is_ours_alone() {
            let found = published_problems(self.name, &self.document);
            assert_eq!(found.is_empty(), self.sound, "published {} with {}: {found:#?}", self.name, self.what);
        }
    }

    /// A case where ours is stricter than the published one, for a documented reason.
    fn is_ours_alone(&self) -> bool {
        let stricter = [
            ("manifest", "/service = \"https://api.example.test/\""),
            ("operator-identity", "/signing_keys = \"http://acme.test/keys.json\""),
            ("effective-policy", "/max_duration = \"30d\""),
        ];
        stricter.iter().any(|(name, what)| *name == self.name && *what == self.what)
    }
}

fn published_id(name: &str) -> Option<String> {
    let theirs = NAMES.iter().find(|(n, _)| *n == name)?.1?;
    Some(published_schemas()?[theirs]["$id"].as_str()?.to_owned())
}

/// The same cases through ajv, by our schemas and by the published ones.
fn judge_elsewhere(cases: &[Case<'_>]) {
    let id = |name: &str| schema(name)["$id"].clone();
    let mut schemas: Vec<Value> = NAMES.iter().map(|(name, _)| schema(name)).collect();
    schemas.extend(published_schemas().iter().flat_map(|all| all.as_object().unwrap().values().cloned()));
    let mut asked: Vec<(&Case<'_>, Value)> =
        cases.iter().map(|case| (case, json!({ "schema": id(case.name), "document": case.document }))).collect();
    for case in cases.iter().filter(|case| !case.is_ours_alone()) {
        if let Some(id) = published_id(case.name) {
            let document = without_extensions(case.name, &case.document);
            asked.push((case, json!({ "schema": id, "document": document })));
        }
    }
    let verdicts = ajv(&json!({ "schemas": schemas, "cases": asked.iter().map(|(_, c)| c).collect::<Vec<_>>() }));
    assert_eq!(verdicts.len(), asked.len());
    for ((case, asked), valid) in asked.iter().zip(verdicts) {
        assert_eq!(valid, case.sound, "ajv by {}: {} with {}\n{asked:#}", asked["schema"], case.name, case.what);
    }
}

fn ajv(input: &Value) -> Vec<bool> {
    let mut node = Command::new("node");
    node.arg(root().join("tests/tools/judge-documents.mjs"));
    let mut child = node.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("these tests need Node");
    child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the second judge failed; is ajv installed? (./test --prepare)");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn has_parent(document: &Value, place: &str) -> bool {
    let parent = place.rsplit_once('/').unwrap().0;
    document.pointer(parent).is_some()
}

fn spoiled(document: &Value, place: &str, put: Option<Value>) -> Value {
    let mut document = document.clone();
    let (parent, member) = place.rsplit_once('/').unwrap();
    let members = document.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match put {
        Some(value) => members.insert(member.to_owned(), value),
        None => Some(members.remove(member).unwrap_or_else(|| panic!("{place} was not there to be taken away"))),
    };
    document
}

fn spoils() -> Vec<Spoil> {
    let required = [
        ("manifest", &["/spec", "/service", "/minimum_tier", "/endpoints", "/conformance"][..]),
        ("manifest", &["/endpoints/register", "/endpoints/delegate", "/endpoints/revoke", "/endpoints/audit"]),
        ("manifest", &["/conformance/tier", "/conformance/spec"]),
        ("manifest", &["/scopes/0/id", "/scopes/0/description", "/scopes/0/allows"]),
        ("operator-identity", &["/operator", "/domain", "/signing_keys", "/contact"]),
        ("consent-receipt", &["/iss", "/aud", "/sub", "/delegation_id", "/intent", "/scopes", "/consent_method"]),
        ("consent-receipt", &["/session_id", "/iat", "/exp", "/execution_window/earliest", "/execution_window/latest"]),
        ("delegation-token", &["/iss", "/sub", "/delegated_to", "/delegation_id", "/scopes", "/iat", "/exp"]),
        ("delegation-token", &["/max_agent_ttl"]),
        ("error-envelope", &["/error", "/error_description", "/request_id"]),
        ("audit-page", &["/entries", "/next_cursor", "/total_count", "/entries/0/timestamp", "/entries/0/seq"]),
        (
            "dry-run-preview",
            &["/dry_run", "/route", "/would_need", "/would_send/body_sha256", "/would_use/limits", "/next"],
        ),
        ("register-response", &["/access_token", "/token_type", "/expires_in", "/session_id", "/effective_policy"]),
    ];
    let taken = required.into_iter().flat_map(|(name, places)| places.iter().map(move |place| (name, *place, None)));
    taken.chain(wrong_values().into_iter().map(|(name, place, value)| (name, place, Some(value)))).collect()
}

fn wrong_values() -> Vec<(&'static str, &'static str, Value)> {
    let long = |n: usize| json!("x".repeat(n));
    vec![
        ("manifest", "/something_else", json!(true)),
        ("manifest", "/spec", json!("aap/2.0-draft")),
        ("manifest", "/service", json!("api.example.test")),
        ("manifest", "/service", json!("https://api.example.test/")),
        ("manifest", "/display_name", long(81)),
        ("manifest", "/minimum_tier", json!(0)),
        ("manifest", "/minimum_tier", json!(5)),
        ("manifest", "/intent_required", json!("yes")),
        ("manifest", "/credential_ttl", json!(299)),
        ("manifest", "/credential_ttl", json!(86401)),
        ("manifest", "/scope_expansion", json!("sometimes")),
        ("manifest", "/identity_modes_supported", json!([])),
        ("manifest", "/identity_modes_supported", json!(["robot"])),
        ("manifest", "/scopes/0/id", json!("Calendar.Write")),
        ("manifest", "/scopes/0/id", json!("calendar")),
        ("manifest", "/scopes/0/id", json!("calendar.write.all")),
        ("manifest", "/scopes/0/description", long(201)),
        ("manifest", "/scopes/0/allows", json!([])),
        ("manifest", "/scopes/0/allows", json!([7])),
        ("manifest", "/endpoints/audit", json!("not a reference")),
        ("manifest", "/conformance/tier", json!("platinum")),
        ("operator-identity", "/operator", long(121)),
        ("operator-identity", "/domain", json!("https://acme.test")),
        ("operator-identity", "/contact", json!("nobody")),
        ("operator-identity", "/signing_keys", json!("keys.json")),
        ("operator-identity", "/signing_keys", json!("http://acme.test/keys.json")),
        ("operator-identity", "/since", json!("2025-13-01")),
        ("operator-identity", "/model_providers", json!(["https://models.test"])),
        ("consent-receipt", "/iss", json!("https://acme.test")),
        ("consent-receipt", "/aud", json!("api.example.test")),
        ("consent-receipt", "/intent", long(501)),
        ("consent-receipt", "/scopes", json!([])),
        ("consent-receipt", "/consent_method", json!("telepathy")),
        ("consent-receipt", "/usage_limits/requests_per_hour", json!(0)),
        ("consent-receipt", "/usage_limits/writes_per_session", json!(1.5)),
        ("consent-receipt", "/execution_window/earliest", json!("tomorrow")),
        ("consent-receipt", "/iat", json!("now")),
        ("delegation-token", "/effective_policy", json!({})),
        ("delegation-token", "/iss", json!("api.example.test")),
        ("delegation-token", "/delegated_to", json!("https://acme.test")),
        ("delegation-token", "/delegation_id", json!("del_SHOUT")),
        ("delegation-token", "/scopes", json!([])),
        ("delegation-token", "/max_agent_ttl", json!(299)),
        ("delegation-token", "/max_agent_ttl", json!(86401)),
        ("delegation-token", "/exp", json!(1.5)),
        ("effective-policy", "/expires_at", json!("2026-11-15")),
        ("effective-policy", "/inactivity_timeout", json!(3599)),
        ("effective-policy", "/on_events", json!(["full.moon"])),
        ("effective-policy", "/max_duration", json!("30d")),
        ("error-envelope", "/error", json!("oops")),
        ("error-envelope", "/error_description", json!("")),
        ("error-envelope", "/hint", json!("")),
        ("error-envelope", "/docs_url", json!("not a uri")),
        ("error-envelope", "/stack", json!("main.rs")),
        ("audit-page", "/entries/0/intent", json!("what somebody said")),
        ("audit-page", "/entries/0/timestamp", json!("2026-11-15")),
        ("audit-page", "/total_count", json!("many")),
        ("dry-run-preview", "/dry_run", json!(false)),
        ("dry-run-preview", "/digest", json!("short")),
        ("dry-run-preview", "/would_need", json!("luck")),
        ("dry-run-preview", "/would_hold_for_undo", json!(0)),
        ("register-response", "/token_type", json!("bearer")),
        ("register-response", "/effective_policy", json!({ "expires_at": "soon" })),
        ("register-response", "/refresh_token", json!("r")),
    ]
}
