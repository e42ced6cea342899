//! `/.well-known/agent-auth.json`

use crate::schemas;
use axum::body::Body;
use countersign_protocol::aap::version;
use countersign_testkit::{Backend, Kit, Plane, Setup, agent_request};
use http::{Method, Request};
use serde_json::{Value, json};

const PATH: &str = "/.well-known/agent-auth.json";

async fn plane_with(setup: Setup) -> Plane {
    Kit(Backend::Sqlite).plane_with(setup).await
}

async fn manifest(plane: &Plane) -> Value {
    plane.get(PATH).await.expect(200).json()
}

/// AAP-3-01
#[tokio::test]
async fn anybody_can_read_the_manifest_and_nobody_can_do_anything_else_to_it() {
    let plane = plane_with(Setup::default()).await;
    for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
        let answer = plane.send(Request::builder().method(&method).uri(PATH).body(Body::empty()).unwrap()).await;
        assert_eq!(answer.refusal(), (405, "method_not_allowed".into()), "{method}");
        assert_eq!(answer.header("allow"), Some("GET,HEAD"));
    }
    let answer = plane.get(PATH).await.expect(200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    schemas::assert_valid("manifest", &answer.json());
}

/// AAP-3-02
#[tokio::test]
async fn a_page_for_people_stands_beside_the_manifest_where_the_project_has_one() {
    let bare = plane_with(Setup::default()).await;
    assert_eq!(manifest(&bare).await.get("companion"), None);
    assert_eq!(bare.get("/.well-known/agent-auth.txt").await.refusal(), (404, "not_found".into()));

    let plane = plane_with(Setup::with_project(|p| p.companion = Some("How agents use our calendar".into()))).await;
    let named = manifest(&plane).await["companion"].as_str().unwrap().to_owned();
    let page = plane.get(&named).await.expect(200);
    assert_eq!(page.text(), "How agents use our calendar");
    assert_eq!(page.header("content-type"), Some("text/plain; charset=utf-8"));
}

/// AAP-3-02: also with several projects, by both addresses of each.
#[tokio::test]
async fn each_project_has_a_page_of_its_own() {
    let mut setup = Setup::multi();
    setup.projects[0].companion = Some("the north".into());
    setup.projects[1].companion = Some("the south".into());
    let plane = plane_with(setup).await;
    for (base, query, words) in [
        ("", "?projectId=north", "the north"),
        ("", "?projectId=south", "the south"),
        ("https://south.api.example.test", "", "the south"),
    ] {
        let manifest = plane.get(&format!("{base}{PATH}{query}")).await.expect(200).json();
        let companion = format!("{base}{}", manifest["companion"].as_str().unwrap());
        assert_eq!(plane.get(&companion).await.expect(200).text(), words);
    }
    let crossed = plane.get("https://south.api.example.test/.well-known/agent-auth.txt?projectId=north").await;
    assert_eq!(crossed.refusal(), (404, "project_not_found".into()));
}

/// AAP-19.1-02, AAP-19.1-03
#[tokio::test]
async fn the_manifest_says_which_protocol_it_speaks_and_the_services_exact_name() {
    let plane = plane_with(Setup::default()).await;
    let manifest = manifest(&plane).await;
    assert_eq!(manifest["spec"], "aap/2.0");
    assert_eq!(manifest["conformance"], json!({ "tier": "core", "spec": "aap/2.0" }));
    let service = manifest["service"].as_str().unwrap();
    assert_eq!(service, plane.service());
    let parsed = url::Url::parse(service).unwrap();
    assert_eq!((parsed.scheme(), service.ends_with('/')), ("https", false));
    for wrong in
        ["https://api.example.test/", "http://api.example.test", "api.example.test", "https://API.example.test"]
    {
        let text = format!("[public]\norigin = \"{wrong}\"");
        let file = Some((std::path::Path::new("node.toml"), text.as_str()));
        let refused = countersign_server::config::from_text(file, &Default::default()).unwrap_err();
        assert_eq!(refused.problems[0].key, "public.origin", "{wrong}");
    }
}

/// AAP-22.3-01
#[tokio::test]
async fn every_version_that_is_served_is_listed_under_all_three_names() {
    let manifest = manifest(&plane_with(Setup::default()).await).await;
    assert_eq!(manifest["spec_versions_accepted"], json!(version::ACCEPTED));
    assert_eq!(manifest["spec_versions_accepted"], json!(["2.0"]));
    assert_eq!(manifest["spec_versions_supported"], json!(["aap/2.0"]));
    assert_eq!(manifest["spec_version_preferred"], "aap/2.0");
}

/// AAP-12.4-04
#[tokio::test]
async fn every_scope_publishes_the_words_in_which_an_intent_is_named() {
    let manifest = manifest(&plane_with(Setup::default()).await).await;
    let scopes = manifest["scopes"].as_array().unwrap();
    assert_eq!(scopes.len(), 5);
    for scope in scopes {
        let types = scope["intent_types"].as_array().unwrap();
        assert!(!types.is_empty() && types.iter().all(|t| t.is_string()), "{scope}");
    }
    assert_eq!(scopes[0]["intent_types"], json!(["READ_CALENDAR", "SCHEDULE_EVENT"]));
    schemas::assert_valid("manifest", &manifest);
}

/// AAP-17-01, AAP-19.1-14
#[tokio::test]
async fn every_endpoint_that_a_manifest_names_answers_there() {
    let one = plane_with(Setup::default()).await;
    let many = plane_with(Setup::multi()).await;
    for (plane, base, query) in [
        (&one, "", ""),
        (&one, "", "?projectId=calendar"),
        (&many, "", "?projectId=north"),
        (&many, "https://north.api.example.test", ""),
    ] {
        let manifest = plane.get(&format!("{base}{PATH}{query}")).await.expect(200).json();
        schemas::assert_valid("manifest", &manifest);
        let endpoints = manifest["endpoints"].as_object().unwrap();
        assert!(["register", "delegate", "revoke", "audit"].iter().all(|name| endpoints.contains_key(*name)));
        for (name, path) in endpoints {
            let reads = ["audit", "access_summary", "scope_approval"].contains(&name.as_str());
            let method = if reads { Method::GET } else { Method::POST };
            let path = format!("{base}{}", path.as_str().unwrap());
            let answer = plane.send(agent_request(method, &path).body(Body::from("{}")).unwrap()).await;
            assert!([400, 401].contains(&answer.status), "{name} at {path}: {}", answer.text());
        }
    }
}
