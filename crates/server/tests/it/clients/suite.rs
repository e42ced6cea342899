//! The conformance suite of AAEP's authors, as published, at Level 3.

use super::child::{Client, root};
use axum::Router;
use countersign_server::{Limits, serve};
use countersign_testkit::{Backend, Kit, Setup, aaep_judge, leaks::Folder, suite_agent::SuiteAgent};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};
use tokio::net::TcpListener;

/// The suite counts its own two replies to one question against the producer: no producer can pass this.
const UNPASSABLE: &str = "L2-CONF-002";

/// Every check for a producer with events of each kind. Those with `evt` run for each of the four events of the
/// first session.
const CHECKS: &[&str] = &[
    "L1-LIFE-001",
    "L1-LIFE-002",
    "L1-LIFE-003",
    "L1-LIFE-004",
    "L1-SAFETY-002",
    "L1-SAFETY-007",
    "L1-STREAM-001",
    "L1-STREAM-002",
    "L1-STREAM-003",
    "L1-STREAM-004",
    "L1-TOOL-001",
    "L1-TOOL-002",
    "L1-TOOL-003",
    "L1-TOOL-004",
    "L2-CLAR-FLOW-001",
    "L2-CONF-001",
    "L2-CONF-003",
    "L2-CONF-004",
    "L2-CONF-005",
    "L2-CONF-006",
    "L2-CONF-FLOW-ACCEPT-001",
    "L2-CONF-FLOW-REJECT-002",
    "L2-SAFETY-001",
    "L2-SAFETY-003",
    "L2-SAFETY-004",
    "L2-SAFETY-005",
    "L3-HS-001",
    "L3-HS-002",
    "L3-HS-003",
    "L3-HS-004",
    "L3-HS-005",
    "L3-REJECT-002",
    "L3-SAFETY-006",
    "L3-SAFETY-008",
    "L3-SIG-002",
];

#[tokio::test]
async fn every_check_passes_over_server_sent_events_that_a_producer_can_pass() {
    passes("http", "").await;
}

#[tokio::test]
async fn every_check_passes_over_a_websocket_that_a_producer_can_pass() {
    passes("ws", "/ws").await;
}

async fn passes(scheme: &str, below: &str) {
    let plane = Kit(Backend::Sqlite).plane_with(Setup::suite().from_now()).await;
    let _time = plane.follow_system_clock();
    let alice = plane.person("alice").await;
    let agent = SuiteAgent::start(&plane, &alice).await;
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let router = Router::new().nest("/suite", agent.router());
    let serving = serve(listener, router, Limits::default()).unwrap();

    let report = judged(&format!("{scheme}://{}/suite{below}", serving.address())).await;
    let results = report["test_results"].as_array().unwrap();
    let failed: Vec<&Value> = results.iter().filter(|result| result["passed"] != true).collect();
    assert_eq!(failed.iter().map(|result| id(result)).collect::<Vec<_>>(), [UNPASSABLE], "{failed:#?}");
    assert_eq!((&report["verdict"], &report["conformance_level"]), (&"PASS".into(), &3.into()));
    assert_eq!((&report["tests_run"], &report["tests_passed"]), (&63.into(), &62.into()));
    assert_eq!(results.iter().filter(|result| id(result) != UNPASSABLE).map(id).collect::<BTreeSet<_>>(), expected());
    // The suite passes a check without input, and reports that.
    let idle: Vec<&Value> =
        results.iter().filter(|r| r["message"].as_str().is_some_and(|m| m.starts_with("No "))).collect();
    assert!(idle.is_empty(), "{idle:#?}");
}

/// Runs the suite; returns its report.
async fn judged(endpoint: &str) -> Value {
    let folder = Folder::make();
    let suite = beside_schemas(folder.path());
    let (json, html) = (folder.path().join("report.json"), folder.path().join("report.html"));
    let arguments = [
        "-m",
        "aaep_conformance.cli",
        "producer",
        "--endpoint",
        endpoint,
        "--level",
        "3",
        "--report-json",
        json.to_str().unwrap(),
        "--report-html",
        html.to_str().unwrap(),
    ];
    let (status, said) = Client::python_with(&suite, &arguments).ends().await;
    assert!(status.success(), "{said}");
    serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap()
}

/// The package lacks the schemas it validates against: it looks for them two folders up, as in its repository.
/// Its files are used from where they are installed, next to the published schemas where these are available,
/// or else ours.
fn beside_schemas(folder: &Path) -> PathBuf {
    let place = folder.join("suite");
    fs::create_dir(&place).unwrap();
    symlink(installed(), place.join("aaep_conformance")).unwrap();
    let schemas = folder.join("schemas");
    match aaep_judge::published() {
        Some(published) => symlink(published.join("schemas"), schemas).unwrap(),
        None => our_schemas(&schemas),
    }
    place
}

/// Under the names of the published ones, each with the envelope inlined: the suite's library resolves no other file for a
/// schema that forbids additional members.
fn our_schemas(place: &Path) {
    fs::create_dir_all(place.join("core")).unwrap();
    let schemas = aaep_judge::schemas();
    let envelope = &schemas["envelope"];
    fs::write(place.join("envelope.schema.json"), envelope.to_string()).unwrap();
    for (name, schema) in schemas.iter().filter(|(name, _)| name.starts_with("agent.")) {
        let mut schema = schema.clone();
        schema["$defs"]["envelope"] = envelope.clone();
        fs::write(place.join(format!("core/{name}.schema.json")), schema.to_string()).unwrap();
    }
}

/// The package's folder in the environment that `./test` makes.
fn installed() -> PathBuf {
    let libraries = fs::read_dir(root().join(".venv/lib")).expect(".venv is missing: run ./test --prepare");
    let places = libraries.map(|entry| entry.unwrap().path().join("site-packages/aaep_conformance"));
    let found = places.filter(|place| place.exists()).find_map(|place| fs::canonicalize(place).ok());
    found.expect("aaep-conformance is missing: run ./test --prepare")
}

fn expected() -> BTreeSet<String> {
    let of_events = (1..=6).flat_map(|check| (0..4).map(move |event| format!("L1-ENV-{check:03}-evt{event}")));
    CHECKS.iter().map(|&check| check.to_owned()).chain(of_events).collect()
}

fn id(result: &Value) -> String {
    result["test_id"].as_str().unwrap().to_owned()
}
