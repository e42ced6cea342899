use super::{super::*, read, the_problem};
use std::path::PathBuf;

fn at_line(problem: &ConfigProblem) -> Option<usize> {
    match &problem.place {
        ValueOrigin::File { line, .. } => *line,
        _ => None,
    }
}

#[test]
fn an_unknown_key_is_refused_at_every_level_with_the_nearest_known_name() {
    for (text, key, line, near) in [
        ("tenancie = \"multi\"", "tenancie", 1, "`tenancy`"),
        ("\n[lisen]\npublic = \"127.0.0.1:1\"", "lisen", 2, "`listen`"),
        ("[listen]\n\npubic = \"127.0.0.1:1\"", "listen.pubic", 3, "`public`"),
        ("[public]\ntrusted-proxy = []", "public.trusted-proxy", 2, "`trusted_proxies`"),
        ("[store]\nroot_certificate = \"\"", "store.root_certificate", 2, "`root_certificates`"),
        ("[sign_in]\nattempts_per_adress = 3", "sign_in.attempts_per_adress", 2, "`attempts_per_address`"),
        ("log.levl = \"info\"", "log.levl", 1, "`level`"),
        ("[projects]\nid = \"x\"", "projects", 1, "`project`"),
    ] {
        let problem = the_problem(read(text));
        assert_eq!((problem.key.as_str(), at_line(&problem)), (key, Some(line)));
        assert_eq!(problem.hint, format!("did you mean {near}?"), "{key}");
    }
}

/// AAP-G-07
#[test]
fn an_audit_of_less_than_90_days_is_refused_by_name() {
    for days in ["89", "0", "-1", "\"90\""] {
        let problem = the_problem(read(&format!("[retention]\naudit_days = {days}")));
        assert_eq!((problem.key.as_str(), at_line(&problem)), ("retention.audit_days", Some(2)));
    }
    assert_eq!(the_problem(read("[retention]\ndecisions_days = 0")).key, "retention.decisions_days");
    assert_eq!(the_problem(read("[retention]\naudit_day = 90")).hint, "did you mean `audit_days`?");
    assert_eq!(the_problem(read("[retention]\nleaves_days = 90")).key, "retention.leaves_days");
}

#[test]
fn a_key_in_the_wrong_section_is_reported_with_the_right_section() {
    assert_eq!(the_problem(read("origin = \"https://a.example\"")).hint, "did you mean `public.origin`?");
}

#[test]
fn an_unknown_key_without_a_similar_one_is_reported_with_the_known_keys() {
    assert_eq!(the_problem(read("[log]\nzzz = 1")).hint, "known here: format, level");
}

#[test]
fn a_value_of_the_wrong_type_or_out_of_range_is_refused() {
    for (text, wrong) in [
        ("test_mode = \"yes\"", "must be true or false, not text"),
        ("tenancy = 1", "must be one of single, multi, not a number"),
        ("[store]\nreaders = 0", "must be a whole number from 1 to 64"),
        ("[store]\nreaders = 1.5", "must be a whole number from 1 to 64"),
        ("[store]\nreaders = -1", "must be a whole number from 1 to 64"),
        ("[store]\npath = []", "must be a path, not a list"),
        ("[listen]\npublic = 8420", "must be an IP address and a port, such as 127.0.0.1:8420, not a number"),
        ("[listen]\npublic = \"localhost:8420\"", "must be an IP address and a port, such as 127.0.0.1:8420"),
        ("[keys]\ncommand = [1]", "must be a list of texts"),
        ("[keys]\ncommand = \"pass\"", "must be a list of texts, not text"),
        (
            "[public]\ntrusted_proxies = [\"10.0.0.0/33\"]",
            "must be a list of addresses (10.1.2.3) and ranges (10.0.0.0/8)",
        ),
        ("[sign_in]\nfresh_minutes = 6", "must be a whole number from 1 to 5"),
        ("listen = 3", "is a section, not a key"),
    ] {
        assert_eq!(the_problem(read(text)).wrong, wrong, "{text}");
    }
}

