use super::{super::*, environment, read, read_environment};
use std::path::Path;

const SECRETIVE: &str = "[store]\nkind = \"postgres\"\nurl = \"postgres://app:hunter2@db/plane?sslpassword=hunter3\"\npassword = \"hunter4\"";

#[test]
fn secrets_are_neither_explained_nor_printed_for_debugging() {
    let variables = environment(&[("COUNTERSIGN_STORE__PASSWORD", "hunter5")]);
    let loaded = from_text(Some((Path::new("x.toml"), SECRETIVE)), &variables).expect("sound");
    let all =
        [explain(&loaded), explain_as_sentences(&loaded), explain_json(&loaded).to_string(), format!("{loaded:#?}")];
    for shown in all {
        assert!(!shown.contains("hunter"), "{shown}");
        assert!(shown.contains("***"), "{shown}");
    }
}

#[test]
fn a_secret_that_is_refused_is_not_repeated() {
    let bad_url = read("[store]\nkind = \"postgres\"\nurl = \"app:hunter2@db\"").expect_err("not a URL");
    let bad_type = read("[store]\npassword = [\"hunter2\"]").expect_err("not text");
    for errors in [bad_url, bad_type] {
        assert!(!format!("{errors} {errors:?} {}", problems_json(&errors)).contains("hunter"));
    }
}

#[test]
fn the_explanation_lists_every_key_with_its_value_and_its_source() {
    let variables = environment(&[("COUNTERSIGN_LOG__LEVEL", "debug")]);
    let loaded = from_text(Some((Path::new("x.toml"), "\n[log]\nformat = \"json\"")), &variables).expect("sound");
    let text = explain(&loaded);
    assert!(text.starts_with("x.toml is valid\n\n  tenancy "), "{text}");
    let words = |key: &str| {
        text.lines().find(|l| l.trim_start().starts_with(key)).expect("listed").split_whitespace().collect::<Vec<_>>()
    };
    assert_eq!(words("log.format"), ["log.format", "\"json\"", "line", "3"]);
    assert_eq!(words("log.level"), ["log.level", "\"debug\"", "COUNTERSIGN_LOG__LEVEL"]);
    assert_eq!(words("store.readers"), ["store.readers", "4", "default"]);
    assert!(explain_as_sentences(&loaded).contains("\nlog.format is \"json\", set on line 3.\n"));
}

#[test]
fn programs_get_the_same_as_people() {
    let loaded = read_environment(&[("COUNTERSIGN_LISTEN__OPERATIONS", "0.0.0.0:1")]).expect("sound");
    let json = explain_json(&loaded);
    assert_eq!(json["sound"], true);
    assert_eq!(json["settings"][1]["value"], false);
    assert_eq!(json["settings"][3]["key"], "listen.operations");
    assert_eq!(json["settings"][3]["from"]["variable"], "COUNTERSIGN_LISTEN__OPERATIONS");
    assert_eq!(json["warnings"][0]["key"], "listen.operations");
    let problems = problems_json(&read("a = 1").expect_err("unknown"));
    assert_eq!((&problems["sound"], &problems["problems"][0]["from"]["line"]), (&false.into(), &1.into()));
}
