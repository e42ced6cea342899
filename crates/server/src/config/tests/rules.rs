use super::{super::*, environment, read, read_environment, the_problem};
use node::{KeySource, Store};
use std::path::Path;

#[test]
fn test_mode_on_an_origin_that_strangers_can_reach_is_refused() {
    let problem = the_problem(read("test_mode = true\n[public]\norigin = \"https://service.example\""));
    assert_eq!(problem.key, "test_mode");
    let another_host = "[outbound.static]\n\"other.example\" = \"127.0.0.1:1\"";
    let text = format!("test_mode = true\n[public]\norigin = \"https://service.example\"\n{another_host}");
    assert_eq!(the_problem(read(&text)).key, "test_mode");
}

#[test]
fn test_mode_is_allowed_with_a_warning_on_loopback_and_for_a_static_host() {
    let fixed =
        "[public]\norigin = \"https://service.example\"\n[outbound.static]\n\"service.example\" = \"127.0.0.1:1\"";
    for rest in
        ["", "[public]\norigin = \"https://[::1]:8420\"", "[public]\norigin = \"http://plane.localhost\"", fixed]
    {
        let loaded = read(&format!("test_mode = true\n{rest}")).expect("closed to strangers");
        assert!(loaded.config.test_mode);
        assert_eq!(loaded.warnings[0].key, "test_mode");
    }
}

#[test]
fn postgres_without_a_url_is_refused() {
    let problem = the_problem(read("[store]\nkind = \"postgres\""));
    assert_eq!(problem.key, "store.url");
    assert!(problem.hint.contains("COUNTERSIGN_STORE__URL"));
}

#[test]
fn a_url_of_something_else_than_postgres_is_refused() {
    assert_eq!(
        the_problem(read("[store]\nkind = \"postgres\"\nurl = \"mysql://u:hunter2@db/x\"")).wrong,
        "must be postgres://user@host/database"
    );
}

#[test]
fn a_password_of_its_own_replaces_the_one_in_the_url() {
    for (url, expected) in [
        ("postgres://app:old@db/plane", "postgres://app:n%40w@db/plane"),
        ("postgres://app@db/plane?sslmode=require", "postgres://app:n%40w@db/plane?sslmode=require"),
        ("postgres:///plane?host=%2Frun", "postgres:///plane?host=%2Frun&password=n%40w"),
    ] {
        let text = format!("[store]\nkind = \"postgres\"\npassword = \"n@w\"\nurl = \"{url}\"");
        let Store::Postgres { url, .. } = read(&text).expect("sound").config.store else { panic!("not postgres") };
        assert_eq!(url.expose(), expected);
    }
}

#[test]
fn subdomains_need_many_projects_and_a_host_name() {
    assert_eq!(the_problem(read("[public]\nsubdomains = true")).wrong, "needs tenancy = \"multi\"");
    let numeric = "tenancy = \"multi\"\n[public]\nsubdomains = true\norigin = \"https://192.0.2.1\"";
    assert_eq!(the_problem(read(numeric)).wrong, "needs a host name in public.origin");
    assert!(read("tenancy = \"multi\"\n[public]\nsubdomains = true").expect("sound").config.public.subdomains);
}

///
#[test]
fn two_sources_of_the_key_in_one_place_are_refused_and_so_is_none() {
    let two = the_problem(read("[keys]\nfile = \"a\"\nenvironment = \"B\""));
    assert_eq!(two.wrong, "is not the only source of the key");
    assert_eq!(the_problem(read("[keys]\nfile = \"\"")).key, "keys.file");
}

///
#[test]
fn the_last_named_source_of_the_key_counts() {
    assert_eq!(read("[keys]\nenvironment = \"B\"").expect("sound").config.keys, KeySource::Environment("B".into()));
    let variables = environment(&[("COUNTERSIGN_KEYS__COMMAND", "pass,show")]);
    let said = "[keys]\nfile = \"countersign.key\"\n";
    let written = from_text(Some((Path::new("x.toml"), said)), &variables).expect("sound");
    assert_eq!(written.config.keys, KeySource::Command(vec!["pass".into(), "show".into()]));
}

#[test]
fn both_listeners_on_one_port_are_refused() {
    assert_eq!(the_problem(read("[listen]\noperations = \"127.0.0.1:8420\"")).key, "listen.operations");
    assert!(read("[listen]\noperations = \"127.0.0.1:0\"\npublic = \"127.0.0.1:0\"").is_ok());
}

#[test]
fn a_valid_but_unlikely_setting_is_warned_about() {
    let keys = |loaded: Loaded| loaded.warnings.into_iter().map(|warning| warning.key).collect::<Vec<_>>();
    let open = read_environment(&[("COUNTERSIGN_LISTEN__OPERATIONS", "0.0.0.0:1")]);
    assert_eq!(keys(open.expect("sound")), ["listen.operations"]);
    assert_eq!(keys(read("[listen]\npublic = \"0.0.0.0:8420\"").expect("sound")), ["public.origin"]);
    assert_eq!(keys(read("[store]\npool = 3").expect("sound")), ["store.pool"]);
    let all = read("[listen]\nmax_connections = 200");
    assert_eq!(keys(all.expect("sound")), ["listen.max_connections_per_address"]);
}