#[test]
fn a_static_host_must_be_a_domain_with_an_address() {
    for table in [r#"{ "Operator.example" = "127.0.0.1:1" }"#, r#"{ "operator.example" = "elsewhere:1" }"#] {
        assert_eq!(the_problem(read(&format!("[outbound]\nstatic = {table}"))).key, "outbound.static");
    }
}

#[test]
fn a_misspelled_choice_gets_the_nearest_as_a_hint() {
    assert_eq!(the_problem(read("[store]\nkind = \"postgresql\"")).hint, "did you mean \"postgres\"?");
}

#[test]
fn an_origin_that_is_not_one_is_refused() {
    for origin in [
        "http://service.example",
        "https://service.example/",
        "https://service.example/path",
        "service.example",
        "",
        "https://A.example",
    ] {
        let problem = the_problem(read(&format!("[public]\norigin = \"{origin}\"")));
        assert_eq!(problem.key, "public.origin", "{origin}");
        assert!(problem.wrong.starts_with("must be https://host"), "{}", problem.wrong);
    }
}

#[test]
fn every_error_is_reported_at_once_in_the_order_of_the_file() {
    let text = "test_mode = 1\n[listen]\nnope = 1\npublic = \"x\"\n[store]\nkind = \"postgres\"\n[project]\nid = \"A\"";
    let problems = read(text).expect_err("much is wrong").problems;
    let keys: Vec<&str> = problems.iter().map(|problem| problem.key.as_str()).collect();
    // `store.url` is missing rather than wrong, so there is no line to name.
    assert_eq!(keys, ["store.url", "test_mode", "listen.nope", "listen.public", "project.id"]);
}

#[test]
fn text_that_is_not_toml_names_its_line_and_shows_nothing_of_it() {
    let problem = the_problem(read("tenancy = \"multi\"\n[store]\nurl = postgres://u:hunter2@db/x\n"));
    assert_eq!(at_line(&problem), Some(3));
    assert!(!format!("{problem:?}{problem}").contains("hunter2"));
}

#[test]
fn dates_and_numbers_beyond_reason_are_refused() {
    assert_eq!(at_line(&the_problem(read("\ntenancy = 2026-01-01"))), Some(2));
    assert_eq!(at_line(&the_problem(read("[store]\nreaders = 99999999999999999999"))), Some(2));
    assert_eq!(at_line(&the_problem(read("[store]\n\nreaders = nan"))), Some(3));
}

#[test]
fn relative_paths_count_from_the_folder_of_the_file() {
    let config = read("[store]\npath = \"data/x.db\"\n[outbound]\nextra_roots = [\"a.pem\", \"/etc/b.pem\"]")
        .expect("sound")
        .config;
    assert_eq!(config.store, node::Store::Sqlite { path: "node/data/x.db".into(), readers: 4 });
    assert_eq!(config.keys, node::KeySource::File("node/countersign.key".into()));
    assert_eq!(config.outbound.extra_roots, [PathBuf::from("node/a.pem"), PathBuf::from("/etc/b.pem")]);
}

/// A SQLite file has one node; the nodes of a PostgreSQL database would share one path.
#[test]
fn the_operations_socket_is_beside_a_sqlite_file_and_elsewhere_only_where_it_is_named() {
    let socket = |text: &str| read(text).expect("sound").config.listen.operations_socket;
    let postgres = "[store]\nkind = \"postgres\"\nurl = \"postgres://app@db/plane\"\n";
    let named = "[listen]\noperations_socket = \"run/socket\"\n";
    assert_eq!(socket(""), Some("node/countersign.db-operations/socket".into()));
    assert_eq!(socket("[store]\npath = \"/var/a.db\""), Some("/var/a.db-operations/socket".into()));
    assert_eq!(socket(postgres), None);
    assert_eq!(socket(&format!("{named}{postgres}")), Some("node/run/socket".into()));
}

#[test]
fn static_hosts_may_be_a_section_of_their_own() {
    let config = read("[outbound.static]\n\"operator.example\" = \"127.0.0.1:9443\"").expect("sound").config;
    let (host, address) = config.outbound.static_hosts.first_key_value().expect("a host");
    assert_eq!((host.as_str(), address.port()), ("operator.example", 9443));
}
