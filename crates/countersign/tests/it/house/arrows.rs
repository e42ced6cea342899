//! Allowed dependencies between crates (the arrows in ARCHITECTURE.md).

use super::{assert_none, cargo};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A crate and its allowed normal dependencies in the workspace.
const ARROWS: &[(&str, &[&str])] = &[
    ("protocol", &[]),
    ("evidence", &[]),
    ("jose", &["evidence", "protocol"]),
    ("core", &["protocol"]),
    ("engine", &["core", "evidence", "jose", "protocol"]),
    ("outbound", &["jose", "protocol"]),
    ("gateway", &["engine", "jose", "protocol"]),
    ("server", &["gateway", "engine", "evidence", "outbound", "jose", "protocol"]),
    ("client", &["outbound", "jose", "protocol"]),
    ("conformance", &["client", "outbound", "jose", "protocol"]),
    ("demo", &["server", "client", "evidence", "jose", "protocol"]),
    ("countersign", &["server", "client", "demo", "conformance", "evidence", "jose", "protocol"]),
];

/// May depend on everything; no other crate may depend on them, except in tests.
const TOOLS: &[&str] = &["testkit", "bench"];

#[test]
fn a_crate_depends_only_on_the_crates_its_arrows_point_at() {
    let mut offences = Vec::new();
    for (name, dependencies) in normal_dependencies() {
        if TOOLS.contains(&name.as_str()) {
            continue;
        }
        let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| *known == name) else {
            offences.push(format!("{name} is in no row of ARROWS"));
            continue;
        };
        let strays = dependencies.iter().filter(|to| !allowed.contains(&to.as_str()));
        offences.extend(strays.map(|to| format!("{name} -> {to}")));
    }
    assert_none("arrows that ARCHITECTURE.md does not draw", &offences);
}

#[test]
fn only_the_engine_depends_on_the_core() {
    let graph = normal_dependencies();
    let callers: Vec<_> = graph.iter().filter(|(_, to)| to.contains("core")).map(|(name, _)| name.as_str()).collect();
    assert_eq!(callers, ["engine"]);
}

#[test]
fn client_and_outbound_reach_neither_core_nor_engine() {
    let graph = normal_dependencies();
    for name in ["outbound", "client", "conformance"].into_iter().filter(|name| graph.contains_key(*name)) {
        let reached = reachable(&graph, name);
        assert!(!reached.contains("core") && !reached.contains("engine"), "{name} reaches {reached:?}");
    }
}

#[test]
fn testkit_and_bench_are_nobodys_normal_dependency() {
    let mut offences = Vec::new();
    for (name, dependencies) in normal_dependencies() {
        let tools = TOOLS.iter().filter(|tool| dependencies.contains(**tool) && !TOOLS.contains(&name.as_str()));
        offences.extend(tools.map(|tool| format!("{name} -> {tool}")));
    }
    assert_none("tools as normal dependencies", &offences);
}

/// The pure crates cannot block, because no blocking dependency is linked into them.
#[test]
fn the_pure_crates_link_nothing_that_waits_or_opens_a_socket() {
    const WAITS: &[&str] = &["tokio", "mio", "socket2", "hyper", "rustls", "rusqlite", "tokio-postgres", "async-trait"];
    for name in ["protocol", "evidence", "jose", "core"] {
        let package = format!("countersign-{name}");
        let tree = cargo(&format!("tree --locked -p {package} --edges normal --prefix none --format {{p}}"));
        let linked: BTreeSet<_> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
        assert!(linked.contains(package.as_str()), "{tree}");
        let offences: Vec<_> = WAITS.iter().filter(|waits| linked.contains(**waits)).collect();
        assert!(offences.is_empty(), "{name} links {offences:?}");
    }
}

/// The verifier of evidence is to be built for browsers, too, without a C compiler.
#[test]
fn the_crate_for_evidence_links_no_c_code_and_no_crate_of_ours() {
    let tree = cargo("tree --locked -p countersign-evidence --edges normal,build --prefix none --format {p}");
    let linked: BTreeSet<_> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(linked.len() > 5, "{tree}");
    let foreign =
        |name: &str| name.ends_with("-sys") || ["cc", "cmake", "bindgen", "aws-lc-rs", "ring", "libc"].contains(&name);
    let ours = |name: &str| name.starts_with("countersign-") && name != "countersign-evidence";
    let offences: Vec<_> = linked.into_iter().filter(|name| foreign(name) || ours(name)).collect();
    assert!(offences.is_empty(), "countersign-evidence links {offences:?}");
}

#[test]
fn only_the_engine_speaks_to_a_database() {
    const DRIVERS: &[&str] = &["rusqlite", "tokio-postgres", "deadpool-postgres", "refinery"];
    let mut offences = Vec::new();
    for package in packages() {
        let name = short(package["name"].as_str().unwrap());
        if name == "engine" || TOOLS.contains(&name) {
            continue;
        }
        let drivers = dependencies(&package).filter(|to| DRIVERS.contains(to));
        offences.extend(drivers.map(|to| format!("{name} -> {to}")));
    }
    assert_none("database drivers outside the engine", &offences);
}

/// Crate → workspace crates needed to build it (dependencies and build-dependencies).
fn normal_dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let packages = packages();
    let ours: BTreeSet<&str> = packages.iter().map(|package| package["name"].as_str().unwrap()).collect();
    let of = |package| dependencies(package).filter(|to| ours.contains(to)).map(|to| short(to).to_owned()).collect();
    packages.iter().map(|package| (short(package["name"].as_str().unwrap()).to_owned(), of(package))).collect()
}

fn packages() -> Vec<Value> {
    let metadata = cargo("metadata --locked --format-version 1 --no-deps");
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

fn dependencies(package: &Value) -> impl Iterator<Item = &str> {
    let all = package["dependencies"].as_array().unwrap().iter();
    all.filter(|to| to["kind"] != "dev").map(|to| to["name"].as_str().unwrap())
}

/// `countersign-core` → `core`.
fn short(package: &str) -> &str {
    package.strip_prefix("countersign-").unwrap_or(package)
}

fn reachable(graph: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(name) = open.pop() {
        let fresh = graph[&name].iter().filter(|to| reached.insert((*to).clone()));
        open.extend(fresh.cloned());
    }
    reached
}
