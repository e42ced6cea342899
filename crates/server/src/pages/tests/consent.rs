//! The content of the consent screen, and that its digest covers every bit of it.

use super::samples::{connect, domain, scopes, suspicious_connect};
use crate::pages::*;
use std::collections::BTreeSet;

/// AAP-13.2-01
#[test]
fn the_verified_domain_is_in_the_heading_and_in_the_title() {
    let html = connect(Language::English).html();
    let heading = between(&html, "<h1>", "</h1>").replace("<wbr>", "");
    assert!(heading.contains(">agents.northwind.example</bdi>"));
    assert!(!heading.contains("Northwind Assistant"), "a name is decoration, never identity");
    assert!(between(&html, "<title>", "</title>").contains("agents.northwind.example"));
}

#[test]
fn a_domain_in_another_alphabet_is_shown_in_both_forms() {
    let html = suspicious_connect(Language::English).html().replace("<wbr>", "");
    assert!(html.contains(">xn--cme-5cd.com</bdi>") && html.contains(">аcme.com</bdi>"));
    assert!(html.contains("Look closely at this domain"));
    assert!(!connect(Language::English).html().contains("Look closely"));
}

/// AAP-14.4-02
#[test]
fn the_liability_disclosure_stands_in_full_before_the_buttons() {
    let words = "word ".repeat(149) + "last";
    let page = ConnectPage { liability: Liability::Operator(words.as_str().into()), ..connect(Language::English) };
    let html = page.html();
    let (text, button) = (html.find(&words).unwrap(), html.find("value=\"approve\"").unwrap());
    assert!(text < button);
    let before = &html[..text];
    assert_eq!(before.matches("<details").count(), before.matches("</details>").count(), "nothing hides it");
    assert!(!html[text..button].contains("<details"));
}

#[test]
fn the_operators_own_disclosure_is_marked_as_its_words_and_the_services_as_its() {
    let own = ConnectPage { liability: Liability::Operator("Ours.".into()), ..connect(Language::English) };
    assert!(own.html().contains("Ours.") && own.html().contains("In the words of \u{2068}agents.northwind.example"));
    assert!(connect(Language::English).html().contains("In the words of \u{2068}Meridian Calendar"));
}

#[test]
fn approving_needs_the_acknowledgement_and_rejecting_does_not() {
    let html = connect(Language::English).html();
    let tick = between(&html, "<input type=\"checkbox\" id=\"acknowledged\"", ">");
    assert!(
        tick.contains("name=\"acknowledged_disclosure\"") && tick.contains(" required") && !tick.contains("checked")
    );
    let deny = html.find("value=\"deny\" formnovalidate").unwrap();
    let approve = html.find("value=\"approve\">").unwrap();
    assert!(deny < approve, "the first button is the one that the Enter key presses");
    assert_eq!(html.matches("class=\"button answer-button\"").count(), 2, "both buttons look the same");
}

#[test]
fn the_form_carries_the_digest_of_the_shown_text() {
    let page = connect(Language::German);
    let field = format!("name=\"shown\" value=\"{}\"", page.shown().digest.hex());
    assert!(page.html().contains(&field));
    assert!(page.html().contains("action=\"/connect/req_5f0c2f9d8e7b41a6b3c2d1e0f9a8b7c6\""));
}

#[test]
fn the_agents_permissions_and_prohibitions_are_shown_in_words() {
    let html = connect(Language::English).html();
    for words in ["Create and change events", "events.delete", "Cannot be undone", "90\u{2069} days"] {
        assert!(html.contains(words), "{words}");
    }
}

#[test]
fn every_consent_relevant_change_changes_the_digest() {
    let page = connect(Language::English);
    let digests: BTreeSet<_> = changed(&page).iter().map(|p| p.shown().digest).collect();
    assert_eq!(digests.len(), changed(&page).len(), "two changes cannot be told apart");
    assert!(!digests.contains(&page.shown().digest));
}

#[test]
fn members_outside_the_agreement_do_not_change_the_digest() {
    let page = connect(Language::English);
    let later = ConnectPage {
        csrf: "another".into(),
        disclosure_id: "dis_2".into(),
        answer_by: page.answer_by.plus_secs(60),
        error: Some(ConnectError::NotAcknowledged),
        ..page.clone()
    };
    assert_eq!(later.shown(), page.shown());
}

#[test]
fn the_kept_text_says_everything_that_was_shown() {
    let page = suspicious_connect(Language::English);
    let html = page.html().replace("<wbr>", "");
    let text: serde_json::Value = serde_json::from_str(&page.shown_text()).unwrap();
    for member in
        ["service", "operator", "operator_unicode", "calls_itself", "mode", "lasts", "lasts_by", "ends", "then"]
    {
        assert!(html.contains(text[member].as_str().unwrap()), "{member}");
    }
    assert_eq!(text["scopes"].as_array().unwrap().len(), page.scopes.len());
    assert_eq!(text["warnings"].as_array().unwrap().len(), 3);
}

/// Copies of the page, each with one consent-relevant change.
fn changed(page: &ConnectPage) -> Vec<ConnectPage> {
    let with = |change: fn(&mut ConnectPage)| {
        let mut page = page.clone();
        change(&mut page);
        page
    };
    vec![
        with(|p| p.frame = Frame::new(Language::German, "Meridian Calendar", Some("Alice Okafor"))),
        with(|p| p.frame = Frame::new(Language::English, "Meridian Mail", Some("Alice Okafor"))),
        with(|p| p.frame = Frame::new(Language::English, "Meridian Calendar", Some("Bob"))),
        with(|p| p.operator.domain = domain("agents.northwind.test")),
        with(|p| p.operator.name = "Another".into()),
        with(|p| p.warnings = vec![Warning::Embeds { trusted: domain("acme.com") }]),
        with(|p| p.scopes = scopes()[..2].to_vec()),
        with(|p| p.scopes[0].id = "calendar.peek".into()),
        with(|p| p.scopes[0].description = Some("See everything".into())),
        with(|p| p.scopes[1].allows = vec!["events.create".into()]),
        with(|p| p.scopes[1].never = Vec::new()),
        with(|p| p.scopes[1].undo_window_s = 31),
        with(|p| p.scopes[2].irreversible = false),
        with(|p| p.scopes[2].requires_confirmation = false),
        with(|p| p.mode_disclosure = "Own words.".into()),
        with(|p| p.liability = Liability::Operator("Own words.".into())),
        with(|p| p.liability = Liability::Service("Own words.".into())),
        with(|p| p.lasts_s = 91 * 86_400),
        with(|p| p.ends.policy.on_task_completion = false),
        with(|p| p.ends.policy.inactivity_timeout = Some(3600)),
        with(|p| p.ends.sources.expires_at.clear()),
        with(|p| p.callback_host = None),
        with(|p| p.callback_host = Some("northwind.example".into())),
    ]
}

fn between<'a>(html: &'a str, from: &str, to: &str) -> &'a str {
    html.split_once(from).unwrap().1.split_once(to).unwrap().0
}
