//! The official MCP conformance suite (npm's `@modelcontextprotocol/conformance`), for the scenarios that need no
//! tools, prompts or resources of the suite's own.
//!
//! The suite cannot send credentials, so a proxy in front of the node adds one; its origin is on the allow-list.

use super::{
    Stage,
    program::{Program, brought, root},
};
use serde_json::{Value, json};
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

/// Scenarios that must pass in the current version.
const CURRENT: &[&str] = &[
    "server-stateless",
    "tools-list",
    "caching",
    "http-header-validation",
    "dns-rebinding-protection",
    "server-sse-multiple-streams",
    "input-required-result-unsupported-methods",
    "input-required-result-validate-input",
];
/// Scenarios that must pass in the previous version.
const BEFORE: &[&str] =
    &["server-initialize", "ping", "tools-list", "dns-rebinding-protection", "server-session-lifecycle"];

/// Whether the check needs a feature that only the suite's own server has.
fn is_about_what_is_not_here(check: &Value) -> bool {
    let why = check["errorMessage"].as_str().unwrap_or_default();
    why.starts_with("Not testable: server does not list the diagnostic tool")
        || (check["id"].as_str().unwrap().ends_with("-caching-hints") && why.contains("-32601"))
}

#[test]
fn every_scenario_that_needs_nothing_of_the_suites_own_passes() {
    brought("node_modules/@modelcontextprotocol/conformance");
    let mut forward = Program::start(Command::new("node").arg("tests/foreign/mcp-forward.mjs").current_dir(root()));
    let port = forward.says()["port"].clone();
    let origin = format!("http://localhost:{port}");
    let stage = Stage::with("conformance", &[("COUNTERSIGN_MCP__ORIGINS", &origin)]);
    let node = stage.node.origin();
    let (host, to) = node.trim_start_matches("http://").split_once(':').unwrap();
    forward.is_told(&json!({ "host": host, "port": to, "key": stage.key }).to_string());

    for (version, scenarios) in [("2026-07-28", CURRENT), ("2025-11-25", BEFORE)] {
        let folder = stage.folder.0.join(version);
        run(&format!("{origin}/mcp"), version, &folder);
        let found = checks(&folder);
        for scenario in scenarios {
            let of_it: Vec<&Value> =
                found.iter().filter(|(name, _)| is_of(name, scenario)).flat_map(|(_, checks)| checks).collect();
            assert!(!of_it.is_empty(), "{version} {scenario} was not run");
            let wrong =
                of_it.iter().filter(|check| ["FAILURE", "WARNING"].contains(&check["status"].as_str().unwrap()));
            let wrong: Vec<_> = wrong.filter(|check| !is_about_what_is_not_here(check)).collect();
            assert!(wrong.is_empty(), "{version} {scenario}: {wrong:#?}");
        }
        // In all scenarios, required or not, every message we sent is valid by the published schema.
        let messages: Vec<&Value> =
            found.iter().flat_map(|(_, checks)| checks).filter(|check| check["id"] == "wire-schema-valid").collect();
        assert!(messages.len() > 10, "the suite looked at {} conversations", messages.len());
        let misshapen: Vec<_> = messages.iter().filter(|check| check["status"] != "SUCCESS").collect();
        assert!(misshapen.is_empty(), "{version}: {misshapen:#?}");
    }
}

fn run(url: &str, version: &str, folder: &Path) {
    let suite = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
    // Exits with 1 because of the scenarios for its own server.
    let ran = Command::new("node")
        .args(["--import", "./tests/foreign/mcp-node-20.mjs", suite, "server", "--url", url])
        .args(["--suite", "all", "--spec-version", version, "--output-dir"])
        .arg(folder)
        .current_dir(root())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(folder.exists(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// The checks of every scenario, by folder name.
fn checks(folder: &Path) -> Vec<(String, Vec<Value>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let read = |path: &Path| serde_json::from_str(&fs::read_to_string(path.join("checks.json")).unwrap()).unwrap();
    entries.map(|entry| (entry.file_name().into_string().unwrap(), read(&entry.path()))).collect()
}

/// `server-ping-2026-11-16T…` belongs to `ping`, and `server-server-stateless-…` to `server-stateless`.
fn is_of(folder: &str, scenario: &str) -> bool {
    let rest = folder.strip_prefix("server-").and_then(|rest| rest.strip_prefix(scenario));
    rest.and_then(|rest| rest.strip_prefix("-20")).is_some()
}
