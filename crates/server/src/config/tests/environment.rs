use super::{super::*, environment, read_environment, the_problem};
use std::path::Path;
use table::KEYS;

/// A non-default value for every key, and the other variables it needs to take effect.
fn another(key: &str) -> (&'static str, &'static [(&'static str, &'static str)]) {
    const POSTGRES: &[(&str, &str)] =
        &[("COUNTERSIGN_STORE__KIND", "postgres"), ("COUNTERSIGN_STORE__URL", "postgres://app@db/plane")];
    const GATEWAY: &[(&str, &str)] = &[("COUNTERSIGN_GATEWAY__LISTEN", "127.0.0.1:8422")];
    match key {
        "tenancy" => ("multi", &[]),
        "test_mode" => ("true", &[]),
        "listen.public" | "listen.operations" => ("127.0.0.2:9000", &[]),
        "public.origin" => ("https://service.example", &[]),
        "public.subdomains" => ("true", &[("COUNTERSIGN_TENANCY", "multi")]),
        "public.trusted_proxies" => ("10.0.0.0/8, 192.0.2.7", &[]),
        "store.kind" => ("postgres", &[("COUNTERSIGN_STORE__URL", "postgres://app@db/plane")]),
        "store.url" => ("postgres://other@db/plane", &[("COUNTERSIGN_STORE__KIND", "postgres")]),
        "store.password" | "store.root_certificates" | "store.state" => ("something", POSTGRES),
        "store.pool" => ("3", POSTGRES),
        "store.path" | "keys.file" | "keys.environment" => ("something", &[]),
        "keys.command" => ("[\"pass\", \"a,b\"]", &[]),
        "outbound.static" => ("operator.example=127.0.0.1:9443", &[]),
        "outbound.extra_roots" => ("a.pem,b.pem", &[]),
        "listen.max_body_bytes" => ("2048", &[]),
        "aaep.legacy_origins" => ("https://page.example,http://localhost:3000", &[]),
        "aaep.legacy_hosts" => ("127.0.0.1:8420", &[]),
        "mcp.origins" => ("http://localhost:6274", &[]),
        "mcp.hosts" => ("10.0.0.7:8420", &[]),
        "gateway.listen" => ("127.0.0.1:9002", &[]),
        "gateway.public_origin" => ("https://bank.example", GATEWAY),
        "gateway.upstreams" => ("http://127.0.0.1:9000,https://bank.internal", GATEWAY),
        "gateway.upstream_ca_file" => ("roots.pem", GATEWAY),
        "gateway.credentials" => ("{ bank = { env = \"BANK\" } }", GATEWAY),
        "gateway.max_header_bytes" => ("2048", GATEWAY),
        "retention.audit_days" => ("365", &[]),
        "evidence.checkpoint_files" => ("something", &[]),
        "evidence.witnesses" => {
            ("https://witness.example witness.example/w1+f5f1ad4c+BAcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH", &[])
        }
        "log.format" => ("json", &[]),
        "log.level" => ("debug", &[]),
        seconds if seconds.starts_with("gateway.") => ("2", GATEWAY),
        _ => ("2", &[]),
    }
}

#[test]
fn every_key_of_the_table_can_be_set_from_the_environment_and_changes_the_configuration() {
    for key in KEYS {
        let (value, besides) = another(key.path);
        let variable = key.variable();
        let all: Vec<(&str, &str)> = besides.iter().copied().filter(|(name, _)| *name != variable).collect();
        // The variables that the key needs, without the key itself if they are valid alone.
        let before = read_environment(&all).map(|loaded| loaded.config).ok();
        let after =
            read_environment(&[&all[..], &[(&variable, value)]].concat()).unwrap_or_else(|e| panic!("{variable}: {e}"));
        assert_ne!(before, Some(after.config), "{variable} changes nothing");
        let source = after.sources.iter().find(|source| source.key == key.path).expect("listed");
        assert_eq!(source.from, ValueOrigin::Environment { variable });
    }
}

#[test]
fn a_variable_that_looks_like_ours_and_is_not_is_refused_with_the_nearest() {
    let problem = the_problem(read_environment(&[("COUNTERSIGN_LISTEN__PUBLC", "127.0.0.1:1")]));
    assert_eq!(problem.place, ValueOrigin::Environment { variable: "COUNTERSIGN_LISTEN__PUBLC".into() });
    assert_eq!(problem.hint, "did you mean `COUNTERSIGN_LISTEN__PUBLIC`?");
    let project = the_problem(read_environment(&[("COUNTERSIGN_PROJECT__ID", "x")]));
    assert_eq!(project.hint, "a project is set in a file, not in the environment");
}

#[test]
fn reserved_variables_and_those_of_others_are_left_alone() {
    let reserved = [
        ("COUNTERSIGN_API_KEY", "x"),
        ("COUNTERSIGN_PUBLISHED_SPEC", "x"),
        ("COUNTERSIGN_PASSWORD", "x"),
        ("COUNTERSIGN_CONFIG", "x"),
        ("COUNTERSIGN_SERVICE", "x"),
        ("COUNTERSIGN_TOKEN", "x"),
        ("HOME", "x"),
    ];
    assert!(read_environment(&reserved).is_ok());
}

#[test]
fn the_variable_that_holds_the_key_may_begin_like_ours() {
    let named = [("COUNTERSIGN_KEYS__ENVIRONMENT", "COUNTERSIGN_KEY"), ("COUNTERSIGN_KEY", "00")];
    let config = read_environment(&named).expect("the named variable is known").config;
    assert_eq!(config.keys, node::KeySource::Environment("COUNTERSIGN_KEY".into()));
    assert_eq!(the_problem(read_environment(&named[1..])).wrong, "is not a known variable");
}

#[test]
fn a_variable_that_does_not_fit_its_key_is_refused_by_name() {
    for (variable, value) in [
        ("COUNTERSIGN_STORE__READERS", "many"),
        ("COUNTERSIGN_STORE__READERS", ""),
        ("COUNTERSIGN_TEST_MODE", "TRUE"),
        ("COUNTERSIGN_OUTBOUND__STATIC", "operator.example"),
        ("COUNTERSIGN_KEYS__COMMAND", "[\"unfinished\""),
    ] {
        let problem = the_problem(read_environment(&[(variable, value)]));
        assert_eq!(problem.place, ValueOrigin::Environment { variable: variable.into() });
    }
}

#[test]
fn the_environment_wins_over_the_file_and_the_file_over_the_default() {
    let file = "[listen]\npublic = \"127.0.0.1:1\"\noperations = \"127.0.0.1:2\"";
    let variables = environment(&[("COUNTERSIGN_LISTEN__PUBLIC", "127.0.0.1:3")]);
    let loaded = from_text(Some((Path::new("x.toml"), file)), &variables).expect("sound");
    let listen = &loaded.config.listen;
    assert_eq!((listen.public.port(), listen.operations.port(), listen.max_body_bytes), (3, 2, 65536));
}
