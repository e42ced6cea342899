//! Both languages have the same messages, and every page uses only existing ones.

use crate::pages::{Language, catalogue};
use fluent_bundle::FluentResource;
use std::{collections::BTreeSet, fs, path::Path};

#[test]
fn both_languages_are_well_formed() {
    for source in [catalogue::ENGLISH, catalogue::GERMAN] {
        assert!(FluentResource::try_new(source.to_owned()).is_ok());
    }
}

#[test]
fn both_languages_have_the_same_messages_in_the_same_order() {
    assert_eq!(ids(catalogue::ENGLISH), ids(catalogue::GERMAN));
    let unique: BTreeSet<_> = ids(catalogue::ENGLISH).into_iter().collect();
    assert_eq!(unique.len(), ids(catalogue::ENGLISH).len(), "an id occurs twice");
}

#[test]
fn both_languages_use_the_same_arguments_in_each_message() {
    for ((id, english), (_, german)) in messages(catalogue::ENGLISH).into_iter().zip(messages(catalogue::GERMAN)) {
        assert_eq!(arguments(&english), arguments(&german), "{id}");
    }
}

#[test]
fn every_message_that_a_page_names_exists_and_every_message_is_named() {
    let used = named_in_sources();
    let known: BTreeSet<String> = ids(catalogue::ENGLISH).into_iter().collect();
    let composed = |id: &String| {
        ["connect-denied-", "connect-expired-", "connect-answered-", "connect-gone-", "trouble-"]
            .iter()
            .any(|p| id.starts_with(p))
    };
    let unused: Vec<_> = known.iter().filter(|id| !used.contains(*id) && !composed(id)).collect();
    assert!(unused.is_empty(), "no page says {unused:?}");
    let missing: Vec<_> = used.iter().filter(|id| !known.contains(*id)).collect();
    assert!(missing.is_empty(), "no language has {missing:?}");
}

#[test]
fn messages_that_are_composed_exist() {
    let ends = ["connect-denied", "connect-expired", "connect-answered", "connect-gone"];
    let troubles = ["bad-request", "not-allowed", "form-expired", "not-found", "wrong-method", "too-many", "internal"];
    let troubles = troubles.iter().chain(&["unavailable"]).map(|t| format!("trouble-{t}"));
    let known = ids(catalogue::ENGLISH);
    for stem in ends.iter().map(|e| (*e).to_owned()).chain(troubles) {
        for part in ["title", "what", "next"] {
            assert!(known.contains(&format!("{stem}-{part}")), "{stem}-{part}");
        }
    }
}

#[test]
fn arguments_are_isolated_from_the_sentence_round_them() {
    let said = catalogue::say(Language::English, "revoke-title", &[("domain", "acme.example".into())]);
    assert_eq!(said, "Revoke access: \u{2068}acme.example\u{2069}?");
}

/// Pairs of id and body.
fn messages(source: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in source.lines().filter(|l| !l.starts_with('#')) {
        match line.split_once(" = ") {
            Some((id, body)) if !line.starts_with(' ') => found.push((id.to_owned(), body.to_owned())),
            _ => found.iter_mut().last().into_iter().for_each(|(_, body)| body.push_str(line)),
        }
    }
    found
}

fn ids(source: &str) -> Vec<String> {
    messages(source).into_iter().map(|(id, _)| id).collect()
}

fn arguments(body: &str) -> BTreeSet<String> {
    let rest = body.split('$').skip(1);
    rest.map(|r| r.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()).collect()
}

/// String literals that look like a message id, outside tests.
fn named_in_sources() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut named = BTreeSet::new();
    for template in fs::read_dir(root.join("templates")).unwrap() {
        let text = fs::read_to_string(template.unwrap().path()).unwrap();
        for call in text.split("frame.say").skip(1) {
            named.extend(call.split('"').nth(1).map(str::to_owned));
        }
    }
    let prefixes: BTreeSet<String> =
        ids(catalogue::ENGLISH).iter().filter_map(|id| Some(id.split_once('-')?.0.to_owned())).collect();
    for (_, text) in SOURCES {
        for literal in text.split('"').skip(1).step_by(2) {
            let is_id = literal.split_once('-').is_some_and(|(head, _)| prefixes.contains(head))
                && literal.chars().all(|c| c.is_ascii_lowercase() || c == '-')
                && !literal.ends_with('-');
            named.extend((is_id || literal == "moment" || literal == "footer").then(|| literal.to_owned()));
        }
    }
    named
}

const SOURCES: &[(&str, &str)] = &[
    ("account", include_str!("../account.rs")),
    ("agents", include_str!("../agents.rs")),
    ("allowances", include_str!("../allowances.rs")),
    ("question_summary", include_str!("../question_summary.rs")),
    ("audit", include_str!("../audit.rs")),
    ("bounds", include_str!("../bounds.rs")),
    ("connect_ends", include_str!("../connect_ends.rs")),
    ("outcome", include_str!("../outcome.rs")),
    ("call", include_str!("../call.rs")),
    ("clarification", include_str!("../clarification.rs")),
    ("connect", include_str!("../connect.rs")),
    ("connect_ended", include_str!("../connect_ended.rs")),
    ("error", include_str!("../error.rs")),
    ("frame", include_str!("../frame.rs")),
    ("inbox", include_str!("../inbox.rs")),
    ("lookalike", include_str!("../lookalike.rs")),
    ("plan", include_str!("../plan.rs")),
    ("plan_steps", include_str!("../plan_steps.rs")),
    ("question", include_str!("../question.rs")),
    ("scope", include_str!("../scope.rs")),
    ("service_account", include_str!("../service_account.rs")),
    ("sign_in", include_str!("../sign_in.rs")),
    ("subscribers", include_str!("../subscribers.rs")),
];
