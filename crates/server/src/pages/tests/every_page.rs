//! Properties of every page in every language and state.

use super::samples::{agent, all};
use crate::pages::{Language, Page, assets};
use std::collections::BTreeSet;

fn each(check: impl Fn(&str, &str)) {
    for language in Language::ALL {
        for (name, html) in all(language) {
            check(&format!("{name} ({})", language.tag()), &html);
        }
    }
}

#[test]
fn there_is_no_inline_script_or_style_and_nothing_from_elsewhere() {
    each(|name, html| {
        assert_eq!(html.matches("<script").count(), 1, "{name}");
        assert!(html.contains("<script defer src=\"/assets/"), "{name}");
        for banned in ["<style", " style=", " onclick=", " onload=", "javascript:", "http://", "https://", "//cdn"] {
            assert!(!html.contains(banned), "{name} has {banned}");
        }
    });
}

#[test]
fn it_has_its_language_one_heading_and_a_meaningful_title() {
    for language in Language::ALL {
        let pages = all(language);
        for (name, html) in &pages {
            assert!(html.starts_with("<!doctype html>"), "{name}");
            assert!(html.contains(&format!("<html lang=\"{}\">", language.tag())), "{name}");
            assert_eq!(html.matches("<h1").count(), 1, "{name}");
            assert!(html.contains("<a class=\"skip\" href=\"#main\">") && html.contains("<main id=\"main\""), "{name}");
        }
        let titles: BTreeSet<&str> = pages.iter().map(|(_, html)| title(html)).collect();
        assert!(titles.len() >= 24, "pages in different states have different titles");
    }
}

#[test]
fn a_page_with_a_problem_says_so_first_and_takes_the_focus_there() {
    each(|name, html| {
        if html.contains("id=\"problem\"") {
            assert!(title(html).starts_with("Error: ") || title(html).starts_with("Fehler: "), "{name}");
            assert!(html.contains("role=\"alert\" tabindex=\"-1\" autofocus"), "{name}");
            assert!(html.find("id=\"problem\"") < html.find("<h1"), "{name}");
        }
        assert!(html.matches(" autofocus").count() <= 1, "{name}");
    });
}

#[test]
fn every_field_has_a_label_and_every_button_a_name() {
    each(|name, html| {
        for input in tags(html, "<input").into_iter().filter(|t| !t.contains("type=\"hidden\"")) {
            let id = attribute(input, "id").unwrap();
            assert!(html.contains(&format!("<label for=\"{id}\">")), "{name}: {input}");
        }
        for button in html.split("<button").skip(1) {
            let text = button.split_once('>').unwrap().1.split("</button>").next().unwrap();
            assert!(!text.trim().is_empty(), "{name}: {button}");
        }
    });
}

#[test]
fn ids_are_unique_and_everything_that_is_pointed_at_exists() {
    each(|name, html| {
        let ids: Vec<&str> = tags(html, "<").into_iter().filter_map(|t| attribute(t, "id")).collect();
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), unique.len(), "{name}");
        for tag in tags(html, "<") {
            for pointer in ["aria-labelledby", "aria-describedby", "for", "data-copy"] {
                let target = attribute(tag, pointer).filter(|t| !t.is_empty());
                assert!(target.is_none_or(|t| unique.contains(t)), "{name}: {tag}");
            }
            let anchor = attribute(tag, "href").and_then(|h| h.strip_prefix('#'));
            assert!(anchor.is_none_or(|t| unique.contains(t)), "{name}: {tag}");
        }
    });
}

#[test]
fn tags_are_closed_in_the_order_they_were_opened() {
    const VOID: [&str; 7] = ["input", "meta", "link", "wbr", "!doctype", "circle", "path"];
    each(|name, html| {
        let mut open = Vec::new();
        for tag in tags(html, "<") {
            let word = tag.trim_start_matches(['<', '/']).split([' ', '>', '\n']).next().unwrap();
            match tag.strip_prefix("</") {
                Some(_) => assert_eq!(open.pop(), Some(word), "{name}"),
                None if !VOID.contains(&word) => open.push(word),
                None => {}
            }
        }
        assert!(open.is_empty(), "{name}: {open:?}");
    });
}

/// Every change is a POST with a CSRF token; a link or a form by GET only reads (C-98).
#[test]
fn every_form_is_posted_with_a_token_or_only_reads() {
    each(|name, html| {
        for form in html.split("<form").skip(1) {
            let (head, form) = (form.split('>').next().unwrap(), form.split("</form>").next().unwrap());
            let has_token = form.contains("name=\"csrf\"");
            if head.contains("method=\"get\"") {
                assert!(!has_token && !form.contains("name=\"answer\""), "{name}");
            } else {
                assert!(head.contains("method=\"post\"") && form.contains("name=\"csrf\" value=\"token\""), "{name}");
            }
        }
    });
}

#[test]
fn every_moment_is_machine_readable_and_says_utc() {
    each(|name, html| {
        for time in html.split("<time ").skip(1) {
            assert!(time.starts_with("datetime=\"202") && time.split('"').nth(1).unwrap().ends_with('Z'), "{name}");
            let (tag, text) = time.split_once("</time>").unwrap().0.split_once('>').unwrap();
            // The caption of the table names the zone of its short times.
            let named = text.ends_with("UTC") || (tag.ends_with("data-short") && html.contains("data-zone>UTC<"));
            assert!(named, "{name}: {time}");
        }
    });
    let (english, german) = (all(Language::English), all(Language::German));
    let text = |pages: &[(&str, String)]| strip_isolates(&pages.iter().find(|(n, _)| *n == "connected").unwrap().1);
    assert!(text(&english).contains("15 November 2026, 20:37\u{a0}UTC"));
    assert!(text(&german).contains("15. November 2026, 20:37\u{a0}UTC"));
}

#[test]
fn the_files_a_page_loads_are_served_and_named_by_their_content() {
    let served: BTreeSet<&str> = assets().iter().map(|a| a.path.as_str()).collect();
    each(|name, html| {
        let loaded: Vec<&str> = html.split("\"/assets/").skip(1).map(|r| r.split('"').next().unwrap()).collect();
        assert_eq!(loaded.len(), 3, "{name}");
        assert!(loaded.iter().all(|l| served.contains(format!("/assets/{l}").as_str())), "{name}");
    });
    let style = std::str::from_utf8(assets()[0].bytes).unwrap();
    for need in ["prefers-color-scheme: dark", "prefers-reduced-motion", "forced-colors", ":focus-visible"] {
        assert!(style.contains(need), "{need}");
    }
}

#[test]
fn a_cursor_is_encoded_into_the_link_to_the_next_entries() {
    let html = agent(Language::English).html();
    assert!(html.contains("href=\"/agents/del_7c1f0a9be24d4f6d8a53b2e10c94f7aa?cursor=eyJz%2B%2F%3D\""));
}

fn title(html: &str) -> &str {
    html.split_once("<title>").unwrap().1.split_once("</title>").unwrap().0
}

/// Every tag with this beginning, up to its `>`. Attribute values hold none: the templates escape it.
fn tags<'a>(html: &'a str, begins: &str) -> Vec<&'a str> {
    html.match_indices(begins).map(|(at, _)| html[at..].split_inclusive('>').next().unwrap()).collect()
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    tag.split_once(&format!(" {name}=\"")).map(|(_, rest)| rest.split('"').next().unwrap())
}

fn strip_isolates(text: &str) -> String {
    text.replace(['\u{2068}', '\u{2069}'], "")
}
