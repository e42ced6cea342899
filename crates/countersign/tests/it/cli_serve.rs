//! `countersign serve`, through the built binary.

use crate::cli_folder::{Folder, PASSWORD, example};
use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
};

const MANIFEST: &str = "/.well-known/agent-auth.json";

#[test]
fn an_address_that_is_taken_is_an_error_with_a_hint() {
    let folder = Folder::ready("serve-taken");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let _holder = TcpListener::bind(taken).unwrap();
    let ran = folder.run_with("serve", &[("COUNTERSIGN_LISTEN__PUBLIC", &taken.to_string())]).refused();
    assert!(ran.err.starts_with(&format!("error: cannot listen on {taken}: ")), "{}", ran.err);
    assert!(ran.err.contains("\nhint: another process has it"), "{}", ran.err);
}

#[test]
fn a_configured_project_with_problems_stops_the_start_and_all_of_them_are_named() {
    let folder = Folder::new("serve-bad-project");
    folder.write("countersign.toml", "[project]\nid = \"calendar\"\nminimum_tier = 4\ncredential_ttl = 5\n");
    folder.does("init");
    let ran = folder.run("serve").refused();
    assert!(ran.err.contains("minimum_tier: ") && ran.err.contains("credential_ttl: "), "{}", ran.err);
    assert!(ran.err.contains("hint: correct [project] in the configuration\n"), "{}", ran.err);
}

///
#[test]
fn without_a_project_a_node_says_so_and_serves_the_first_one_from_the_moment_it_is_applied() {
    let folder = Folder::ready("serve-none");
    let node = folder.serve(&[]);
    assert!(node.said.contains("project: none yet"), "{}", node.said);
    assert!(node.said.contains("countersign project apply FILE"), "{}", node.said);
    let answer = node.ask("GET", MANIFEST, "", "");
    assert_eq!((answer.status, &answer.json()["error"]), (404, &"project_not_found".into()));
    folder.does(&format!("project apply {}", example().display()));
    let answer = node.ask("GET", MANIFEST, "", "");
    assert_eq!((answer.status, &answer.json()["display_name"]), (200, &"Calendar".into()));
}

#[test]
fn a_node_introduces_itself_before_it_waits() {
    let folder = Folder::with_project("serve-says");
    let node = folder.serve(&[]);
    let lines: Vec<&str> = node.said.lines().collect();
    assert_eq!(lines[0], format!("countersign {} serves http://localhost:8420", env!("CARGO_PKG_VERSION")));
    for line in ["store: sqlite, countersign.db", "tenancy: single", "project: calendar, version 1"] {
        assert!(lines.contains(&line), "{}", node.said);
    }
    assert!(!node.said.contains("TEST MODE"));
    assert_eq!(node.ask_at("operations", "GET", "/readyz", "", "").status, 200);
}

#[test]
fn test_mode_is_printed_first_and_is_in_the_log() {
    let folder = Folder::ready("serve-test-mode");
    let node = folder.serve(&[("COUNTERSIGN_TEST_MODE", "true")]);
    assert!(node.said.starts_with("TEST MODE IS ON: "), "{}", node.said);
    let (_, log) = node.ends_by("TERM");
    assert!(log.contains("TEST MODE IS ON"), "{log}");
}

#[test]
fn warnings_of_the_configuration_are_printed() {
    let folder = Folder::ready("serve-warns");
    let node = folder.serve(&[("COUNTERSIGN_LISTEN__OPERATIONS", "0.0.0.0:0")]);
    assert!(node.said.contains("warning: listen.operations: "), "{}", node.said);
}

#[test]
fn either_signal_ends_a_node_in_good_order() {
    let folder = Folder::ready("serve-signals");
    for signal in ["INT", "TERM"] {
        let (code, log) = folder.serve(&[]).ends_by(signal);
        assert_eq!(code, 0, "{signal}: {log}");
        assert!(log.contains("stopping"), "{log}");
        assert!(!folder.0.join("countersign.db-wal").exists(), "the store was not closed: {log}");
    }
}

#[test]
fn a_node_whose_connections_are_all_taken_still_ends() {
    let folder = Folder::ready("serve-full");
    let one = [("COUNTERSIGN_LISTEN__MAX_CONNECTIONS", "1"), ("COUNTERSIGN_LISTEN__HEADER_READ_SECONDS", "60")];
    let node = folder.serve(&one);
    let mut only = node.connect("public");
    only.write_all(b"GET / HTTP/1.1\r\nHost: localhost:8420\r\n\r\n").unwrap();
    assert!(only.read(&mut [0; 1024]).unwrap() > 0, "it has no place");
    assert_eq!(node.ends_by("TERM").0, 0);
}

///
#[test]
fn a_node_with_few_descriptors_holds_fewer_connections_and_goes_on_answering() {
    let folder = Folder::ready("serve-few-files");
    let proxied =
        [("COUNTERSIGN_LISTEN__FIRST_BYTE_SECONDS", "1"), ("COUNTERSIGN_PUBLIC__TRUSTED_PROXIES", "127.0.0.1")];
    let node = folder.serve_with_files(200, &proxied);
    let _silent: Vec<_> = (0..250).map(|_| node.connect("public")).collect();
    assert_eq!(node.ask("GET", "/session", "", "").status, 401);
    assert_eq!(node.ask_at("operations", "GET", "/readyz", "", "").status, 200);
    let (code, log) = node.ends_by("TERM");
    assert_eq!(code, 0, "{log}");
    assert!(log.contains("listen.max_connections is lowered from 4096"), "{log}");
    assert!(!log.contains("no connection can be accepted"), "it ran out of descriptors: {log}");
}

#[test]
fn logs_are_json_where_that_is_configured_and_name_no_secret() {
    let folder = Folder::with_project("serve-json");
    let node = folder.serve(&[("COUNTERSIGN_LOG__FORMAT", "json")]);
    let body = format!("{{\"name\":\"alice\",\"password\":\"{PASSWORD}\"}}");
    assert_eq!(node.ask("POST", "/session", "", &body).status, 201);
    let (_, log) = node.ends_by("TERM");
    for line in log.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap_or_else(|why| panic!("{why}: {line}"));
    }
    assert!(log.contains("/session") && !log.contains(PASSWORD), "{log}");
}

///
#[test]
fn the_configured_project_is_applied_at_a_start_and_by_no_other_command() {
    let folder = Folder::new("serve-configured");
    folder.write("countersign.toml", "[project]\nid = \"calendar\"\ndisplay_name = \"Configured\"\n");
    folder.does("init");
    assert_eq!(folder.json("project list"), serde_json::json!([]));
    let node = folder.serve(&[]);
    folder.write("changed.toml", "id = \"calendar\"\ndisplay_name = \"Changed\"\n");
    folder.does("project apply changed.toml");
    folder.does("user list");
    assert_eq!(node.ask("GET", MANIFEST, "", "").json()["display_name"], "Changed");
    assert_eq!(node.ends_by("TERM").0, 0);
    let again = folder.serve(&[]);
    assert_eq!(again.ask("GET", MANIFEST, "", "").json()["display_name"], "Configured");
    assert!(again.said.contains("project: calendar, version 3"), "{}", again.said);
}
