//! PyPI's `scim2-tester` as a second judge: discovery, create, read, replace, every kind of patch, delete.

use super::{IDP, TestProvider, with_scim};
use countersign_engine::ApiKeyKind;
use countersign_server::{Limits, serve};
use countersign_testkit::{Backend, Kit, Setup};
use serde_json::{Value, json};
use std::{path::Path, process::Command};
use tokio::net::TcpListener;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Statuses of the tester that are no complaint.
const GOOD: [&str; 3] = ["SUCCESS", "COMPLIANT", "ACCEPTABLE"];

/// The end of a complaint about a rule of ours: a removed `active` could only mean an offboarding or its undoing, and each
/// user keeps the roles of the project's policy.
const DELIBERATE: [&str; 2] = ["active cannot be removed", "did not remove attribute 'roles'"];

#[tokio::test]
async fn the_tester_of_scim_finds_no_deviation() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut setup = Setup::with_project(|document| with_scim(document, IDP));
    setup.origin = format!("http://{}", listener.local_addr().unwrap());
    let base = format!("{}/scim/v2", setup.origin);
    let plane = Kit(Backend::Sqlite).plane_with(setup).await;
    plane.account("root").await;
    let provider = TestProvider::of(&plane, &plane.at().await, ApiKeyKind::Scim).await;
    let serving = serve(listener, plane.public.clone(), Limits::default()).unwrap();

    let python = Path::new(ROOT).join(".venv/bin/python");
    assert!(python.exists(), "run ./test --prepare");
    let asked = json!({ "url": base, "key": provider.secret }).to_string();
    let run = move || Command::new(python).args(["tests/foreign/scim_tester.py", &asked]).current_dir(ROOT).output();
    let said = tokio::task::spawn_blocking(run).await.unwrap().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let results: Vec<Value> =
        String::from_utf8(said.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let is_good = |result: &&Value| GOOD.contains(&result["status"].as_str().unwrap());
    let is_deliberate =
        |result: &&Value| DELIBERATE.iter().any(|why| result["reason"].as_str().unwrap().ends_with(why));
    let (deliberate, bad): (Vec<&Value>, Vec<&Value>) =
        results.iter().filter(|result| !is_good(result)).partition(is_deliberate);
    assert!(bad.is_empty(), "{bad:#?}");
    assert_eq!(deliberate.len(), DELIBERATE.len(), "{deliberate:#?}");
    for check in ["object_creation", "object_replacement", "object_deletion", "check_replace_attribute"] {
        assert!(results.iter().any(|result| result["title"] == check), "{check} did not run: {results:#?}");
    }
    serving.stop().await;
}
