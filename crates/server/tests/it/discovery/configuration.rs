//! A document that violates AAP 19.1 is refused from every source: at the start, and over HTTP.

use countersign_engine::{ApplyError, ApplyRefusal, Role};
use countersign_server::{
    FirstStart,
    config::{Environment, from_text},
};
use countersign_testkit::{Backend, Kit, calendar};
use http::Method;
use serde_json::{Value, json};
use std::path::Path;

/// A pointer into the document, its new value (none: it is removed), and a part of the refusal.
type Case = (&'static str, Option<Value>, &'static str);

/// AAP-19.1-04, AAP-19.1-05, AAP-19.1-07, AAP-19.1-09, AAP-19.1-10, AAP-19.1-11, AAP-19.1-12, AAP-19.1-13
#[tokio::test]
async fn a_document_that_the_protocol_does_not_allow_is_refused_at_start_and_on_every_later_way() {
    let plane = Kit(Backend::Sqlite).plane().await;
    let admin = plane.person_in("calendar", "root", &[Role::Admin]).await;
    let before = admin.get(&plane, "/v1/project").await.expect(200).json();
    for (place, put, why) in refused() {
        let document = with(place, put.clone());
        let case = format!("{place} = {put:?}");

        let started = start_with(&document).await.expect_err(&case);
        assert!(started.contains(why), "{case}: {started}");

        let answer = admin.send(&plane, Method::PUT, "/v1/project", &document).await;
        assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{case}");
        assert!(answer.json()["error_description"].as_str().unwrap().contains(why), "{case}: {}", answer.text());

        if let Ok(document) = serde_json::from_value(document) {
            let refused = plane.engine.apply_project(document, "test").await;
            assert!(matches!(refused, Err(ApplyError::Refused(ApplyRefusal::Problems(_)))), "{case}: {refused:?}");
        }
    }
    assert_eq!(admin.get(&plane, "/v1/project").await.expect(200).json(), before, "something was applied");
}

/// AAP-19.1-04, AAP-19.1-05, AAP-19.1-07, AAP-19.1-12: each boundary value is accepted and published.
#[tokio::test]
async fn values_at_the_protocols_limits_are_applied_and_published() {
    let plane = Kit(Backend::Sqlite).plane().await;
    let admin = plane.person_in("calendar", "root", &[Role::Admin]).await;
    for (place, value) in [
        ("/display_name", json!("x".repeat(80))),
        ("/minimum_tier", json!(1)),
        ("/minimum_tier", json!(2)),
        ("/credential_ttl", json!(300)),
        ("/credential_ttl", json!(86400)),
        ("/identity_modes_supported", json!(["user_delegated"])),
        ("/scopes/0/description", json!("ü".repeat(200))),
    ] {
        let document = with(place, Some(value.clone()));
        admin.send(&plane, Method::PUT, "/v1/project", &document).await.expect(200);
        let manifest = plane.get("/.well-known/agent-auth.json").await.expect(200).json();
        crate::schemas::assert_valid("manifest", &manifest);
        assert_eq!(manifest.pointer(place), Some(&value), "{place}");
    }
    assert_eq!(start_with(&with("/display_name", Some(json!("Fine")))).await, Ok(()));
}

/// AAP-19.1-14, AAP-19.1-15: endpoints and conformance are not configurable, so none can be left out.
#[tokio::test]
async fn nobody_can_configure_endpoints_or_conformance() {
    let plane = Kit(Backend::Sqlite).plane().await;
    let admin = plane.person_in("calendar", "root", &[Role::Admin]).await;
    for (member, value) in [
        ("endpoints", json!({ "register": "/agent/register" })),
        ("conformance", json!({ "tier": "platinum" })),
        ("spec", json!("aap/9.9")),
        ("service", json!("https://elsewhere.test")),
    ] {
        let document = with(&format!("/{member}"), Some(value));
        let answer = admin.send(&plane, Method::PUT, "/v1/project", &document).await;
        assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{member}");
        assert!(start_with(&document).await.unwrap_err().contains(member));
    }
}

fn refused() -> Vec<Case> {
    let text = |n: usize| Some(json!("x".repeat(n)));
    vec![
        ("/display_name", text(81), "display_name"),
        ("/minimum_tier", Some(json!(0)), "minimum_tier"),
        ("/minimum_tier", Some(json!(5)), "minimum_tier"),
        ("/credential_ttl", Some(json!(299)), "credential_ttl"),
        ("/credential_ttl", Some(json!(86401)), "credential_ttl"),
        ("/identity_modes_supported", Some(json!([])), "identity_modes_supported"),
        ("/identity_modes_supported", Some(json!(["robot"])), "identity_modes_supported"),
        ("/scopes/0/id", None, "id"),
        ("/scopes/0/description", None, "description"),
        ("/scopes/0/allows", None, "allows"),
        ("/scopes/0/id", Some(json!("Calendar.Write")), "resource.action"),
        ("/scopes/0/id", Some(json!("calendar")), "resource.action"),
        ("/scopes/0/id", Some(json!("calendar.write.all")), "resource.action"),
        ("/scopes/0/description", text(201), "description"),
        ("/scopes/0/allows", Some(json!([])), "allows"),
        ("/scopes/0/intent_types", Some(json!([])), "intent_types"),
    ]
}

/// The usual document with one change.
fn with(place: &str, put: Option<Value>) -> Value {
    let mut document = serde_json::to_value(calendar("calendar")).unwrap();
    let (parent, member) = place.rsplit_once('/').unwrap();
    let members = document.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match put {
        Some(value) => members.insert(member.to_owned(), value),
        None => Some(members.remove(member).expect("something to take away")),
    };
    document
}

/// A node with this project in its configuration file, from reading the file to listening.
async fn start_with(project: &Value) -> Result<(), String> {
    let folder = Folder::new();
    let text = format!(
        "[keys]\nenvironment = \"SEALING_KEY\"\n[listen]\npublic = \"127.0.0.1:0\"\noperations = \"127.0.0.1:0\"\n{}",
        toml::to_string(&json!({ "project": project })).unwrap()
    );
    let environment = Environment::from([("SEALING_KEY".to_owned(), "07".repeat(32))]);
    let loaded = from_text(Some((&folder.0.join("countersign.toml"), &text)), &environment);
    let loaded = loaded.map_err(|errors| format!("{:?}", errors.problems))?;
    let node =
        countersign_server::start(&loaded, &environment, FirstStart::Allowed).await.map_err(|why| why.to_string())?;
    node.stop().await;
    Ok(())
}

/// A folder for a database file, removed after the test.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("start-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
