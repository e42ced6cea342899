//! Operator text stays text, in its place, and within its length limit.

use super::samples::{connect, connection, domain};
use crate::pages::{AgentsPage, ConnectPage, Frame, Language, Liability, OperatorLabel, Page, PlainLine, Prose};

fn named(name: &str) -> ConnectPage {
    ConnectPage { operator: OperatorLabel::new(domain("evil.test"), name), ..connect(Language::English) }
}

#[test]
fn a_name_with_markup_is_shown_as_the_text_it_is() {
    let html = named("<script>alert(1)</script>\"'><img src=x onerror=y>").html();
    assert!(!html.contains("<script>alert") && !html.contains("<img"));
    assert!(html.contains("&#60;script&#62;alert(1)"));
}

///
#[test]
fn a_name_cannot_turn_the_text_round_or_hide_in_it() {
    let controls = ['\u{202E}', '\u{202D}', '\u{2066}', '\u{2069}', '\u{200F}', '\u{200B}', '\u{FEFF}', '\u{E0041}'];
    let name: String = controls.iter().flat_map(|c| ['a', *c]).collect();
    let shown = PlainLine::cut(&name, 200);
    assert!(
        shown.as_str().starts_with("a[U+202E]a[U+202D]a[U+2066]") && shown.as_str().ends_with("a[U+E0041]"),
        "{shown}"
    );
    let html = named("moc.\u{202E}live").html();
    assert!(!html.contains('\u{202E}') && html.contains("<bdi translate=\"no\">moc.[U+202E]live</bdi>"));
}

#[test]
fn a_long_name_is_cut_and_a_long_domain_is_not() {
    let html = named(&"x".repeat(500)).html();
    assert!(!html.contains(&"x".repeat(61)) && html.contains('…'));
    let long = format!("{}.{}.{}.example", "a".repeat(63), "b".repeat(63), "c".repeat(63));
    let page = ConnectPage { operator: OperatorLabel::new(domain(&long), ""), ..connect(Language::English) };
    assert!(page.html().replace("<wbr>", "").contains(&long));
}

#[test]
fn a_name_of_blanks_and_line_breaks_becomes_one_line_and_hides_nothing() {
    assert_eq!(PlainLine::from(" \n\t Acme\r\nBot \u{0} ").as_str(), "Acme Bot ␀");
    assert!(PlainLine::from(" \n\t").is_empty() && !named(" ").html().contains("calls itself"));
    assert_eq!(PlainLine::from("\u{3164}\u{2800}").as_str(), "[U+3164][U+2800]");
}

#[test]
fn an_operators_disclosure_keeps_its_paragraphs_and_nothing_that_acts() {
    let text = Prose::new("First.\r\n\r\n<b>Second</b>\u{202E}\u{0007}.");
    assert_eq!(text.paragraphs().collect::<Vec<_>>(), ["First.", "<b>Second</b>[U+202E]␇."]);
    let html = ConnectPage { liability: Liability::Operator(text), ..connect(Language::English) }.html();
    assert!(!html.contains("<b>") && html.contains("&#60;b&#62;Second&#60;/b&#62;[U+202E]␇."));
}

#[test]
fn names_of_people_and_services_are_text_too() {
    let frame = Frame::new(Language::German, "<i>Dienst</i>", Some("\u{202E}<u>Eve</u>"));
    let html = AgentsPage { frame: frame.clone(), connections: vec![connection()], notice: None }.html();
    assert!(!html.contains("<i>") && !html.contains("<u>"));
    assert!(!ConnectPage { frame, ..connect(Language::German) }.html().contains("<u>"));
}
