//! Route matching: on the path as written, by one rule, never by two readings of a path.

use crate::held;
use countersign_core::project::{check, matching_route};
use countersign_protocol::project::{ProjectDocument, Route};
use proptest::{collection::vec, prelude::*};
use serde_json::json;

fn document_with(templates: &[String]) -> ProjectDocument {
    let route = |(n, path): (usize, &String)| json!({ "id": format!("r{n}"), "method": "GET", "path": path, "action": "accounts.read" });
    held::document(json!({ "routes": templates.iter().enumerate().map(route).collect::<Vec<_>>() }))
}

/// Few names, so that templates compete.
fn templates() -> impl Strategy<Value = Vec<String>> {
    let segment = prop_oneof![Just("a"), Just("b"), Just("{x}"), Just("{y}"), Just("")];
    vec(vec(segment, 1..4).prop_map(|segments| format!("/{}", segments.join("/"))), 1..6)
}

fn paths() -> impl Strategy<Value = String> {
    let segment = prop_oneof![
        6 => Just("a"), 6 => Just("b"), 3 => Just("c"), 1 => Just(""), 1 => Just(".."), 1 => Just("."), 1 => Just("%2e%2E"),
        1 => Just("a%2Fb"), 1 => Just("a;v=1"), 1 => Just("A"), 1 => Just("{x}"), 1 => Just("a%5cb"), 1 => Just("%00"),
        1 => Just("%C3%A4"), 1 => Just("%"), 1 => Just("a%4"), 1 => Just("%zz"), 1 => Just("ä"), 1 => Just("a b"),
        1 => Just("%0A"), 1 => Just("a\u{7f}"),
    ];
    vec(segment, 1..4).prop_map(|segments| format!("/{}", segments.join("/")))
}

/// A naive matcher, segment by segment: a placeholder takes any non-empty segment.
fn fits(template: &str, path: &str) -> bool {
    let (template, path): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
    let one =
        |(wanted, given): (&&str, &&str)| if wanted.starts_with('{') { !given.is_empty() } else { wanted == given };
    template.len() == path.len() && template.iter().zip(&path).all(one)
}

/// A naive check for paths that two servers could resolve differently.
fn is_dubious(path: &str) -> bool {
    let lower = path.to_lowercase();
    let encoded = ["%2f", "%2e", "%5c", "%0", "%1", "%7f"].iter().any(|mark| lower.contains(mark));
    let dots = path.split('/').any(|segment| segment == "." || segment == "..");
    let escape = |behind: &str| behind.get(..2).is_some_and(|hex| hex.chars().all(|c| c.is_ascii_hexdigit()));
    let odd = |c: char| matches!(c, '\\' | ';' | '?' | '#' | ' ') || c.is_control() || !c.is_ascii();
    encoded || dots || path.contains("//") || path.chars().any(odd) || !path.split('%').skip(1).all(escape)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    ///
    #[test]
    fn a_path_matches_literally_and_nothing_if_it_is_ambiguous(
        templates in templates(), path in paths(),
    ) {
        let document = document_with(&templates);
        let found = matching_route(&document, "GET", &path);
        let wanted = !is_dubious(&path) && templates.iter().any(|template| fits(template, &path));
        prop_assert_eq!(found.is_some(), wanted, "{:?} {}", templates, path);
        if let Some(route) = found {
            prop_assert!(fits(&route.path, &path));
        }
        prop_assert!(matching_route(&document, "POST", &path).is_none());
        prop_assert!(matching_route(&document, "get", &path).is_none());
    }

    #[test]
    fn the_order_in_which_routes_are_written_decides_nothing(
        (templates, shuffled) in templates().prop_flat_map(|t| (Just(t.clone()), Just(t).prop_shuffle())), path in paths(),
    ) {
        let (document, other) = (document_with(&templates), document_with(&shuffled));
        // Two routes of the same shape compete; a document with both is refused.
        if check(&document).is_empty() {
            let path_of = |document| matching_route(document, "GET", &path).map(|route: &Route| route.path.clone());
            prop_assert_eq!(path_of(&document), path_of(&other));
        }
    }

    /// A hostile path of any bytes that a request can carry matches only literally.
    #[test]
    fn the_match_is_literal_for_any_input(path in "/[a-zA-Z0-9%./;?#\\\\{}~_ ü\x7f\n-]{0,24}") {
        let document = document_with(&["/a".into(), "/a/{x}".into(), "/b/{x}/c".into()]);
        if let Some(route) = matching_route(&document, "GET", &path) {
            prop_assert!(fits(&route.path, &path) && !is_dubious(&path));
        }
    }
}

#[test]
fn a_literal_segment_wins_over_a_named_one_from_the_left() {
    let document = document_with(&["/{x}/b".into(), "/a/{y}".into(), "/{x}/{y}".into(), "/a/b".into()]);
    for (path, wanted) in [("/a/b", "/a/b"), ("/a/c", "/a/{y}"), ("/c/b", "/{x}/b"), ("/c/c", "/{x}/{y}")] {
        assert_eq!(matching_route(&document, "GET", path).unwrap().path, wanted);
    }
    let document = document_with(&["/{x}/b".into(), "/a/{y}".into()]);
    assert_eq!(matching_route(&document, "GET", "/a/b").unwrap().path, "/a/{y}");
}

///
#[test]
fn path_tricks_match_nothing_even_where_a_name_takes_any_segment() {
    let document = document_with(&["/a/{x}".into(), "/a/{x}/{y}".into(), "/a//b".into(), "/a/".into()]);
    for path in [
        "/a/..",
        "/a/.",
        "/a/b/..",
        "/a//b",
        "//a/b",
        "/a/b/",
        "/a/%2e%2e",
        "/a/.%2E",
        "/a/b%2fc",
        "/a/b%5Cc",
        "/a/b\\c",
        "/a/b;c",
        "/a/%",
        "/a/%4",
        "/a/%4g",
        "/a/%00",
        "/a/%0a",
        "/a/%7F",
        "/a/b c",
        "/a/b\u{0}",
        "/a/b\n",
        "/a/ü",
        "/a/b?c",
        "/a/b#c",
        "/A/b",
        "a/b",
        "",
        "/a/b\u{7f}",
    ] {
        assert!(matching_route(&document, "GET", path).is_none(), "{path:?}");
    }
    for path in ["/a/b", "/a/...", "/a/%C3%BC", "/a/%25", "/a/B~_-", "/a/b/c", "/a/"] {
        assert!(matching_route(&document, "GET", path).is_some(), "{path:?}");
    }
}
